// The statuses of cuBLAS and cuBLASLt, with their names.
#pragma once

#include <cublas_api.h>

namespace lockstep::libraries {

struct StatusText {
  cublasStatus_t status;
  const char *name, *text;
};
#define LOCKSTEP_STATUS(name, text) {CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, text}
inline constexpr StatusText kStatuses[] = {
    LOCKSTEP_STATUS(SUCCESS, "success"),
    LOCKSTEP_STATUS(NOT_INITIALIZED, "the library was not initialized"),
    LOCKSTEP_STATUS(ALLOC_FAILED, "the resource allocation failed"),
    LOCKSTEP_STATUS(INVALID_VALUE, "an unsupported value or parameter was passed to the function"),
    LOCKSTEP_STATUS(ARCH_MISMATCH, "the function requires an architectural feature absent from the device"),
    LOCKSTEP_STATUS(MAPPING_ERROR, "an access to GPU memory space failed"),
    LOCKSTEP_STATUS(EXECUTION_FAILED, "the function failed to launch on the GPU"),
    LOCKSTEP_STATUS(INTERNAL_ERROR, "an internal operation failed"),
    LOCKSTEP_STATUS(NOT_SUPPORTED, "the requested functionality is not supported"),
    LOCKSTEP_STATUS(LICENSE_ERROR, "the license check failed"),
};
#undef LOCKSTEP_STATUS
inline constexpr StatusText kUnknownStatus = {CUBLAS_STATUS_SUCCESS, "unrecognized status", "unrecognized status"};

inline const StatusText& TextOf(cublasStatus_t status) {
  for (const StatusText& known : kStatuses) {
    if (known.status == status) return known;
  }
  return kUnknownStatus;
}

}  // namespace lockstep::libraries
