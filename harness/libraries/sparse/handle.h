// The contents of a cusparseHandle_t and descriptors, and the start of every cuSPARSE function.
#pragma once

// The library exports only these functions; everything else in it is hidden.
#define DISABLE_CUSPARSE_DEPRECATED
#pragma GCC visibility push(default)
#include <cusparse.h>
#pragma GCC visibility pop

#include "libraries/function.h"

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t pointers = CUSPARSE_POINTER_MODE_HOST;
};

struct cusparseSpVecDescr {
  int64_t size, count;
  void *indices, *values;
  cusparseIndexType_t index;
  cusparseIndexBase_t base;
  cudaDataType type;
};

struct cusparseDnVecDescr {
  int64_t size;
  void* values;
  cudaDataType type;
};

struct cusparseSpMatDescr {
  cusparseFormat_t format;
  int64_t rows, columns, count;
  void *first, *second, *values;  // offsets and indices; for COO the row and column indices
  cusparseIndexType_t first_index, second_index;
  cusparseIndexBase_t base;
  cudaDataType type;
  int batches = 1;
  int64_t first_stride = 0, second_stride = 0;  // in elements; the second is that of the values
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};

struct cusparseDnMatDescr {
  int64_t rows, columns, leading;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches = 1;
  int64_t stride = 0;  // elements
};

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

namespace lockstep::libraries::sparse {

struct Kind {
  using Handle = cusparseHandle_t;
  using Status = cusparseStatus_t;
  static constexpr Status kSuccess = CUSPARSE_STATUS_SUCCESS, kInvalid = CUSPARSE_STATUS_INVALID_VALUE,
                          kNoHandle = CUSPARSE_STATUS_INVALID_VALUE, kNotSupported = CUSPARSE_STATUS_NOT_SUPPORTED,
                          kFailed = CUSPARSE_STATUS_EXECUTION_FAILED;
  static constexpr cusparsePointerMode_t kOnDevice = CUSPARSE_POINTER_MODE_DEVICE;
  static constexpr const char* kTitle = "cuSPARSE";
};

using Function = FunctionOf<Kind>;

inline Function::Condition NotNull(const void* pointer) {
  return {pointer != nullptr, "an argument is a null pointer"};
}

}  // namespace lockstep::libraries::sparse
