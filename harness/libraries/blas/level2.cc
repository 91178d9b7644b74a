// Level 2: products of matrices and vectors, of general, symmetric and Hermitian matrices.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

// y = alpha op(A) x + beta y for any form of A: run(alpha, x, incx, beta, y, incy) does it.
template <typename T>
struct VectorProduct {
  Function f;
  const T* alpha;
  const T* x;
  int64_t incx;
  const T* beta;
  T* y;
  int64_t incy;

  cublasStatus_t CheckFactors() const { return f.Check({IsGiven(alpha), IsGiven(beta)}); }
  template <typename Run>
  cublasStatus_t Do(std::vector<Range> matrix, double operations, int64_t x_count, int64_t y_count, Run run) const {
    const Scalar<T> a(f, alpha), b(f, beta);
    Call call = f.Begin(operations * kMultiplyAdd<T>, kArithmetic<T>);
    a.AddTo(call, "alpha");
    if (!a.Is(T(0))) {
      Append(call.memory, std::move(matrix));
      call.memory.push_back(VectorOf(Access::kRead, "vector x", x, x_count, incx));
    }
    AddOutput<T>(call, b, VectorOf(Access::kWrite, "vector y", y, y_count, incy));
    call.run = [self = *this, a, b, run, y_count] {
      const T scale = a(), keep = b();
      // The old contents are ignored, even NaN.
      if (keep == T(0)) {
        for (int64_t i = 0; i < y_count; ++i) At(self.y, i, y_count, self.incy) = T(0);
      }
      run(scale, self.x, B(self.incx), keep, self.y, B(self.incy));
    };
    return Function::Do(std::move(call));
  }
};

// Like NVIDIA's, returns success without elements, even if an increment is 0 or the operation unknown.
template <typename T>
cublasStatus_t Gemv(const VectorProduct<T>& p, cublasOperation_t trans, int64_t m, int64_t n, const T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({}));
  if (m <= 0 || n <= 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(p.CheckFactors());
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({Leads(lda, m)}));
  if (trans == CUBLAS_OP_CONJG && !kIsComplex<T>) trans = CUBLAS_OP_N;
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({IsOperation(trans), IsIncrement(p.incx), IsIncrement(p.incy)}));
  if (!Scalar<T>(p.f, p.alpha).Is(T(0)))
    LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({HasMemory(a), HasMemory(p.x), HasMemory(p.y)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(p.f, m, n, lda, p.incx, p.incy);
  const bool plain = trans == CUBLAS_OP_N;
  return p.Do({MatrixOf(Access::kRead, "matrix A", a, m, n, lda)}, static_cast<double>(m) * static_cast<double>(n),
              plain ? n : m, plain ? m : n,
              [=](const T& alpha, const T* x, blasint incx, const T& beta, T* y, blasint incy) {
                Blas<T>::gemv(CblasColMajor, Of(trans), B(m), B(n), V(alpha), a, B(lda), x, incx, V(beta), y, incy);
              });
}

template <typename T>
cublasStatus_t Gbmv(const VectorProduct<T>& p, cublasOperation_t trans, int64_t m, int64_t n, int64_t kl, int64_t ku,
                    const T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({IsOperation(trans), IsSize(m), IsSize(n), IsSize(kl), IsSize(ku),
                                       Leads(lda, kl + ku + 1), IsIncrement(p.incx), IsIncrement(p.incy)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(p.CheckFactors());
  LOCKSTEP_REFUSE_UNLESS_FIT(p.f, m, n, kl, ku, lda, p.incx, p.incy);
  const bool plain = trans == CUBLAS_OP_N;
  return p.Do(Band(Access::kRead, "matrix A", a, sizeof(T), m, n, kl, ku, lda),
              static_cast<double>(n) * static_cast<double>(kl + ku + 1), plain ? n : m, plain ? m : n,
              [=](const T& alpha, const T* x, blasint incx, const T& beta, T* y, blasint incy) {
                Blas<T>::gbmv(CblasColMajor, Of(trans), B(m), B(n), B(kl), B(ku), V(alpha), a, B(lda), x, incx, V(beta),
                              y, incy);
              });
}

// Checks of symmetric and Hermitian products: a fill mode, an order, and increments.
template <typename T>
cublasStatus_t CheckSymmetric(const VectorProduct<T>& p, cublasFillMode_t uplo, int64_t n) {
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({IsFill(uplo), IsSize(n), IsIncrement(p.incx), IsIncrement(p.incy)}));
  return n == 0 ? CUBLAS_STATUS_SUCCESS : p.CheckFactors();
}

// cuBLAS supports complex symmetric matrices too; BLAS does not.
template <typename T>
void MultiplySymmetric(cublasFillMode_t uplo, int64_t n, const T& alpha, const T* a, int64_t lda, const T* x,
                       int64_t incx, const T& beta, T* y, int64_t incy) {
  for (int64_t i = 0; i < n; ++i) {
    T sum = 0;
    for (int64_t j = 0; j < n; ++j) {
      const bool stored = uplo == CUBLAS_FILL_MODE_UPPER ? i <= j : i >= j;
      sum += a[stored ? i + j * lda : j + i * lda] * At(x, j, n, incx);
    }
    T& to = At(y, i, n, incy);
    to = alpha * sum + (beta == T(0) ? T(0) : beta * to);
  }
}

template <typename T>
cublasStatus_t Symv(const VectorProduct<T>& p, bool is_hermitian, cublasFillMode_t uplo, int64_t n, const T* a,
                    int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckSymmetric(p, uplo, n));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({Leads(lda, n)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(p.f, n, lda, p.incx, p.incy);
  return p.Do(Triangle(Access::kRead, "matrix A", a, sizeof(T), n, lda, uplo),
              static_cast<double>(n) * static_cast<double>(n), n, n,
              [=](const T& alpha, const T* x, blasint incx, const T& beta, T* y, blasint incy) {
                if (kIsComplex<T> && !is_hermitian) {
                  MultiplySymmetric(uplo, n, alpha, a, lda, x, incx, beta, y, incy);
                } else {
                  Blas<T>::hemv(CblasColMajor, Of(uplo), B(n), V(alpha), a, B(lda), x, incx, V(beta), y, incy);
                }
              });
}

template <typename T>
cublasStatus_t Sbmv(const VectorProduct<T>& p, cublasFillMode_t uplo, int64_t n, int64_t k, const T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckSymmetric(p, uplo, n));
  LOCKSTEP_RETURN_UNLESS_OK(p.f.Check({IsSize(k), Leads(lda, k + 1)}));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(p.f, n, k, lda, p.incx, p.incy);
  const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
  return p.Do(Band(Access::kRead, "matrix A", a, sizeof(T), n, n, upper ? 0 : k, upper ? k : 0, lda),
              static_cast<double>(n) * static_cast<double>(2 * k + 1), n, n,
              [=](const T& alpha, const T* x, blasint incx, const T& beta, T* y, blasint incy) {
                Blas<T>::hbmv(CblasColMajor, Of(uplo), B(n), B(k), V(alpha), a, B(lda), x, incx, V(beta), y, incy);
              });
}

template <typename T>
cublasStatus_t Spmv(const VectorProduct<T>& p, cublasFillMode_t uplo, int64_t n, const T* a) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckSymmetric(p, uplo, n));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(p.f, n, p.incx, p.incy);
  return p.Do({Elements(Access::kRead, "matrix AP", a, n * (n + 1) / 2)},
              static_cast<double>(n) * static_cast<double>(n), n, n,
              [=](const T& alpha, const T* x, blasint incx, const T& beta, T* y, blasint incy) {
                Blas<T>::hpmv(CblasColMajor, Of(uplo), B(n), V(alpha), a, x, incx, V(beta), y, incy);
              });
}

template <typename T>
VectorProduct(Function, const T*, const T*, int64_t, const T*, T*, int64_t) -> VectorProduct<T>;

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define PRODUCT \
  VectorProduct { {__func__, handle}, N(alpha), N(x), incx, N(beta), N(y), incy }
#define GENERAL(S, T, I, _)                                                                                           \
  cublasStatus_t cublas##S##gemv_v2##_(cublasHandle_t handle, cublasOperation_t trans, I m, I n, const T* alpha,      \
                                       const T* a, I lda, const T* x, I incx, const T* beta, T* y, I incy) {          \
    return Gemv(PRODUCT, trans, m, n, N(a), lda);                                                                     \
  }                                                                                                                   \
  cublasStatus_t cublas##S##gbmv_v2##_(cublasHandle_t handle, cublasOperation_t trans, I m, I n, I kl, I ku,          \
                                       const T* alpha, const T* a, I lda, const T* x, I incx, const T* beta, T* y,    \
                                       I incy) {                                                                      \
    return Gbmv(PRODUCT, trans, m, n, kl, ku, N(a), lda);                                                             \
  }                                                                                                                   \
  cublasStatus_t cublas##S##symv_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const T* alpha, const T* a, \
                                       I lda, const T* x, I incx, const T* beta, T* y, I incy) {                      \
    return Symv(PRODUCT, false, uplo, n, N(a), lda);                                                                  \
  }
#define BAND_AND_PACKED(S, T, I, _, he, band, packed)                                                            \
  cublasStatus_t cublas##S##band##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, I k, const T* alpha, \
                                         const T* a, I lda, const T* x, I incx, const T* beta, T* y, I incy) {   \
    return Sbmv(PRODUCT, uplo, n, k, N(a), lda);                                                                 \
  }                                                                                                              \
  cublasStatus_t cublas##S##packed##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const T* alpha,    \
                                           const T* a, const T* x, I incx, const T* beta, T* y, I incy) {        \
    return Spmv(PRODUCT, uplo, n, N(a));                                                                         \
  }
#define SYMMETRIC(S, T, I, _) BAND_AND_PACKED(S, T, I, _, sy, sbmv, spmv)
#define HERMITIAN(S, T, I, _)                                                                                         \
  cublasStatus_t cublas##S##hemv_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const T* alpha, const T* a, \
                                       I lda, const T* x, I incx, const T* beta, T* y, I incy) {                      \
    return Symv(PRODUCT, true, uplo, n, N(a), lda);                                                                   \
  }                                                                                                                   \
  BAND_AND_PACKED(S, T, I, _, he, hbmv, hpmv)

extern "C" {
LOCKSTEP_ALL_TYPES(GENERAL)
LOCKSTEP_REAL_TYPES(SYMMETRIC)
LOCKSTEP_COMPLEX_TYPES(HERMITIAN)
}
