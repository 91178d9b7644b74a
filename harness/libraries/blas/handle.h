// What a cublasHandle_t points to, and what a function of cuBLAS begins with.
#pragma once

// Its functions are what the library exports; everything else in it is hidden.
#pragma GCC visibility push(default)
#include <cublas_api.h>
#pragma GCC visibility pop

#include <initializer_list>
#include <utility>

#include "libraries/library.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  cublasAtomicsMode_t atomics = CUBLAS_ATOMICS_NOT_ALLOWED;
  cublasMath_t math = CUBLAS_DEFAULT_MATH;
  int sm_count_target = 0;
};

namespace lockstep::libraries::blas {

// One call of an exported function.
struct Function {
  const char* name;  // "cublasSgemm_v2"
  cublasHandle_t handle;

  bool on_device() const { return handle->pointers == CUBLAS_POINTER_MODE_DEVICE; }
  cublasStatus_t Invalid(const char* why) const {
    lockstep_say(name, why);
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  // A form of the function that is missing here.
  cublasStatus_t Missing(const char* what) const {
    lockstep_refuse("cuBLAS", name, what);
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  // The first condition that does not hold, said; or that there is no handle.
  struct Condition {
    bool holds;
    const char* otherwise;
  };
  cublasStatus_t Check(std::initializer_list<Condition> conditions) const {
    if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
    for (const Condition& condition : conditions) {
      if (!condition.holds) return Invalid(condition.otherwise);
    }
    return CUBLAS_STATUS_SUCCESS;
  }

  // A call in the handle's stream, to be filled in.
  Call Begin(double operations = 0, Arithmetic arithmetic = Arithmetic::kNone) const {
    Call call;
    call.function = name;
    call.stream = handle->stream;
    call.operations = operations;
    call.arithmetic = arithmetic;
    return call;
  }
  static cublasStatus_t Do(Call call) {
    return Perform(std::move(call)) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
  }
};

}  // namespace lockstep::libraries::blas

// Leaves the function with a status that is no success.
#define LOCKSTEP_RETURN_UNLESS_OK(status)                 \
  do {                                                    \
    const cublasStatus_t checked = (status);              \
    if (checked != CUBLAS_STATUS_SUCCESS) return checked; \
  } while (false)

// The families of functions: M(letter, type, integer, suffix of the name) for each member.
#define LOCKSTEP_BOTH_WIDTHS(M, S, T) M(S, T, int, ) M(S, T, int64_t, _64)
#define LOCKSTEP_REAL_TYPES(M) LOCKSTEP_BOTH_WIDTHS(M, S, float) LOCKSTEP_BOTH_WIDTHS(M, D, double)
#define LOCKSTEP_COMPLEX_TYPES(M) LOCKSTEP_BOTH_WIDTHS(M, C, cuComplex) LOCKSTEP_BOTH_WIDTHS(M, Z, cuDoubleComplex)
#define LOCKSTEP_ALL_TYPES(M) LOCKSTEP_REAL_TYPES(M) LOCKSTEP_COMPLEX_TYPES(M)
