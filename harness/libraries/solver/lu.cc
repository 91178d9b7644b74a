// LU factors with and without exchanges of rows, and solutions computed from them.
#include "libraries/solver/arguments.h"

namespace lockstep::libraries::solver {
namespace {

// The number, from 1, of the first zero on U's diagonal; 0 if there is none.
template <typename T>
int FactorInPlace(int m, int n, T* a, int lda) {
  int info = 0;
  const auto at = [&](int row, int column) -> T& { return a[row + static_cast<int64_t>(column) * lda]; };
  for (int step = 0; step < std::min(m, n); ++step) {
    if (at(step, step) == T(0)) {
      if (info == 0) info = step + 1;
      continue;
    }
    for (int row = step + 1; row < m; ++row) at(row, step) /= at(step, step);
    for (int column = step + 1; column < n; ++column) {
      for (int row = step + 1; row < m; ++row) at(row, column) -= at(row, step) * at(step, column);
    }
  }
  return info;
}

// Pivots have 32 or 64 bits; nullptr: no rows are exchanged.
template <typename T, typename Pivot>
cusolverStatus_t Getrf(const Function& f, int64_t m, int64_t n, T* a, int64_t lda, Pivot* pivots, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsSize(m), IsSize(n)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, m, n, lda);
  if (!Leading(lda, m)) {
    // NVIDIA's returns success here.
    lockstep_say(f.name, "lda is smaller than m, or than 1");
    return SetInfo(f, info, -4);
  }
  const int rows = static_cast<int>(m), columns = static_cast<int>(n), leading = static_cast<int>(lda),
            most = std::min(rows, columns);
  const double side = most;
  Call call =
      f.Begin(MultiplyAdds<T>(static_cast<double>(m) * static_cast<double>(n) * side / 2 - side * side * side / 6),
              kArithmetic<T>);
  call.memory = {MatrixOf(Access::kReadWrite, "matrix A", a, m, n, lda), Info(info)};
  if (pivots != nullptr) call.memory.push_back(Elements(Access::kWrite, "the pivots", pivots, most));
  call.run = [=] {
    if (pivots == nullptr) {
      *info = FactorInPlace(rows, columns, a, leading);
      return;
    }
    std::vector<int> exchanged(static_cast<size_t>(most) + 1);
    int result = 0;
    Lapack<T>::getrf(&rows, &columns, a, &leading, exchanged.data(), &result);
    std::copy_n(exchanged.data(), most, pivots);
    *info = result;
  };
  return Function::Do(std::move(call));
}

template <typename T, typename Pivot>
cusolverStatus_t Getrs(const Function& f, cublasOperation_t op, int64_t n, int64_t columns, const T* a, int64_t lda,
                       const Pivot* pivots, T* b, int64_t ldb, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsOperation(op), IsSize(n), IsSize(columns), Leads(lda, n), Leads(ldb, n)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, n, columns, lda, ldb);
  if (n == 0 || columns == 0) return CUSOLVER_STATUS_SUCCESS;
  const int order = static_cast<int>(n), many = static_cast<int>(columns), leading = static_cast<int>(lda),
            b_leading = static_cast<int>(ldb);
  Call call = f.Begin(MultiplyAdds<T>(static_cast<double>(n) * static_cast<double>(n) * static_cast<double>(columns)),
                      kArithmetic<T>);
  call.memory = {MatrixOf(Access::kRead, "matrix A", a, n, n, lda),
                 MatrixOf(Access::kReadWrite, "matrix B", b, n, columns, ldb), Info(info)};
  if (pivots != nullptr) call.memory.push_back(Elements(Access::kRead, "the pivots", pivots, n));
  call.more_memory = [=, name = f.name](Memory& memory) {
    for (int i = 0; i < order && pivots != nullptr; ++i) {
      if (pivots[i] > 0 && pivots[i] <= order) continue;
      lockstep_say(name, ("pivot " + std::to_string(i + 1) + " is no row of the matrix").c_str());
      return LeadsNowhere(memory, "the row of a pivot outside of the matrix");
    }
    return true;
  };
  call.run = [=] {
    std::vector<int> rows(static_cast<size_t>(order));
    for (int i = 0; i < order; ++i)
      rows[static_cast<size_t>(i)] = pivots == nullptr ? i + 1 : static_cast<int>(pivots[i]);
    int result = 0;
    Lapack<T>::getrs(Of(op), &order, &many, a, &leading, rows.data(), b, &b_leading, &result, 1);
    *info = result;
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::solver

using namespace lockstep::libraries::solver;

#define LU(S, T, R, orthogonal, symmetric)                                                                       \
  LOCKSTEP_WORK(cusolverDn##S##getrf, int, int, T*, int, int* size)                                              \
  cusolverStatus_t cusolverDn##S##getrf(cusolverDnHandle_t handle, int m, int n, T* a, int lda, T*, int* pivots, \
                                        int* info) {                                                             \
    return Getrf({__func__, handle}, m, n, N(a), lda, pivots, info);                                             \
  }                                                                                                              \
  cusolverStatus_t cusolverDn##S##getrs(cusolverDnHandle_t handle, cublasOperation_t op, int n, int columns,     \
                                        const T* a, int lda, const int* pivots, T* b, int ldb, int* info) {      \
    return Getrs({__func__, handle}, op, n, columns, N(a), lda, pivots, N(b), ldb, info);                        \
  }

extern "C" {

LOCKSTEP_ALL_TYPES(LU)

LOCKSTEP_WIDE_WORK(cusolverDnXgetrf, int64_t, int64_t, cudaDataType, const void*, int64_t, cudaDataType)
cusolverStatus_t cusolverDnXgetrf(cusolverDnHandle_t handle, cusolverDnParams_t, int64_t m, int64_t n,
                                  cudaDataType type, void* a, int64_t lda, int64_t* pivots, cudaDataType, void*, size_t,
                                  void*, size_t, int* info) {
  const Function f{__func__, handle};
  return OfType(f, type,
                [&](auto t) { return Getrf(f, m, n, static_cast<typename decltype(t)::type*>(a), lda, pivots, info); });
}
cusolverStatus_t cusolverDnXgetrs(cusolverDnHandle_t handle, cusolverDnParams_t, cublasOperation_t op, int64_t n,
                                  int64_t columns, cudaDataType type, const void* a, int64_t lda, const int64_t* pivots,
                                  cudaDataType b_type, void* b, int64_t ldb, int* info) {
  const Function f{__func__, handle};
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{type == b_type, "the matrices are of different types"}}));
  return OfType(f, type, [&](auto t) {
    using T = typename decltype(t)::type;
    return Getrs(f, op, n, columns, static_cast<const T*>(a), lda, pivots, static_cast<T*>(b), ldb, info);
  });
}

}  // extern "C"
