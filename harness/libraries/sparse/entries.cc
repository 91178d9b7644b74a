#include "libraries/sparse/entries.h"

#include <string>

namespace lockstep::libraries::sparse {

bool IndexIsOutside(const char* function, Memory& memory, const char* what, int64_t at, int64_t index, int64_t size) {
  lockstep_say(function, (std::string("entry ") + std::to_string(at) + " of " + what + " is " + std::to_string(index) +
                          ", outside of 0 to " + std::to_string(size - 1))
                             .c_str());
  return LeadsNowhere(memory, "memory at an index outside of the matrix");
}

bool ReadEntries(const char* function, Memory& memory, const cusparseSpMatDescr& matrix, int batch, Entries* entries) {
  entries->row.clear();
  entries->column.clear();
  entries->first = 0;
  const int64_t base = matrix.base;
  const void* const first = Offset(matrix.first, batch * matrix.first_stride, Bytes(matrix.first_index));
  const void* const second = Offset(matrix.second, batch * matrix.second_stride, Bytes(matrix.second_index));
  // Appends the indices of an array, each checked.
  const auto append = [&](const void* array, cusparseIndexType_t type, const char* name, int64_t from, int64_t count,
                          int64_t size, std::vector<int64_t>* to) {
    if (!memory.Touch(Indices(Access::kRead, name, Offset(array, from, Bytes(type)), type, count))) return false;
    to->reserve(static_cast<size_t>(count));
    for (int64_t i = from; i < from + count; ++i) {
      const int64_t index = LoadIndex(type, array, i) - base;
      if (index < 0 || index >= size) return IndexIsOutside(function, memory, name, i, index, size);
      to->push_back(index);
    }
    return true;
  };
  if (matrix.format == CUSPARSE_FORMAT_COO) {
    return append(first, matrix.first_index, "the row indices", 0, matrix.count, matrix.rows, &entries->row) &&
           append(second, matrix.second_index, "the column indices", 0, matrix.count, matrix.columns, &entries->column);
  }
  const bool by_rows = matrix.format == CUSPARSE_FORMAT_CSR;
  const int64_t outer = by_rows ? matrix.rows : matrix.columns, inner = by_rows ? matrix.columns : matrix.rows;
  if (outer == 0) return true;
  if (!memory.Touch(Indices(Access::kRead, "the offsets", first, matrix.first_index, outer + 1))) return false;
  std::vector<int64_t>& lines = by_rows ? entries->row : entries->column;
  std::vector<int64_t>& places = by_rows ? entries->column : entries->row;
  int64_t before = LoadIndex(matrix.first_index, first, 0) - base;
  if (before < 0 || before > matrix.count) {
    return IndexIsOutside(function, memory, "the offsets", 0, before, matrix.count + 1);
  }
  entries->first = before;
  for (int64_t i = 0; i < outer; ++i) {
    const int64_t after = LoadIndex(matrix.first_index, first, i + 1) - base;
    if (after < before || after > matrix.count) {
      return IndexIsOutside(function, memory, "the offsets", i + 1, after, matrix.count + 1);
    }
    lines.insert(lines.end(), static_cast<size_t>(after - before), i);
    before = after;
  }
  return append(second, matrix.second_index, by_rows ? "the column indices" : "the row indices", entries->first,
                before - entries->first, inner, &places);
}

bool ReadEntries(const char* function, Memory& memory, const cusparseSpVecDescr& vector, Entries* entries) {
  *entries = Entries();
  if (!memory.Touch(
          Indices(Access::kRead, "the indices of the sparse vector", vector.indices, vector.index, vector.count))) {
    return false;
  }
  for (int64_t i = 0; i < vector.count; ++i) {
    const int64_t index = LoadIndex(vector.index, vector.indices, i) - vector.base;
    if (index < 0 || index >= vector.size) {
      return IndexIsOutside(function, memory, "the indices of the sparse vector", i, index, vector.size);
    }
    entries->row.push_back(index);
    entries->column.push_back(0);
  }
  return true;
}

namespace {

// touch(first, count) for each run of marks.
template <typename Touch>
bool EachRun(const std::vector<bool>& used, Touch touch) {
  for (size_t i = 0; i < used.size();) {
    if (!used[i]) {
      ++i;
      continue;
    }
    const size_t first = i;
    while (i < used.size() && used[i]) ++i;
    if (!touch(static_cast<int64_t>(first), static_cast<int64_t>(i - first))) return false;
  }
  return true;
}

}  // namespace

bool TouchUsed(Memory& memory, Access access, const char* what, const void* array, cudaDataType type,
               const std::vector<bool>& used) {
  return EachRun(used, [&](int64_t first, int64_t count) {
    return memory.Touch(Values(access, what, Offset(array, first, Bytes(type)), type, count));
  });
}

Range Block(Access access, const char* what, const cusparseDnMatDescr& matrix, int batch, int64_t row, int64_t rows,
            int64_t column, int64_t columns) {
  const uint32_t bytes = Bytes(matrix.type);
  const void* const at = Offset(matrix.values, Place(matrix, batch, row, column), bytes);
  return matrix.order == CUSPARSE_ORDER_COL ? Matrix(access, what, at, bytes, rows, columns, matrix.leading)
                                            : Matrix(access, what, at, bytes, columns, rows, matrix.leading);
}

bool TouchLines(Memory& memory, Access access, const char* what, const cusparseDnMatDescr& matrix, int batch,
                const std::vector<bool>& used, bool are_rows) {
  return EachRun(used, [&](int64_t first, int64_t count) {
    return memory.Touch(are_rows ? Block(access, what, matrix, batch, first, count, 0, matrix.columns)
                                 : Block(access, what, matrix, batch, 0, matrix.rows, first, count));
  });
}

}  // namespace lockstep::libraries::sparse
