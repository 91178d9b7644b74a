// Handles and their settings, versions, the names of statuses.
#include "libraries/blas/handle.h"

#include "libraries/matrix/product.h"
#include "libraries/matrix/status.h"

namespace {

template <typename T>
cublasStatus_t Get(cublasHandle_t handle, T cublasContext::* field, T* value) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *value = handle->*field;
  return CUBLAS_STATUS_SUCCESS;
}

template <typename T>
cublasStatus_t Set(cublasHandle_t handle, T cublasContext::* field, T value, bool is_valid = true) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (!is_valid) return CUBLAS_STATUS_INVALID_VALUE;
  handle->*field = value;
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  lockstep::libraries::StartOpenBlas();
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  if (version == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *version = CUBLAS_VERSION;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  *value = kVersion[type];
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  return Set(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  return Get(handle, &cublasContext::stream, stream);
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  return Set(handle, &cublasContext::pointers, mode,
             mode == CUBLAS_POINTER_MODE_HOST || mode == CUBLAS_POINTER_MODE_DEVICE);
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  return Get(handle, &cublasContext::pointers, mode);
}
cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  return Set(handle, &cublasContext::atomics, mode,
             mode == CUBLAS_ATOMICS_NOT_ALLOWED || mode == CUBLAS_ATOMICS_ALLOWED);
}
cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  return Get(handle, &cublasContext::atomics, mode);
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  const int kind = mode & ~CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
  return Set(handle, &cublasContext::math, mode,
             kind == CUBLAS_DEFAULT_MATH || kind == CUBLAS_TENSOR_OP_MATH || kind == CUBLAS_PEDANTIC_MATH ||
                 kind == CUBLAS_TF32_TENSOR_OP_MATH || kind == CUBLAS_FP32_EMULATED_BF16X9_MATH ||
                 kind == CUBLAS_FP64_EMULATED_FIXEDPOINT_MATH);
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  return Get(handle, &cublasContext::math, mode);
}
cublasStatus_t cublasSetSmCountTarget(cublasHandle_t handle, int count) {
  int device = 0, most = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&most, cudaDevAttrMultiProcessorCount, device);
  return Set(handle, &cublasContext::sm_count_target, count, count >= 0 && count <= most);
}
cublasStatus_t cublasGetSmCountTarget(cublasHandle_t handle, int* count) {
  return Get(handle, &cublasContext::sm_count_target, count);
}

#define KEPT(name, T, field)                                                                                           \
  cublasStatus_t cublasSet##name(cublasHandle_t handle, T value) { return Set(handle, &cublasContext::field, value); } \
  cublasStatus_t cublasGet##name(cublasHandle_t handle, T* value) { return Get(handle, &cublasContext::field, value); }
KEPT(EmulationStrategy, cublasEmulationStrategy_t, emulation)
KEPT(EmulationSpecialValuesSupport, cudaEmulationSpecialValuesSupport, special_values)
KEPT(FixedPointEmulationMantissaControl, cudaEmulationMantissaControl, mantissa)
KEPT(FixedPointEmulationMaxMantissaBitCount, int, mantissa_most)
KEPT(FixedPointEmulationMantissaBitOffset, int, mantissa_offset)
KEPT(FixedPointEmulationMantissaBitCountPointer, int*, mantissa_count)

// The host needs no workspace.
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t handle, void*, size_t) {
  return handle == nullptr ? CUBLAS_STATUS_NOT_INITIALIZED : CUBLAS_STATUS_SUCCESS;
}

// There is no log: errors are reported on standard error.
cublasStatus_t cublasLoggerConfigure(int, int, int, const char*) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasSetLoggerCallback(cublasLogCallback) { return CUBLAS_STATUS_SUCCESS; }
cublasStatus_t cublasGetLoggerCallback(cublasLogCallback* callback) {
  if (callback == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  *callback = nullptr;
  return CUBLAS_STATUS_SUCCESS;
}
void cublasXerbla(const char* function, int info) {
  lockstep_say(function, ("parameter " + std::to_string(info) + " had an illegal value").c_str());
}

const char* cublasGetStatusName(cublasStatus_t status) { return lockstep::libraries::TextOf(status).name; }
const char* cublasGetStatusString(cublasStatus_t status) { return lockstep::libraries::TextOf(status).text; }

}  // extern "C"
