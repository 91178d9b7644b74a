// The contents of a cublasHandle_t, and the start of every cuBLAS function.
#pragma once

// The library exports only these functions; everything else in it is hidden.
#pragma GCC visibility push(default)
#include <cublas_api.h>
#pragma GCC visibility pop

#include "libraries/function.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
  // Settings for emulated products: stored, but without effect.
  cublasEmulationStrategy_t emulation = CUBLAS_EMULATION_STRATEGY_DEFAULT;
  cudaEmulationSpecialValuesSupport special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  cudaEmulationMantissaControl mantissa = CUDA_EMULATION_MANTISSA_CONTROL_DYNAMIC;
  int mantissa_most = 0, mantissa_offset = 0;
  int* mantissa_count = nullptr;
};

namespace lockstep::libraries::blas {

struct Kind {
  using Handle = cublasHandle_t;
  using Status = cublasStatus_t;
  static constexpr Status kSuccess = CUBLAS_STATUS_SUCCESS, kInvalid = CUBLAS_STATUS_INVALID_VALUE,
                          kNoHandle = CUBLAS_STATUS_NOT_INITIALIZED, kNotSupported = CUBLAS_STATUS_NOT_SUPPORTED,
                          kFailed = CUBLAS_STATUS_EXECUTION_FAILED;
  static constexpr cublasPointerMode_t kOnDevice = CUBLAS_POINTER_MODE_DEVICE;
  static constexpr const char* kTitle = "cuBLAS";
};

using Function = FunctionOf<Kind>;

}  // namespace lockstep::libraries::blas

// The families of functions: M(letter, type, integer, suffix of the name) for each member.
#define LOCKSTEP_BOTH_WIDTHS(M, S, T) M(S, T, int, ) M(S, T, int64_t, _64)
#define LOCKSTEP_REAL_TYPES(M) LOCKSTEP_BOTH_WIDTHS(M, S, float) LOCKSTEP_BOTH_WIDTHS(M, D, double)
#define LOCKSTEP_COMPLEX_TYPES(M) LOCKSTEP_BOTH_WIDTHS(M, C, cuComplex) LOCKSTEP_BOTH_WIDTHS(M, Z, cuDoubleComplex)
#define LOCKSTEP_ALL_TYPES(M) LOCKSTEP_REAL_TYPES(M) LOCKSTEP_COMPLEX_TYPES(M)
