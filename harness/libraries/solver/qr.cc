// QR factors: Q stored as reflections below R, Q as a matrix, and products with Q.
#include "libraries/solver/arguments.h"

namespace lockstep::libraries::solver {
namespace {

template <typename T>
cusolverStatus_t Geqrf(const Function& f, int64_t m, int64_t n, T* a, int64_t lda, T* tau, Range work, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info, {{m >= 0, 1}, {n >= 0, 2}, {Leading(lda, m), 4}}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, m, n, lda);
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), leading = static_cast<int>(lda);
  const double side = std::min(rows, columns);
  Call call = f.Begin(MultiplyAdds<T>(static_cast<double>(m) * static_cast<double>(n) * side - side * side * side / 3),
                      kArithmetic<T>);
  call.memory = {MatrixOf(Access::kReadWrite, "matrix A", a, m, n, lda),
                 Elements(Access::kWrite, "tau", tau, std::min(m, n)), work, Info(info)};
  call.run = [=] {
    int result = 0;
    WithWork<T>(
        [&](T* room, const int* size) { Lapack<T>::geqrf(&rows, &columns, a, &leading, tau, room, size, &result); });
    *info = result;
  };
  return Function::Do(std::move(call));
}

template <typename T>
cusolverStatus_t Orgqr(const Function& f, int m, int n, int k, T* a, int lda, const T* tau, Range work, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(
      CheckArguments(f, info, {{m >= 0, 1}, {n >= 0 && n <= m, 2}, {k >= 0 && k <= n, 3}, {Leading(lda, m), 5}}));
  Call call = f.Begin(MultiplyAdds<T>(2.0 * m * n * k), kArithmetic<T>);
  call.memory = {MatrixOf(Access::kRead, "matrix A", a, m, k, lda), MatrixOf(Access::kWrite, "matrix A", a, m, n, lda),
                 Elements(Access::kRead, "tau", tau, k), work, Info(info)};
  call.run = [=] {
    int result = 0;
    WithWork<T>([&](T* room, const int* size) { Lapack<T>::orgqr(&m, &n, &k, a, &lda, tau, room, size, &result); });
    *info = result;
  };
  return Function::Do(std::move(call));
}

template <typename T>
cusolverStatus_t Ormqr(const Function& f, cublasSideMode_t side, cublasOperation_t op, int m, int n, int k, const T* a,
                       int lda, const T* tau, T* c, int ldc, Range work, int* info) {
  const bool left = side == CUBLAS_SIDE_LEFT;
  const int rows = left ? m : n;
  LOCKSTEP_RETURN_UNLESS_OK(CheckArguments(f, info,
                                           {{left || side == CUBLAS_SIDE_RIGHT, 1},
                                            {op == CUBLAS_OP_N || op == (kIsComplex<T> ? CUBLAS_OP_C : CUBLAS_OP_T), 2},
                                            {m >= 0, 3},
                                            {n >= 0, 4},
                                            {k >= 0 && k <= rows, 5},
                                            {Leading(lda, rows), 7},
                                            {Leading(ldc, m), 10}}));
  Call call = f.Begin(MultiplyAdds<T>(2.0 * m * n * k), kArithmetic<T>);
  call.memory = {MatrixOf(Access::kRead, "matrix A", a, rows, k, lda), Elements(Access::kRead, "tau", tau, k),
                 MatrixOf(Access::kReadWrite, "matrix C", c, m, n, ldc), work, Info(info)};
  call.run = [=] {
    int result = 0;
    WithWork<T>([&](T* room, const int* size) {
      Lapack<T>::ormqr(Of(side), Of(op), &m, &n, &k, a, &lda, tau, c, &ldc, room, size, &result, 1, 1);
    });
    *info = result;
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries;
using namespace lockstep::libraries::solver;

#define QR(S, T, R, orthogonal, symmetric)                                                                         \
  LOCKSTEP_WORK(cusolverDn##S##geqrf, int, int, T*, int, int* size)                                                \
  cusolverStatus_t cusolverDn##S##geqrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T* tau, T* work,   \
                                        int size, int* info) {                                                     \
    return Geqrf({__func__, handle}, m, n, N(a), lda, N(tau), Work(work, size), info);                             \
  }                                                                                                                \
  LOCKSTEP_WORK(cusolverDn##S##orthogonal##gqr, int, int, int, const T*, int, const T*, int* size)                 \
  cusolverStatus_t cusolverDn##S##orthogonal##gqr(cusolverDnHandle_t handle, int m, int n, int k, T* a, int lda,   \
                                                  const T* tau, T* work, int size, int* info) {                    \
    return Orgqr({__func__, handle}, m, n, k, N(a), lda, N(tau), Work(work, size), info);                          \
  }                                                                                                                \
  LOCKSTEP_WORK(cusolverDn##S##orthogonal##mqr, cublasSideMode_t, cublasOperation_t, int, int, int, const T*, int, \
                const T*, const T*, int, int* size)                                                                \
  cusolverStatus_t cusolverDn##S##orthogonal##mqr(cusolverDnHandle_t handle, cublasSideMode_t side,                \
                                                  cublasOperation_t op, int m, int n, int k, const T* a, int lda,  \
                                                  const T* tau, T* c, int ldc, T* work, int size, int* info) {     \
    return Ormqr({__func__, handle}, side, op, m, n, k, N(a), lda, N(tau), N(c), ldc, Work(work, size), info);     \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(QR)

LOCKSTEP_WIDE_WORK(cusolverDnXgeqrf, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType, const void*,
                   cudaDataType)
cusolverStatus_t cusolverDnXgeqrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, cudaDataType tau_type, void* tau,
                                  cudaDataType, void* work, size_t bytes, void*, size_t, int* info) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{type == tau_type, "tau is of another type than the matrix"}}));
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    return Geqrf(f, m, n, static_cast<T*>(a), lda, static_cast<T*>(tau), WorkOf(work, bytes), info);
  });
}

}  // extern "C"
