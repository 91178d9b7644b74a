// The contents of a cuBLAS handle, and the start of every function.
#pragma once

#include "libraries/submission/include/cublas_v2.h"
#include "libraries/submission/operation.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
  void* workspace = nullptr;  // in device memory: space for a result to be copied to the host
};

namespace lockstep::libraries::submission {

// One call of a cuBLAS function. Every such function starts by constructing it.
class Function {
 public:
  Function(const char* name, cublasHandle_t handle) : name_(name), handle_(handle), called_(name) {}

  // Checks conditions in order, and reports the first violated one, or a null handle.
  struct Condition {
    bool holds;
    const char* otherwise;
  };
  cublasStatus_t Check(std::initializer_list<Condition> conditions) const;

  bool on_device() const { return handle_->pointers == CUBLAS_POINTER_MODE_DEVICE; }
  template <typename T>
  LibraryOperation Begin(LibraryKind kind) const {
    LibraryOperation operation;
    operation.kind = kind;
    operation.is_double = sizeof(T) == sizeof(double);
    return operation;
  }
  template <typename T>
  vgpu::LibraryFactor FactorOf(const T* given) const {
    if (on_device()) return {0, AddressOf(given)};
    return {static_cast<double>(*given), 0};
  }
  cublasStatus_t Do(const LibraryOperation& operation) const;
  // Does an operation with a result of this size, in device memory or to be copied to the host.
  cublasStatus_t DoFor(void* result, size_t bytes, LibraryOperation operation) const;

 private:
  const char* name_;
  cublasHandle_t handle_;
  CalledAs called_;
};

inline bool IsOperation(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N || operation == CUBLAS_OP_T || operation == CUBLAS_OP_C;
}
// Whether a leading dimension is large enough for a stored matrix's rows.
inline bool Holds(int leading, int rows) { return leading >= (rows > 1 ? rows : 1); }

}  // namespace lockstep::libraries::submission

// Returns from the function if the status is an error.
#define LOCKSTEP_RETURN_UNLESS_OK(status)                 \
  do {                                                    \
    const cublasStatus_t checked = (status);              \
    if (checked != CUBLAS_STATUS_SUCCESS) return checked; \
  } while (false)
