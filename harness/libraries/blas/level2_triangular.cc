// Level 2: triangular matrices, in full, band and packed storage; products and solutions.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

// The parameters that all these functions share: everything except the matrix.
template <typename T>
struct Triangular {
  Function f;
  cublasFillMode_t uplo;
  cublasOperation_t trans;
  cublasDiagType_t diag;
  int64_t n;
  T* x;
  int64_t incx;

  cublasStatus_t Check() const {
    return f.Check({IsFill(uplo), IsOperation(trans), IsDiagonal(diag), IsSize(n), IsIncrement(incx)});
  }
  // run(fill, operation, diagonal, n, x, increment), with OpenBLAS's types.
  template <typename Run>
  cublasStatus_t Do(std::vector<Range> matrix, double operations, Run run) const {
    if (n == 0) return CUBLAS_STATUS_SUCCESS;
    Call call = f.Begin(operations * kMultiplyAdd<T>, kArithmetic<T>);
    call.memory = std::move(matrix);
    call.memory.push_back(VectorOf(Access::kReadWrite, "vector x", x, n, incx));
    call.run = [self = *this, run] {
      run(Of(self.uplo), Of(self.trans), Of(self.diag), B(self.n), self.x, B(self.incx));
    };
    return Function::Do(std::move(call));
  }
};

template <typename T>
cublasStatus_t Full(const Triangular<T>& t, bool solves, const T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(t.Check());
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({Leads(lda, t.n)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(t.f, t.n, lda, t.incx);
  const double n = static_cast<double>(t.n);
  return t.Do(Triangle(Access::kRead, "matrix A", a, sizeof(T), t.n, lda, t.uplo, t.diag == CUBLAS_DIAG_UNIT),
              n * n / 2, [=](auto fill, auto operation, auto diagonal, blasint order, T* x, blasint incx) {
                (solves ? Blas<T>::trsv : Blas<T>::trmv)(CblasColMajor, fill, operation, diagonal, order, a, B(lda), x,
                                                         incx);
              });
}

template <typename T>
cublasStatus_t Banded(const Triangular<T>& t, bool solves, int64_t k, const T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(t.Check());
  LOCKSTEP_RETURN_UNLESS_OK(t.f.Check({IsSize(k), Leads(lda, k + 1)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(t.f, t.n, k, lda, t.incx);
  const bool upper = t.uplo == CUBLAS_FILL_MODE_UPPER;
  return t.Do(Band(Access::kRead, "matrix A", a, sizeof(T), t.n, t.n, upper ? 0 : k, upper ? k : 0, lda),
              static_cast<double>(t.n) * static_cast<double>(k + 1),
              [=](auto fill, auto operation, auto diagonal, blasint order, T* x, blasint incx) {
                (solves ? Blas<T>::tbsv : Blas<T>::tbmv)(CblasColMajor, fill, operation, diagonal, order, B(k), a,
                                                         B(lda), x, incx);
              });
}

template <typename T>
cublasStatus_t Packed(const Triangular<T>& t, bool solves, const T* a) {
  LOCKSTEP_RETURN_UNLESS_OK(t.Check());
  LOCKSTEP_REFUSE_UNLESS_FIT(t.f, t.n, t.incx);
  const double n = static_cast<double>(t.n);
  return t.Do({Elements(Access::kRead, "matrix AP", a, t.n * (t.n + 1) / 2)}, n * n / 2,
              [=](auto fill, auto operation, auto diagonal, blasint order, T* x, blasint incx) {
                (solves ? Blas<T>::tpsv : Blas<T>::tpmv)(CblasColMajor, fill, operation, diagonal, order, a, x, incx);
              });
}

template <typename T>
Triangular(Function, cublasFillMode_t, cublasOperation_t, cublasDiagType_t, int64_t, T*, int64_t) -> Triangular<T>;

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define TRIANGULAR(S, T, I, _, name, solves)                                                                        \
  cublasStatus_t cublas##S##tr##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
                                             cublasDiagType_t diag, I n, const T* a, I lda, T* x, I incx) {         \
    return Full(Triangular{{__func__, handle}, uplo, trans, diag, n, N(x), incx}, solves, N(a), lda);               \
  }                                                                                                                 \
  cublasStatus_t cublas##S##tb##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
                                             cublasDiagType_t diag, I n, I k, const T* a, I lda, T* x, I incx) {    \
    return Banded(Triangular{{__func__, handle}, uplo, trans, diag, n, N(x), incx}, solves, k, N(a), lda);          \
  }                                                                                                                 \
  cublasStatus_t cublas##S##tp##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, \
                                             cublasDiagType_t diag, I n, const T* a, T* x, I incx) {                \
    return Packed(Triangular{{__func__, handle}, uplo, trans, diag, n, N(x), incx}, solves, N(a));                  \
  }
#define PRODUCTS(S, T, I, _) TRIANGULAR(S, T, I, _, mv, false)
#define SOLUTIONS(S, T, I, _) TRIANGULAR(S, T, I, _, sv, true)

extern "C" {
LOCKSTEP_ALL_TYPES(PRODUCTS)
LOCKSTEP_ALL_TYPES(SOLUTIONS)
}
