// Handles and their settings, versions, the names of statuses, and the matrix descriptions of the older functions.
#include "libraries/sparse/handle.h"

namespace {

struct StatusText {
  cusparseStatus_t status;
  const char *name, *text;
};
#define LOCKSTEP_STATUS(name, text) {CUSPARSE_STATUS_##name, "CUSPARSE_STATUS_" #name, text}
constexpr StatusText kStatuses[] = {
    LOCKSTEP_STATUS(SUCCESS, "success"),
    LOCKSTEP_STATUS(NOT_INITIALIZED, "initialization error"),
    LOCKSTEP_STATUS(ALLOC_FAILED, "out of memory"),
    LOCKSTEP_STATUS(INVALID_VALUE, "invalid value"),
    LOCKSTEP_STATUS(ARCH_MISMATCH, "architecture mismatch"),
    LOCKSTEP_STATUS(MAPPING_ERROR, "texture memory mapping error"),
    LOCKSTEP_STATUS(EXECUTION_FAILED, "kernel launch failure"),
    LOCKSTEP_STATUS(INTERNAL_ERROR, "internal error"),
    LOCKSTEP_STATUS(MATRIX_TYPE_NOT_SUPPORTED, "matrix type not supported"),
    LOCKSTEP_STATUS(ZERO_PIVOT, "zero pivot"),
    LOCKSTEP_STATUS(NOT_SUPPORTED, "operation not supported"),
    LOCKSTEP_STATUS(INSUFFICIENT_RESOURCES, "insufficient resources"),
};
#undef LOCKSTEP_STATUS
constexpr StatusText kUnknownStatus = {CUSPARSE_STATUS_SUCCESS, "unrecognized error code", "unrecognized error code"};

const StatusText& TextOf(cusparseStatus_t status) {
  for (const StatusText& known : kStatuses) {
    if (known.status == status) return known;
  }
  return kUnknownStatus;
}

template <typename Owner, typename T>
cusparseStatus_t Get(const Owner* owner, T Owner::* field, T* value) {
  if (owner == nullptr || value == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *value = owner->*field;
  return CUSPARSE_STATUS_SUCCESS;
}

template <typename T>
cusparseStatus_t Set(cusparseMatDescr_t matrix, T cusparseMatDescr::* field, T value, T most) {
  if (matrix == nullptr) return CUSPARSE_STATUS_NOT_INITIALIZED;
  if (static_cast<unsigned>(value) > static_cast<unsigned>(most)) return CUSPARSE_STATUS_INVALID_VALUE;
  matrix->*field = value;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  if (handle == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUSPARSE_STATUS_NOT_INITIALIZED;
  *handle = new cusparseContext;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  delete handle;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetVersion(cusparseHandle_t handle, int* version) {
  if (handle == nullptr || version == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *version = CUSPARSE_VERSION;
  return CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t cusparseGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUSPARSE_STATUS_INVALID_VALUE;
  *value = kVersion[type];
  return CUSPARSE_STATUS_SUCCESS;
}

const char* cusparseGetErrorName(cusparseStatus_t status) { return TextOf(status).name; }
const char* cusparseGetErrorString(cusparseStatus_t status) { return TextOf(status).text; }

cusparseStatus_t cusparseSetStream(cusparseHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  handle->stream = stream;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseGetStream(cusparseHandle_t handle, cudaStream_t* stream) {
  return Get(handle, &cusparseContext::stream, stream);
}
cusparseStatus_t cusparseGetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t* mode) {
  return Get(handle, &cusparseContext::pointers, mode);
}
cusparseStatus_t cusparseSetPointerMode(cusparseHandle_t handle, cusparsePointerMode_t mode) {
  if (handle == nullptr || (mode != CUSPARSE_POINTER_MODE_HOST && mode != CUSPARSE_POINTER_MODE_DEVICE)) {
    return CUSPARSE_STATUS_INVALID_VALUE;
  }
  handle->pointers = mode;
  return CUSPARSE_STATUS_SUCCESS;
}

// There is no log: errors are reported on standard error.
cusparseStatus_t cusparseLoggerSetCallback(cusparseLoggerCallback_t) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerSetFile(FILE*) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerOpenFile(const char*) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerSetLevel(int level) {
  constexpr int kMostLevel = 5;
  return level < 0 || level > kMostLevel ? CUSPARSE_STATUS_INVALID_VALUE : CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseLoggerSetMask(int) { return CUSPARSE_STATUS_SUCCESS; }
cusparseStatus_t cusparseLoggerForceDisable() { return CUSPARSE_STATUS_SUCCESS; }

cusparseStatus_t cusparseCreateMatDescr(cusparseMatDescr_t* matrix) {
  if (matrix == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  *matrix = new cusparseMatDescr;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseDestroyMatDescr(cusparseMatDescr_t matrix) {
  delete matrix;
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t cusparseSetMatType(cusparseMatDescr_t matrix, cusparseMatrixType_t type) {
  return Set(matrix, &cusparseMatDescr::type, type, CUSPARSE_MATRIX_TYPE_TRIANGULAR);
}
cusparseStatus_t cusparseSetMatFillMode(cusparseMatDescr_t matrix, cusparseFillMode_t fill) {
  return Set(matrix, &cusparseMatDescr::fill, fill, CUSPARSE_FILL_MODE_UPPER);
}
cusparseStatus_t cusparseSetMatDiagType(cusparseMatDescr_t matrix, cusparseDiagType_t diagonal) {
  return Set(matrix, &cusparseMatDescr::diagonal, diagonal, CUSPARSE_DIAG_TYPE_UNIT);
}
cusparseStatus_t cusparseSetMatIndexBase(cusparseMatDescr_t matrix, cusparseIndexBase_t base) {
  return Set(matrix, &cusparseMatDescr::base, base, CUSPARSE_INDEX_BASE_ONE);
}
cusparseMatrixType_t cusparseGetMatType(const cusparseMatDescr_t matrix) { return matrix->type; }
cusparseFillMode_t cusparseGetMatFillMode(const cusparseMatDescr_t matrix) { return matrix->fill; }
cusparseDiagType_t cusparseGetMatDiagType(const cusparseMatDescr_t matrix) { return matrix->diagonal; }
cusparseIndexBase_t cusparseGetMatIndexBase(const cusparseMatDescr_t matrix) { return matrix->base; }

}  // extern "C"
