// The entries of a sparse matrix in any format, read when the work is done, with their indices checked. An index
// outside the matrix is a fault, whatever memory it would access.
#pragma once

#include "libraries/sparse/elements.h"

namespace lockstep::libraries::sparse {

struct Entries {
  std::vector<int64_t> row, column;  // from 0, in the order in which they are stored
  int64_t first = 0;                 // index of the first one in the array of values
  int64_t count() const { return static_cast<int64_t>(row.size()); }
};

// False: a fault; no memory may be accessed.
bool ReadEntries(const char* function, Memory& memory, const cusparseSpMatDescr& matrix, int batch, Entries* entries);
// The same for a sparse vector: row is its index, column 0.
bool ReadEntries(const char* function, Memory& memory, const cusparseSpVecDescr& vector, Entries* entries);

// Raises a fault: index `at` of the array is invalid.
bool IndexIsOutside(const char* function, Memory& memory, const char* what, int64_t at, int64_t index, int64_t size);

// The array of a batch's values, from the first entry on.
inline void* ValuesOf(const cusparseSpMatDescr& matrix, int batch, const Entries& entries) {
  return Offset(matrix.values, batch * matrix.second_stride + entries.first, Bytes(matrix.type));
}

// Declares accesses to a vector's elements at these indices.
bool TouchUsed(Memory& memory, Access access, const char* what, const void* array, cudaDataType type,
               const std::vector<bool>& used);
// The same for a dense matrix's rows or columns.
bool TouchLines(Memory& memory, Access access, const char* what, const cusparseDnMatDescr& matrix, int batch,
                const std::vector<bool>& used, bool are_rows);
Range Block(Access access, const char* what, const cusparseDnMatDescr& matrix, int batch, int64_t row, int64_t rows,
            int64_t column, int64_t columns);

inline int64_t Place(const cusparseDnMatDescr& matrix, int batch, int64_t row, int64_t column) {
  return batch * matrix.stride +
         (matrix.order == CUSPARSE_ORDER_COL ? row + column * matrix.leading : column + row * matrix.leading);
}

inline std::vector<bool> Marks(const std::vector<int64_t>& indices, int64_t size) {
  std::vector<bool> used(static_cast<size_t>(size));
  for (const int64_t index : indices) used[static_cast<size_t>(index)] = true;
  return used;
}

}  // namespace lockstep::libraries::sparse
