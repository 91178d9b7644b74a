// Handles and their settings, versions, and the parameters of Jacobi's methods.
#include "libraries/solver/handle.h"

#include <cblas.h>

namespace {

template <typename T>
cusolverStatus_t Create(T** made) {
  if (made == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *made = new T;
  return CUSOLVER_STATUS_SUCCESS;
}
template <typename T>
cusolverStatus_t Destroy(T* made) {
  delete made;
  return CUSOLVER_STATUS_SUCCESS;
}

template <typename T>
cusolverStatus_t Get(cusolverDnHandle_t handle, T cusolverDnContext::* field, T* value) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (value == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *value = handle->*field;
  return CUSOLVER_STATUS_SUCCESS;
}

// Waits for the work that determines the value.
template <typename Info, typename T>
cusolverStatus_t Ask(cusolverDnHandle_t handle, Info* info, T lockstep::libraries::solver::Jacobi::* field, T* value) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (info == nullptr || value == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (cudaStreamSynchronize(handle->stream) != cudaSuccess) return CUSOLVER_STATUS_EXECUTION_FAILED;
  *value = (*info->state).*field;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t Exists(const void* info) {
  return info == nullptr ? CUSOLVER_STATUS_INVALID_VALUE : CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  if (cudaFree(nullptr) != cudaSuccess) return CUSOLVER_STATUS_NOT_INITIALIZED;
  // With several threads the order of additions, and so the results, would depend on their number.
  openblas_set_num_threads(1);
  return Create(handle);
}
cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  return handle == nullptr ? CUSOLVER_STATUS_NOT_INITIALIZED : Destroy(handle);
}

cusolverStatus_t cusolverGetVersion(int* version) {
  if (version == nullptr) return CUSOLVER_STATUS_INVALID_VALUE;
  *version = CUSOLVER_VERSION;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverGetProperty(libraryPropertyType type, int* value) {
  constexpr int kVersion[] = {CUSOLVER_VER_MAJOR, CUSOLVER_VER_MINOR, CUSOLVER_VER_PATCH};
  if (value == nullptr || type < MAJOR_VERSION || type > PATCH_LEVEL) return CUSOLVER_STATUS_INVALID_VALUE;
  *value = kVersion[type];
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t cusolverDnSetStream(cusolverDnHandle_t handle, cudaStream_t stream) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  handle->stream = stream;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetStream(cusolverDnHandle_t handle, cudaStream_t* stream) {
  return Get(handle, &cusolverDnContext::stream, stream);
}
cusolverStatus_t cusolverDnSetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t mode) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (mode != CUSOLVER_DETERMINISTIC_RESULTS && mode != CUSOLVER_ALLOW_NON_DETERMINISTIC_RESULTS) {
    return CUSOLVER_STATUS_INTERNAL_ERROR;
  }
  handle->determinism = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetDeterministicMode(cusolverDnHandle_t handle, cusolverDeterministicMode_t* mode) {
  return Get(handle, &cusolverDnContext::determinism, mode);
}
cusolverStatus_t cusolverDnSetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t mode) {
  if (handle == nullptr) return CUSOLVER_STATUS_NOT_INITIALIZED;
  if (mode != CUSOLVER_DEFAULT_MATH && mode != CUSOLVER_FP32_EMULATED_BF16X9_MATH) return CUSOLVER_STATUS_INVALID_VALUE;
  handle->math = mode;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnGetMathMode(cusolverDnHandle_t handle, cusolverMathMode_t* mode) {
  return Get(handle, &cusolverDnContext::math, mode);
}

// Parameters that choose among NVIDIA's algorithms are checked and have no effect.
cusolverStatus_t cusolverDnCreateParams(cusolverDnParams_t* params) { return Create(params); }
cusolverStatus_t cusolverDnDestroyParams(cusolverDnParams_t params) { return Destroy(params); }
cusolverStatus_t cusolverDnSetAdvOptions(cusolverDnParams_t params, cusolverDnFunction_t function,
                                         cusolverAlgMode_t algorithm) {
  const bool known = params != nullptr && function >= CUSOLVERDN_GETRF && function <= CUSOLVERDN_SYEVBATCHED &&
                     algorithm >= CUSOLVER_ALG_0 && algorithm <= CUSOLVER_ALG_2;
  return known ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_INVALID_VALUE;
}

cusolverStatus_t cusolverDnCreateSyevjInfo(syevjInfo_t* info) { return Create(info); }
cusolverStatus_t cusolverDnDestroySyevjInfo(syevjInfo_t info) { return Destroy(info); }
cusolverStatus_t cusolverDnXsyevjSetTolerance(syevjInfo_t info, double) { return Exists(info); }
cusolverStatus_t cusolverDnXsyevjSetMaxSweeps(syevjInfo_t info, int) { return Exists(info); }
cusolverStatus_t cusolverDnXsyevjSetSortEig(syevjInfo_t info, int sorts) {
  LOCKSTEP_RETURN_UNLESS_OK(Exists(info));
  info->state->sorts = sorts != 0;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXsyevjGetResidual(cusolverDnHandle_t handle, syevjInfo_t info, double* residual) {
  return Ask(handle, info, &lockstep::libraries::solver::Jacobi::residual, residual);
}
cusolverStatus_t cusolverDnXsyevjGetSweeps(cusolverDnHandle_t handle, syevjInfo_t info, int* sweeps) {
  return Ask(handle, info, &lockstep::libraries::solver::Jacobi::sweeps, sweeps);
}

cusolverStatus_t cusolverDnCreateGesvdjInfo(gesvdjInfo_t* info) { return Create(info); }
cusolverStatus_t cusolverDnDestroyGesvdjInfo(gesvdjInfo_t info) { return Destroy(info); }
cusolverStatus_t cusolverDnXgesvdjSetTolerance(gesvdjInfo_t info, double) { return Exists(info); }
cusolverStatus_t cusolverDnXgesvdjSetMaxSweeps(gesvdjInfo_t info, int) { return Exists(info); }
cusolverStatus_t cusolverDnXgesvdjSetSortEig(gesvdjInfo_t info, int sorts) {
  LOCKSTEP_RETURN_UNLESS_OK(Exists(info));
  info->state->sorts = sorts != 0;
  return CUSOLVER_STATUS_SUCCESS;
}
cusolverStatus_t cusolverDnXgesvdjGetResidual(cusolverDnHandle_t handle, gesvdjInfo_t info, double* residual) {
  return Ask(handle, info, &lockstep::libraries::solver::Jacobi::residual, residual);
}
cusolverStatus_t cusolverDnXgesvdjGetSweeps(cusolverDnHandle_t handle, gesvdjInfo_t info, int* sweeps) {
  return Ask(handle, info, &lockstep::libraries::solver::Jacobi::sweeps, sweeps);
}

}  // extern "C"
