// Level 3: triangular products and solutions, and solutions in batches.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

template <typename T>
struct Triangular {
  Function f;
  cublasSideMode_t side;
  cublasFillMode_t uplo;
  cublasOperation_t trans;
  cublasDiagType_t diag;
  int64_t m, n;
  const T* alpha;
  int64_t lda;

  int64_t order() const { return side == CUBLAS_SIDE_LEFT ? m : n; }
  double operations() const {
    return kMultiplyAdd<T> * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(order()) / 2;
  }
  cublasStatus_t Check(int64_t ldb) const {
    return f.Check({IsSide(side), IsFill(uplo), IsOperation(trans), IsDiagonal(diag), IsSize(m), IsSize(n),
                    Leads(lda, order()), Leads(ldb, m)});
  }
  std::vector<Range> Matrix(const T* a) const {
    return Triangle(Access::kRead, "matrix A", a, sizeof(T), order(), lda, uplo, diag == CUBLAS_DIAG_UNIT);
  }
  template <typename Operation>
  void Run(Operation operation, const T& by, const T* a, T* b, int64_t ldb) const {
    operation(CblasColMajor, Of(side), Of(uplo), Of(trans), Of(diag), B(m), B(n), V(by), a, B(lda), b, B(ldb));
  }
};
template <typename T>
Triangular(Function, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t, int64_t,
           const T*, int64_t) -> Triangular<T>;

template <typename T>
void CopyMatrix(int64_t m, int64_t n, const T* from, int64_t from_leading, T* to, int64_t to_leading) {
  for (int64_t column = 0; column < n; ++column) {
    std::copy_n(from + column * from_leading, m, to + column * to_leading);
  }
}

// C = alpha op(A) B: BLAS overwrites B, while cuBLAS writes to C, which may be B.
template <typename T>
cublasStatus_t Trmm(const Triangular<T>& t, const T* a, const T* b, int64_t ldb, T* c, int64_t ldc) {
  LOCKSTEP_RETURN_UNLESS_OK(t.Check(ldb));
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({Leads(ldc, t.m)}));
  if (t.m == 0 || t.n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({IsGiven(t.alpha)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(t.f, t.m, t.n, t.lda, ldb, ldc);
  const Scalar<T> scale(t.f, t.alpha);
  Call call = t.f.Begin(t.operations(), kArithmetic<T>);
  scale.AddTo(call, "alpha");
  if (!scale.Is(T(0))) {
    Append(call.memory, t.Matrix(a));
    call.memory.push_back(MatrixOf(Access::kRead, "matrix B", b, t.m, t.n, ldb));
  }
  call.memory.push_back(MatrixOf(Access::kWrite, "matrix C", c, t.m, t.n, ldc));
  call.run = [=] {
    const T by = scale();
    if (by != T(0) && b != c) CopyMatrix(t.m, t.n, b, ldb, c, ldc);
    t.Run(Blas<T>::trmm, by, a, c, ldc);
  };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t Trsm(const Triangular<T>& t, const T* a, T* b, int64_t ldb) {
  LOCKSTEP_RETURN_UNLESS_OK(t.Check(ldb));
  if (t.m == 0 || t.n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({IsGiven(t.alpha)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(t.f, t.m, t.n, t.lda, ldb);
  const Scalar<T> scale(t.f, t.alpha);
  Call call = t.f.Begin(t.operations(), kArithmetic<T>);
  scale.AddTo(call, "alpha");
  const bool reads = !scale.Is(T(0));
  if (reads) Append(call.memory, t.Matrix(a));
  call.memory.push_back(MatrixOf(reads ? Access::kReadWrite : Access::kWrite, "matrix B", b, t.m, t.n, ldb));
  call.run = [=] { t.Run(Blas<T>::trsm, scale(), a, b, ldb); };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t TrsmBatched(const Triangular<T>& t, const T* const* a, T* const* b, int64_t ldb, int64_t count) {
  LOCKSTEP_RETURN_UNLESS_OK(t.Check(ldb));
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({{count >= 0, "the batch's size is negative"}}));
  if (t.m == 0 || t.n == 0 || count == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({IsGiven(t.alpha)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(t.f, t.m, t.n, t.lda, ldb);
  const Scalar<T> scale(t.f, t.alpha);
  Call call = t.f.Begin(t.operations() * static_cast<double>(count), kArithmetic<T>);
  scale.AddTo(call, "alpha");
  call.memory.push_back(Elements(Access::kRead, "the pointers to matrices A", a, count));
  call.memory.push_back(Elements(Access::kRead, "the pointers to matrices B", b, count));
  call.more_memory = [=](Memory& memory) {
    const bool reads = scale() != T(0);
    for (int64_t i = 0; i < count; ++i) {
      for (const Range& range : reads ? t.Matrix(a[i]) : std::vector<Range>()) {
        if (!memory.Touch(range)) return false;
      }
      if (!memory.Touch(MatrixOf(reads ? Access::kReadWrite : Access::kWrite, "matrix B", b[i], t.m, t.n, ldb))) {
        return false;
      }
    }
    return true;
  };
  call.run = [=] {
    for (int64_t i = 0; i < count; ++i) t.Run(Blas<T>::trsm, scale(), a[i], b[i], ldb);
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define TRIANGULAR \
  Triangular { {__func__, handle}, side, uplo, trans, diag, m, n, N(alpha), lda }
#define PRODUCTS_AND_SOLUTIONS(S, T, I, _)                                                                           \
  cublasStatus_t cublas##S##trmm_v2##_(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,          \
                                       cublasOperation_t trans, cublasDiagType_t diag, I m, I n, const T* alpha,     \
                                       const T* a, I lda, const T* b, I ldb, T* c, I ldc) {                          \
    return Trmm(TRIANGULAR, N(a), N(b), ldb, N(c), ldc);                                                             \
  }                                                                                                                  \
  cublasStatus_t cublas##S##trsm_v2##_(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,          \
                                       cublasOperation_t trans, cublasDiagType_t diag, I m, I n, const T* alpha,     \
                                       const T* a, I lda, T* b, I ldb) {                                             \
    return Trsm(TRIANGULAR, N(a), N(b), ldb);                                                                        \
  }                                                                                                                  \
  cublasStatus_t cublas##S##trsmBatched##_(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo,      \
                                           cublasOperation_t trans, cublasDiagType_t diag, I m, I n, const T* alpha, \
                                           const T* const a[], I lda, T* const b[], I ldb, I count) {                \
    return TrsmBatched(TRIANGULAR, NN(a), NN(b), ldb, count);                                                        \
  }

extern "C" {
LOCKSTEP_ALL_TYPES(PRODUCTS_AND_SOLUTIONS)
}
