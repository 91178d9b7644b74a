// Handles invalid arguments as most cuSOLVER functions do: with a status, and the argument's number in info in device
// memory.
#pragma once

#include <initializer_list>
#include <string>

#include "libraries/solver/lapack.h"

namespace lockstep::libraries::solver {

struct Argument {
  bool is_right;
  int number;  // from 1, without the handle
};

// info = value, in the stream's order.
inline cusolverStatus_t SetInfo(const Function& f, int* info, int value) {
  Call call = f.Begin();
  call.memory = {Info(info)};
  call.run = [=] { *info = value; };
  return Function::Do(std::move(call));
}

// Reports the first invalid argument, also in info: returns CUSOLVER_STATUS_INVALID_VALUE; success if there is none.
inline cusolverStatus_t CheckArguments(const Function& f, int* info, std::initializer_list<Argument> arguments) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  for (const Argument& argument : arguments) {
    if (argument.is_right) continue;
    lockstep_say(f.name, ("argument " + std::to_string(argument.number) + " after the handle is invalid").c_str());
    LOCKSTEP_RETURN_UNLESS_OK(SetInfo(f, info, -argument.number));
    return CUSOLVER_STATUS_INVALID_VALUE;
  }
  return CUSOLVER_STATUS_SUCCESS;
}

inline bool Operation(cublasOperation_t op) { return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C; }
inline bool Fill(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_UPPER || fill == CUBLAS_FILL_MODE_LOWER; }
inline bool Mode(cusolverEigMode_t mode) {
  return mode == CUSOLVER_EIG_MODE_VECTOR || mode == CUSOLVER_EIG_MODE_NOVECTOR;
}
inline bool Leading(int64_t leading, int64_t rows) { return leading >= std::max<int64_t>(1, rows); }

// The answer of bufferSize functions: the program's workspace is not used, but counts as written.
constexpr int kWork = 64;
constexpr size_t kWorkBytes = 64 * sizeof(std::complex<double>);

template <typename Size>
cusolverStatus_t AnswerWork(const Function& f, std::initializer_list<Function::Condition> conditions, Size* size) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check(conditions));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(size)}));
  *size = kWork;
  return CUSOLVER_STATUS_SUCCESS;
}
// The functions with 64-bit sizes have a second workspace, in host memory.
inline cusolverStatus_t AnswerWork(const Function& f, std::initializer_list<Function::Condition> conditions,
                                   size_t* on_device, size_t* on_host) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check(conditions));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({NotNull(on_device), NotNull(on_host)}));
  *on_device = kWorkBytes;
  *on_host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace lockstep::libraries::solver

// Define bufferSize functions with these parameters, which are ignored except for the pointers to the sizes.
// are_valid: the sizes that NVIDIA's library checks are valid.
#define LOCKSTEP_CHECKED_WORK(name, are_valid, ...)                                   \
  cusolverStatus_t name##_bufferSize(cusolverDnHandle_t handle, __VA_ARGS__) {        \
    return AnswerWork({__func__, handle}, {{are_valid, "a size is negative"}}, size); \
  }
#define LOCKSTEP_WORK(name, ...) LOCKSTEP_CHECKED_WORK(name, true, __VA_ARGS__)
#define LOCKSTEP_WIDE_WORK(name, ...)                                                                               \
  cusolverStatus_t name##_bufferSize(cusolverDnHandle_t handle, cusolverDnParams_t, __VA_ARGS__, size_t* on_device, \
                                     size_t* on_host) {                                                             \
    return AnswerWork({__func__, handle}, {}, on_device, on_host);                                                  \
  }
