// The contents of a cusolverDnHandle_t, and the start of every cuSOLVER function.
#pragma once

// The library exports only these functions; everything else in it is hidden.
#define DISABLE_CUSOLVER_DEPRECATED
#pragma GCC visibility push(default)
#include <cusolverDn.h>
#pragma GCC visibility pop

#include <memory>

#include "libraries/function.h"

struct cusolverDnContext {
  cudaStream_t stream = nullptr;
  cusolverDeterministicMode_t determinism = CUSOLVER_DETERMINISTIC_RESULTS;
  cusolverMathMode_t math = CUSOLVER_DEFAULT_MATH;
};

struct cusolverDnParams {};

namespace lockstep::libraries::solver {

// Parameters and results of Jacobi's methods, although LAPACK computes the factors here.
struct Jacobi {
  double residual = 0;
  int sweeps = 0;
  bool sorts = true;  // false: a value is in the place of its vector's largest component
};

struct Kind {
  using Handle = cusolverDnHandle_t;
  using Status = cusolverStatus_t;
  static constexpr Status kSuccess = CUSOLVER_STATUS_SUCCESS, kInvalid = CUSOLVER_STATUS_INVALID_VALUE,
                          kNoHandle = CUSOLVER_STATUS_NOT_INITIALIZED, kNotSupported = CUSOLVER_STATUS_NOT_SUPPORTED,
                          kFailed = CUSOLVER_STATUS_EXECUTION_FAILED;
  static constexpr const char* kTitle = "cuSOLVER";
};

using Function = FunctionOf<Kind>;

}  // namespace lockstep::libraries::solver

struct syevjInfo {
  std::shared_ptr<lockstep::libraries::solver::Jacobi> state = std::make_shared<lockstep::libraries::solver::Jacobi>();
};
struct gesvdjInfo {
  std::shared_ptr<lockstep::libraries::solver::Jacobi> state = std::make_shared<lockstep::libraries::solver::Jacobi>();
};
