// Batches of small systems: LU factors, and solutions and inverses computed from them.
#include <cmath>

#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

template <typename T>
double Size(const T& value) {
  return static_cast<double>(std::abs(std::real(value))) + static_cast<double>(std::abs(std::imag(value)));
}

// A = P L U in place. pivots: row numbers from 1; nullptr: no rows are exchanged. Returns the number, from 1, of the
// first zero on U's diagonal, or 0 if there is none.
template <typename T>
int Factor(int n, T* a, int lda, int* pivots) {
  int info = 0;
  for (int step = 0; step < n; ++step) {
    int pivot = step;
    for (int row = step + 1; row < n && pivots != nullptr; ++row) {
      if (Size(a[row + step * lda]) > Size(a[pivot + step * lda])) pivot = row;
    }
    if (pivots != nullptr) pivots[step] = pivot + 1;
    if (a[pivot + step * lda] == T(0)) {
      if (info == 0) info = step + 1;
      continue;
    }
    for (int column = 0; column < n && pivot != step; ++column)
      std::swap(a[step + column * lda], a[pivot + column * lda]);
    for (int row = step + 1; row < n; ++row) a[row + step * lda] /= a[step + step * lda];
    for (int column = step + 1; column < n; ++column) {
      for (int row = step + 1; row < n; ++row) a[row + column * lda] -= a[row + step * lda] * a[step + column * lda];
    }
  }
  return info;
}

template <typename T>
void Exchange(int n, const int* pivots, bool forward, int columns, T* b, int ldb) {
  for (int i = 0; i < n && pivots != nullptr; ++i) {
    const int row = forward ? i : n - 1 - i, other = pivots[row] - 1;
    if (other == row) continue;
    for (int column = 0; column < columns; ++column) std::swap(b[row + column * ldb], b[other + column * ldb]);
  }
}

// Solves op(A) X = B with A's factors.
template <typename T>
void Solve(cublasOperation_t trans, int n, int columns, const T* factors, int lda, const int* pivots, T* b, int ldb) {
  const T one = 1;
  const auto solve = [&](CBLAS_UPLO fill, CBLAS_DIAG diagonal) {
    Blas<T>::trsm(CblasColMajor, CblasLeft, fill, Of(trans), diagonal, n, columns, V(one), factors, lda, b, ldb);
  };
  if (trans == CUBLAS_OP_N) {
    Exchange(n, pivots, true, columns, b, ldb);
    solve(CblasLower, CblasUnit);
    solve(CblasUpper, CblasNonUnit);
  } else {
    solve(CblasUpper, CblasNonUnit);
    solve(CblasLower, CblasUnit);
    Exchange(n, pivots, false, columns, b, ldb);
  }
}

template <typename T>
void Invert(int n, const T* factors, int lda, const int* pivots, T* inverse, int ldc) {
  for (int column = 0; column < n; ++column) {
    for (int row = 0; row < n; ++row) inverse[row + column * ldc] = row == column ? T(1) : T(0);
  }
  Solve(CUBLAS_OP_N, n, n, factors, lda, pivots, inverse, ldc);
}

// The number, from 1, of the first zero on the diagonal; 0 if there is none.
template <typename T>
int FirstZero(int n, const T* factors, int lda) {
  for (int i = 0; i < n; ++i) {
    if (factors[i + i * lda] == T(0)) return i + 1;
  }
  return 0;
}

// A batch of square matrices at pointers in device memory.
template <typename T>
struct Batch {
  Function f;
  int n, count;
  cublasStatus_t Check(int lda) const {
    return f.Check(
        {IsSize(n), {lda >= n, "lda is smaller than the rows"}, {count >= 0, "the batch's size is negative"}});
  }
  bool IsEmpty() const { return n == 0 || count == 0; }
  Call Begin(double operations) const {
    return f.Begin(operations * kMultiplyAdd<T> * n * n * n * count, kArithmetic<T>);
  }
  // Touches the matrices of an array of pointers, which itself was touched before.
  bool Touch(Memory& memory, Access access, const char* what, const T* const* matrices, int columns,
             int leading) const {
    for (int i = 0; i < count; ++i) {
      if (!memory.Touch(MatrixOf(access, what, matrices[i], n, columns, leading))) return false;
    }
    return true;
  }
  Range Pointers(const char* what, const T* const* matrices) const {
    return Elements(Access::kRead, what, matrices, count);
  }
};

template <typename T>
cublasStatus_t Getrf(const Batch<T>& batch, T* const* a, int lda, int* pivots, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(batch.Check(lda));
  if (batch.IsEmpty()) return CUBLAS_STATUS_SUCCESS;
  Call call = batch.Begin(1.0 / 3);
  const int n = batch.n, count = batch.count;
  call.memory = {batch.Pointers("the pointers to matrices A", a), Elements(Access::kWrite, "info", info, count)};
  if (pivots != nullptr) call.memory.push_back(Elements(Access::kWrite, "the pivots", pivots, int64_t{n} * count));
  call.more_memory = [=](Memory& memory) { return batch.Touch(memory, Access::kReadWrite, "matrix A", a, n, lda); };
  call.run = [=] {
    for (int i = 0; i < count; ++i) {
      info[i] = Factor(n, a[i], lda, pivots == nullptr ? nullptr : pivots + int64_t{i} * n);
    }
  };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t Getri(const Batch<T>& batch, const T* const* a, int lda, const int* pivots, T* const* c, int ldc,
                     int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(batch.Check(lda));
  LOCKSTEP_RETURN_UNLESS_OK(batch.f.Check({Leads(ldc, batch.n)}));
  if (batch.IsEmpty()) return CUBLAS_STATUS_SUCCESS;
  Call call = batch.Begin(1);
  const int n = batch.n, count = batch.count;
  call.memory = {batch.Pointers("the pointers to matrices A", a), batch.Pointers("the pointers to matrices C", c),
                 Elements(Access::kWrite, "info", info, count)};
  if (pivots != nullptr) call.memory.push_back(Elements(Access::kRead, "the pivots", pivots, int64_t{n} * count));
  call.more_memory = [=](Memory& memory) {
    return batch.Touch(memory, Access::kRead, "matrix A", a, n, lda) &&
           batch.Touch(memory, Access::kWrite, "matrix C", c, n, ldc);
  };
  call.run = [=] {
    for (int i = 0; i < count; ++i) {
      info[i] = FirstZero(n, a[i], lda);
      if (info[i] == 0) Invert(n, a[i], lda, pivots == nullptr ? nullptr : pivots + int64_t{i} * n, c[i], ldc);
    }
  };
  return Function::Do(std::move(call));
}

// info is in host memory, and reports only invalid arguments.
template <typename T>
cublasStatus_t Getrs(const Batch<T>& batch, cublasOperation_t trans, int columns, const T* const* a, int lda,
                     const int* pivots, T* const* b, int ldb, int* info) {
  LOCKSTEP_RETURN_UNLESS_OK(batch.f.Check({{info != nullptr, "info is a null pointer"}}));
  const auto says = [&](bool holds, int parameter) {
    if (!holds) *info = -parameter;
    return holds;
  };
  *info = 0;
  if (!says(trans == CUBLAS_OP_N || trans == CUBLAS_OP_T || trans == CUBLAS_OP_C, 1) || !says(batch.n >= 0, 2) ||
      !says(columns >= 0, 3) || !says(lda >= std::max(1, batch.n), 5) || !says(ldb >= std::max(1, batch.n), 8)) {
    return batch.f.Invalid("an argument is invalid; info says which");
  }
  if (batch.n == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  if (batch.count <= 0) return CUBLAS_STATUS_EXECUTION_FAILED;
  Call call = batch.Begin(static_cast<double>(columns) / batch.n);
  const int n = batch.n, count = batch.count;
  call.memory = {batch.Pointers("the pointers to matrices A", a), batch.Pointers("the pointers to matrices B", b)};
  if (pivots != nullptr) call.memory.push_back(Elements(Access::kRead, "the pivots", pivots, int64_t{n} * count));
  call.more_memory = [=](Memory& memory) {
    return batch.Touch(memory, Access::kRead, "matrix A", a, n, lda) &&
           batch.Touch(memory, Access::kReadWrite, "matrix B", b, columns, ldb);
  };
  call.run = [=] {
    for (int i = 0; i < count; ++i) {
      Solve(trans, n, columns, a[i], lda, pivots == nullptr ? nullptr : pivots + int64_t{i} * n, b[i], ldb);
    }
  };
  return Function::Do(std::move(call));
}

// getrf and getri in one function, for matrices of at most 32 rows.
template <typename T>
cublasStatus_t Matinv(const Batch<T>& batch, const T* const* a, int lda, T* const* inverse, int ldc, int* info) {
  constexpr int kMostRows = 32;
  LOCKSTEP_RETURN_UNLESS_OK(batch.Check(lda));
  LOCKSTEP_RETURN_UNLESS_OK(
      batch.f.Check({Leads(ldc, batch.n), {batch.n <= kMostRows, "the matrices have more than 32 rows"}}));
  if (batch.IsEmpty()) return CUBLAS_STATUS_SUCCESS;
  Call call = batch.Begin(1);
  const int n = batch.n, count = batch.count;
  call.memory = {batch.Pointers("the pointers to matrices A", a), batch.Pointers("the pointers to inverses", inverse),
                 Elements(Access::kWrite, "info", info, count)};
  call.more_memory = [=](Memory& memory) {
    return batch.Touch(memory, Access::kRead, "matrix A", a, n, lda) &&
           batch.Touch(memory, Access::kWrite, "an inverse", inverse, n, ldc);
  };
  call.run = [=] {
    std::vector<T> factors(static_cast<size_t>(n) * static_cast<size_t>(n));
    std::vector<int> pivots(static_cast<size_t>(n));
    for (int i = 0; i < count; ++i) {
      for (int column = 0; column < n; ++column) std::copy_n(a[i] + column * lda, n, factors.data() + column * n);
      info[i] = Factor(n, factors.data(), n, pivots.data());
      if (info[i] == 0) Invert(n, factors.data(), n, pivots.data(), inverse[i], ldc);
    }
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define BATCH(T) \
  Batch<NumberOf<T>::type> { {__func__, handle}, n, count }
#define FACTORS(S, T)                                                                                                  \
  cublasStatus_t cublas##S##getrfBatched(cublasHandle_t handle, int n, T* const a[], int lda, int* pivots, int* info,  \
                                         int count) {                                                                  \
    return Getrf(BATCH(T), NN(a), lda, pivots, info);                                                                  \
  }                                                                                                                    \
  cublasStatus_t cublas##S##getriBatched(cublasHandle_t handle, int n, const T* const a[], int lda, const int* pivots, \
                                         T* const c[], int ldc, int* info, int count) {                                \
    return Getri(BATCH(T), NN(a), lda, pivots, NN(c), ldc, info);                                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##S##getrsBatched(cublasHandle_t handle, cublasOperation_t trans, int n, int columns,           \
                                         const T* const a[], int lda, const int* pivots, T* const b[], int ldb,        \
                                         int* info, int count) {                                                       \
    return Getrs(BATCH(T), trans, columns, NN(a), lda, pivots, NN(b), ldb, info);                                      \
  }                                                                                                                    \
  cublasStatus_t cublas##S##matinvBatched(cublasHandle_t handle, int n, const T* const a[], int lda,                   \
                                          T* const inverse[], int ldc, int* info, int count) {                         \
    return Matinv(BATCH(T), NN(a), lda, NN(inverse), ldc, info);                                                       \
  }

extern "C" {
FACTORS(S, float)
FACTORS(D, double)
FACTORS(C, cuComplex)
FACTORS(Z, cuDoubleComplex)
}
