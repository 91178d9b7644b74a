// Level 2: updates of a matrix by products of vectors.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

// A += alpha x yᵀ, alpha x xᵀ and the like. Do(the matrix's ranges, …, run) calls run(alpha).
template <typename T, typename Factor>
struct Update {
  Function f;
  const Factor* alpha;
  const T* x;
  int64_t incx;
  const T* y;  // nullptr: only x
  int64_t incy;

  template <typename Run>
  cublasStatus_t Do(std::vector<Range> matrix, double operations, int64_t x_count, int64_t y_count, Run run) const {
    LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsGiven(alpha)}));
    const Scalar<Factor> factor(f, alpha);
    if (factor.Is(Factor(0))) return CUBLAS_STATUS_SUCCESS;
    Call call = f.Begin(operations * kMultiplyAdd<T>, kArithmetic<T>);
    factor.AddTo(call, "alpha");
    call.memory.push_back(VectorOf(Access::kRead, "vector x", x, x_count, incx));
    if (y_count > 0) call.memory.push_back(VectorOf(Access::kRead, "vector y", y, y_count, incy));
    Append(call.memory, std::move(matrix));
    call.run = [factor, run] {
      const Factor scale = factor();
      run(scale);
    };
    return Function::Do(std::move(call));
  }
};
template <typename T, typename Factor>
Update(Function, const Factor*, const T*, int64_t, const T*, int64_t) -> Update<T, Factor>;

template <typename T>
cublasStatus_t Ger(const Update<T, T>& u, bool conjugates, int64_t m, int64_t n, T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(u.f.Check({IsSize(m), IsSize(n), IsIncrement(u.incx), IsIncrement(u.incy), Leads(lda, m)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, m, n, lda, u.incx, u.incy);
  return u.Do({MatrixOf(Access::kReadWrite, "matrix A", a, m, n, lda)}, static_cast<double>(m) * static_cast<double>(n),
              m, n, [=, x = u.x, incx = B(u.incx), y = u.y, incy = B(u.incy)](const T& alpha) {
                (conjugates ? Blas<T>::gerc : Blas<T>::geru)(CblasColMajor, B(m), B(n), V(alpha), x, incx, y, incy, a,
                                                             B(lda));
              });
}

template <typename U>
cublasStatus_t CheckTriangle(const U& u, cublasFillMode_t uplo, int64_t n, bool two) {
  return u.f.Check({IsFill(uplo), IsSize(n), IsIncrement(u.incx), {!two || u.incy != 0, "an increment is 0"}});
}

// f(row, column) of the stored triangle.
template <typename F>
void ForTriangle(cublasFillMode_t uplo, int64_t n, F f) {
  for (int64_t column = 0; column < n; ++column) {
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    for (int64_t row = upper ? 0 : column; row < (upper ? column + 1 : n); ++row) f(row, column);
  }
}

// Updates by one vector; those of Hermitian matrices have a real factor.
template <typename T, typename Factor>
cublasStatus_t Syr(const Update<T, Factor>& u, cublasFillMode_t uplo, int64_t n, T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckTriangle(u, uplo, n, false));
  LOCKSTEP_RETURN_UNLESS_OK(u.f.Check({Leads(lda, n)}));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, n, lda, u.incx);
  return u.Do(Triangle(Access::kReadWrite, "matrix A", a, sizeof(T), n, lda, uplo),
              static_cast<double>(n) * static_cast<double>(n) / 2, n, 0,
              [=, x = u.x, incx = u.incx](const Factor& alpha) {
                if constexpr (kIsComplex<Factor>) {
                  ForTriangle(uplo, n, [&](int64_t row, int64_t column) {
                    a[row + column * lda] += alpha * At(x, row, n, incx) * At(x, column, n, incx);
                  });
                } else {
                  Blas<T>::her(CblasColMajor, Of(uplo), B(n), alpha, x, B(incx), a, B(lda));
                }
              });
}

template <typename T, typename Factor>
cublasStatus_t Spr(const Update<T, Factor>& u, cublasFillMode_t uplo, int64_t n, T* a) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckTriangle(u, uplo, n, false));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, n, u.incx);
  return u.Do({Elements(Access::kReadWrite, "matrix AP", a, n * (n + 1) / 2)},
              static_cast<double>(n) * static_cast<double>(n) / 2, n, 0,
              [=, x = u.x, incx = B(u.incx)](const Factor& alpha) {
                Blas<T>::hpr(CblasColMajor, Of(uplo), B(n), alpha, x, incx, a);
              });
}

// Updates by two vectors.
template <typename T>
cublasStatus_t Syr2(const Update<T, T>& u, bool is_hermitian, cublasFillMode_t uplo, int64_t n, T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckTriangle(u, uplo, n, true));
  LOCKSTEP_RETURN_UNLESS_OK(u.f.Check({Leads(lda, n)}));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, n, lda, u.incx, u.incy);
  return u.Do(Triangle(Access::kReadWrite, "matrix A", a, sizeof(T), n, lda, uplo),
              static_cast<double>(n) * static_cast<double>(n), n, n,
              [=, x = u.x, incx = u.incx, y = u.y, incy = u.incy](const T& alpha) {
                if (kIsComplex<T> && !is_hermitian) {
                  ForTriangle(uplo, n, [&](int64_t row, int64_t column) {
                    a[row + column * lda] += alpha * (At(x, row, n, incx) * At(y, column, n, incy) +
                                                      At(y, row, n, incy) * At(x, column, n, incx));
                  });
                } else {
                  Blas<T>::her2(CblasColMajor, Of(uplo), B(n), V(alpha), x, B(incx), y, B(incy), a, B(lda));
                }
              });
}

template <typename T>
cublasStatus_t Spr2(const Update<T, T>& u, cublasFillMode_t uplo, int64_t n, T* a) {
  LOCKSTEP_RETURN_UNLESS_OK(CheckTriangle(u, uplo, n, true));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, n, u.incx, u.incy);
  return u.Do({Elements(Access::kReadWrite, "matrix AP", a, n * (n + 1) / 2)},
              static_cast<double>(n) * static_cast<double>(n), n, n,
              [=, x = u.x, incx = B(u.incx), y = u.y, incy = B(u.incy)](const T& alpha) {
                Blas<T>::hpr2(CblasColMajor, Of(uplo), B(n), V(alpha), x, incx, y, incy, a);
              });
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define TWO \
  Update { {__func__, handle}, N(alpha), N(x), incx, N(y), incy }
#define ONE \
  Update { {__func__, handle}, N(alpha), N(x), incx, N(x), incx }
#define GER(S, T, I, _, name, conjugates)                                                                     \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, I m, I n, const T* alpha, const T* x, I incx, \
                                         const T* y, I incy, T* a, I lda) {                                   \
    return Ger(TWO, conjugates, m, n, N(a), lda);                                                             \
  }
#define SYR(S, T, F, I, _, name)                                                                            \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const F* alpha, \
                                         const T* x, I incx, T* a, I lda) {                                 \
    return Syr(ONE, uplo, n, N(a), lda);                                                                    \
  }
#define SPR(S, T, F, I, _, name)                                                                            \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const F* alpha, \
                                         const T* x, I incx, T* a) {                                        \
    return Spr(ONE, uplo, n, N(a));                                                                         \
  }
#define SYR2(S, T, I, _, name, is_hermitian)                                                                \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const T* alpha, \
                                         const T* x, I incx, const T* y, I incy, T* a, I lda) {             \
    return Syr2(TWO, is_hermitian, uplo, n, N(a), lda);                                                     \
  }
#define SPR2(S, T, I, _, name)                                                                              \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, I n, const T* alpha, \
                                         const T* x, I incx, const T* y, I incy, T* a) {                    \
    return Spr2(TWO, uplo, n, N(a));                                                                        \
  }
#define REAL_UPDATES(S, T, I, _) \
  GER(S, T, I, _, ger, false)    \
  SPR(S, T, T, I, _, spr)        \
  SPR2(S, T, I, _, spr2)
#define UPDATES(S, T, I, _) \
  SYR(S, T, T, I, _, syr)   \
  SYR2(S, T, I, _, syr2, false)
#define COMPLEX_UPDATES(S, T, I, _)    \
  GER(S, T, I, _, geru, false)         \
  GER(S, T, I, _, gerc, true)          \
  SYR(S, T, decltype(T::x), I, _, her) \
  SPR(S, T, decltype(T::x), I, _, hpr) \
  SYR2(S, T, I, _, her2, true)         \
  SPR2(S, T, I, _, hpr2)

extern "C" {
LOCKSTEP_ALL_TYPES(UPDATES)
LOCKSTEP_REAL_TYPES(REAL_UPDATES)
LOCKSTEP_COMPLEX_TYPES(COMPLEX_UPDATES)
}
