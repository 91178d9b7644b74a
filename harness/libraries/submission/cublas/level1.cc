// Level 1: vectors.
#include "libraries/submission/cublas/handle.h"

namespace lockstep::libraries::submission {
namespace {

template <typename T>
LibraryOperation OfVectors(const Function& f, LibraryKind kind, int n, const T* x, int incx, const T* y = nullptr,
                           int incy = 1) {
  LibraryOperation operation = f.Begin<T>(kind);
  operation.n = n;
  operation.operands[0] = {AddressOf(x), incx};
  operation.operands[1] = {AddressOf(y), incy};
  return operation;
}

template <typename T>
cublasStatus_t Scal(const Function& f, int n, const T* alpha, T* x, int incx) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0 || incx <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{alpha != nullptr, "alpha is a null pointer"}}));
  LibraryOperation operation = OfVectors(f, LibraryKind::kScal, n, x, incx);
  operation.alpha = f.FactorOf(alpha);
  return f.Do(operation);
}

template <typename T>
cublasStatus_t Axpy(const Function& f, int n, const T* alpha, const T* x, int incx, T* y, int incy) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  if (n <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{alpha != nullptr, "alpha is a null pointer"}}));
  LibraryOperation operation = OfVectors<T>(f, LibraryKind::kAxpy, n, x, incx, y, incy);
  operation.alpha = f.FactorOf(alpha);
  return f.Do(operation);
}

// Copy and swap.
template <typename T>
cublasStatus_t Move(const Function& f, LibraryKind kind, int n, const T* x, int incx, const T* y, int incy) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({}));
  return n <= 0 ? CUBLAS_STATUS_SUCCESS : f.Do(OfVectors(f, kind, n, x, incx, y, incy));
}

template <typename T>
cublasStatus_t Dot(const Function& f, int n, const T* x, int incx, const T* y, int incy, T* result) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{result != nullptr, "result is a null pointer"}}));
  return f.DoFor(result, sizeof *result, OfVectors(f, LibraryKind::kDot, n < 0 ? 0 : n, x, incx, y, incy));
}

// A reduction of one vector, which counts as empty if the increment is not positive.
template <typename T, typename Result>
cublasStatus_t Reduce(const Function& f, LibraryKind kind, int n, const T* x, int incx, Result* result) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{result != nullptr, "result is a null pointer"}}));
  return f.DoFor(result, sizeof *result, OfVectors(f, kind, n < 0 || incx <= 0 ? 0 : n, x, incx));
}

}  // namespace
}  // namespace lockstep::libraries::submission

using namespace lockstep::libraries::submission;

#define LOCKSTEP_LEVEL1(S, s, T)                                                                              \
  cublasStatus_t cublas##S##scal_v2(cublasHandle_t handle, int n, const T* alpha, T* x, int incx) {           \
    return Scal(Function("cublas" #S "scal", handle), n, alpha, x, incx);                                     \
  }                                                                                                           \
  cublasStatus_t cublas##S##copy_v2(cublasHandle_t handle, int n, const T* x, int incx, T* y, int incy) {     \
    return Move<T>(Function("cublas" #S "copy", handle), LibraryKind::kCopy, n, x, incx, y, incy);            \
  }                                                                                                           \
  cublasStatus_t cublas##S##swap_v2(cublasHandle_t handle, int n, T* x, int incx, T* y, int incy) {           \
    return Move<T>(Function("cublas" #S "swap", handle), LibraryKind::kSwap, n, x, incx, y, incy);            \
  }                                                                                                           \
  cublasStatus_t cublas##S##axpy_v2(cublasHandle_t handle, int n, const T* alpha, const T* x, int incx, T* y, \
                                    int incy) {                                                               \
    return Axpy(Function("cublas" #S "axpy", handle), n, alpha, x, incx, y, incy);                            \
  }                                                                                                           \
  cublasStatus_t cublas##S##dot_v2(cublasHandle_t handle, int n, const T* x, int incx, const T* y, int incy,  \
                                   T* result) {                                                               \
    return Dot(Function("cublas" #S "dot", handle), n, x, incx, y, incy, result);                             \
  }                                                                                                           \
  cublasStatus_t cublas##S##nrm2_v2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {          \
    return Reduce(Function("cublas" #S "nrm2", handle), LibraryKind::kNrm2, n, x, incx, result);              \
  }                                                                                                           \
  cublasStatus_t cublas##S##asum_v2(cublasHandle_t handle, int n, const T* x, int incx, T* result) {          \
    return Reduce(Function("cublas" #S "asum", handle), LibraryKind::kAsum, n, x, incx, result);              \
  }                                                                                                           \
  cublasStatus_t cublasI##s##amax_v2(cublasHandle_t handle, int n, const T* x, int incx, int* result) {       \
    return Reduce(Function("cublasI" #s "amax", handle), LibraryKind::kAmax, n, x, incx, result);             \
  }                                                                                                           \
  cublasStatus_t cublasI##s##amin_v2(cublasHandle_t handle, int n, const T* x, int incx, int* result) {       \
    return Reduce(Function("cublasI" #s "amin", handle), LibraryKind::kAmin, n, x, incx, result);             \
  }

extern "C" {
LOCKSTEP_LEVEL1(S, s, float)
LOCKSTEP_LEVEL1(D, d, double)
}  // extern "C"
