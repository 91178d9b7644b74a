// Handles, and the names of statuses.
#include "libraries/submission/cublas/handle.h"

using lockstep::libraries::CalledAs;

namespace {

struct StatusText {
  cublasStatus_t status;
  const char *name, *text;
};
#define LOCKSTEP_STATUS(name, text) {CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, text}
constexpr StatusText kStatuses[] = {
    LOCKSTEP_STATUS(SUCCESS, "success"),
    LOCKSTEP_STATUS(NOT_INITIALIZED, "the library was not initialized"),
    LOCKSTEP_STATUS(ALLOC_FAILED, "the resource allocation failed"),
    LOCKSTEP_STATUS(INVALID_VALUE, "an unsupported value or parameter was passed to the function"),
    LOCKSTEP_STATUS(MAPPING_ERROR, "an access to GPU memory space failed"),
    LOCKSTEP_STATUS(EXECUTION_FAILED, "the function failed to launch on the GPU"),
    LOCKSTEP_STATUS(NOT_SUPPORTED, "the requested functionality is not supported"),
};
#undef LOCKSTEP_STATUS
constexpr StatusText kUnknown = {CUBLAS_STATUS_SUCCESS, "unrecognized status", "unrecognized status"};

const StatusText& TextOf(cublasStatus_t status) {
  for (const StatusText& known : kStatuses) {
    if (known.status == status) return known;
  }
  return kUnknown;
}

constexpr int kVersion = 130000;

}  // namespace

namespace lockstep::libraries::submission {

cublasStatus_t Function::Check(std::initializer_list<Condition> conditions) const {
  if (handle_ == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  for (const Condition& condition : conditions) {
    if (condition.holds) continue;
    lockstep_say(name_, condition.otherwise);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t Function::Do(const LibraryOperation& operation) const {
  switch (lockstep_do_operation(name_, handle_->stream, &operation)) {
    case cudaSuccess:
      return CUBLAS_STATUS_SUCCESS;
    case cudaErrorNotSupported:
      return CUBLAS_STATUS_NOT_SUPPORTED;
    default:
      return CUBLAS_STATUS_EXECUTION_FAILED;
  }
}

cublasStatus_t Function::DoFor(void* result, size_t bytes, LibraryOperation operation) const {
  operation.result = AddressOf(on_device() ? result : handle_->workspace);
  LOCKSTEP_RETURN_UNLESS_OK(Do(operation));
  if (on_device()) return CUBLAS_STATUS_SUCCESS;
  const bool copied =
      cudaMemcpyAsync(result, handle_->workspace, bytes, cudaMemcpyDeviceToHost, handle_->stream) == cudaSuccess &&
      cudaStreamSynchronize(handle_->stream) == cudaSuccess;
  return copied ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace lockstep::libraries::submission

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  const CalledAs called("cublasCreate");
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  auto* const created = new cublasContext;
  // As NVIDIA's, a handle holds device memory until it is destroyed.
  if (cudaMalloc(&created->workspace, sizeof(double)) != cudaSuccess) {
    delete created;
    return CUBLAS_STATUS_ALLOC_FAILED;
  }
  *handle = created;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  const CalledAs called("cublasDestroy");
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  cudaFree(handle->workspace);
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = kVersion;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (stream == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *stream = handle->stream;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode != CUBLAS_POINTER_MODE_HOST && mode != CUBLAS_POINTER_MODE_DEVICE) return CUBLAS_STATUS_INVALID_VALUE;
  handle->pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (mode == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *mode = handle->pointers;
  return CUBLAS_STATUS_SUCCESS;
}

const char* cublasGetStatusName(cublasStatus_t status) { return TextOf(status).name; }
const char* cublasGetStatusString(cublasStatus_t status) { return TextOf(status).text; }

}  // extern "C"
