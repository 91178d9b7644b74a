// Level 3: symmetric and Hermitian products and updates.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

double Product3(int64_t a, int64_t b, int64_t c) {
  return static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
}

// C = alpha A B + beta C or alpha B A + beta C, A symmetric or Hermitian.
template <typename T>
cublasStatus_t Symm(const Function& f, bool is_hermitian, cublasSideMode_t side, cublasFillMode_t uplo, int64_t m,
                    int64_t n, const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb, const T* beta, T* c,
                    int64_t ldc) {
  const int64_t order = side == CUBLAS_SIDE_LEFT ? m : n;
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({IsSide(side), IsFill(uplo), IsSize(m), IsSize(n), Leads(lda, order), Leads(ldb, m), Leads(ldc, m)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsGiven(alpha), IsGiven(beta), HasMemory(c)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(f, m, n, lda, ldb, ldc);
  const Scalar<T> scale(f, alpha), keep(f, beta);
  Call call = f.Begin(kMultiplyAdd<T> * Product3(m, n, order), kArithmetic<T>);
  scale.AddTo(call, "alpha");
  if (!scale.Is(T(0))) {
    Append(call.memory, Triangle(Access::kRead, "matrix A", a, sizeof(T), order, lda, uplo));
    call.memory.push_back(MatrixOf(Access::kRead, "matrix B", b, m, n, ldb));
  }
  AddOutput<T>(call, keep, MatrixOf(Access::kWrite, "matrix C", c, m, n, ldc));
  call.run = [=] {
    const T by = scale(), before = keep();
    if constexpr (kIsComplex<T>) {
      if (is_hermitian) {
        Blas<T>::hemm(CblasColMajor, Of(side), Of(uplo), B(m), B(n), V(by), a, B(lda), b, B(ldb), V(before), c, B(ldc));
        return;
      }
    }
    Blas<T>::symm(CblasColMajor, Of(side), Of(uplo), B(m), B(n), V(by), a, B(lda), b, B(ldb), V(before), c, B(ldc));
  };
  return Function::Do(std::move(call));
}

// An update of a triangle of C, of order n, by products of matrices with sides n and k.
struct Updated {
  Function f;
  cublasFillMode_t uplo;
  cublasOperation_t trans;
  int64_t n, k;

  bool is_plain() const { return trans == CUBLAS_OP_N; }
  int64_t rows() const { return is_plain() ? n : k; }
  int64_t columns() const { return is_plain() ? k : n; }
  // As in NVIDIA's, CUBLAS_OP_T and CUBLAS_OP_C mean the same: in Hermitian updates with conjugation, else without.
  CBLAS_TRANSPOSE Operation(bool conjugates) const {
    return is_plain() ? CblasNoTrans : conjugates ? CblasConjTrans : CblasTrans;
  }
  cublasStatus_t Check(int64_t lda, int64_t ldb, int64_t ldc) const {
    return f.Check({IsFill(uplo), IsOperation(trans), IsSize(n), IsSize(k), Leads(lda, rows()), Leads(ldb, rows()),
                    Leads(ldc, n)});
  }
};

// C = alpha A Aᵀ + beta C; Hermitian updates have real factors.
template <typename T, typename Factor>
cublasStatus_t Syrk(const Updated& u, bool is_hermitian, const Factor* alpha, const T* a, int64_t lda,
                    const Factor* beta, T* c, int64_t ldc) {
  LOCKSTEP_RETURN_UNLESS_OK(u.Check(lda, lda, ldc));
  if (u.n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(u.f.Check({IsGiven(alpha), IsGiven(beta), HasMemory(c)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, u.n, u.k, lda, ldc);
  const Scalar<Factor> scale(u.f, alpha), keep(u.f, beta);
  Call call = u.f.Begin(kMultiplyAdd<T> * Product3(u.n, u.n, u.k) / 2, kArithmetic<T>);
  scale.AddTo(call, "alpha");
  if (!scale.Is(Factor(0)) && u.k > 0) {
    call.memory.push_back(MatrixOf(Access::kRead, "matrix A", a, u.rows(), u.columns(), lda));
  }
  AddOutputs<T>(call, keep, Triangle(Access::kWrite, "matrix C", c, sizeof(T), u.n, ldc, u.uplo));
  call.run = [=] {
    const Factor by = scale(), before = keep();
    if constexpr (kIsComplex<T> && !kIsComplex<Factor>) {
      Blas<T>::herk(CblasColMajor, Of(u.uplo), u.Operation(true), B(u.n), B(u.k), by, a, B(lda), before, c, B(ldc));
    } else {
      Blas<T>::syrk(CblasColMajor, Of(u.uplo), u.Operation(is_hermitian), B(u.n), B(u.k), V(by), a, B(lda), V(before),
                    c, B(ldc));
    }
  };
  return Function::Do(std::move(call));
}

// C = alpha A Bᵀ + beta C, only in the stored triangle: syrkx and herkx, whose callers know that A Bᵀ is symmetric.
template <typename T, typename Keep>
void MultiplyTriangle(const Updated& u, bool conjugates, const T& alpha, const T* a, int64_t lda, const T* b,
                      int64_t ldb, const Keep& beta, T* c, int64_t ldc) {
  std::vector<T> product(static_cast<size_t>(u.n * u.n));
  const T none = 0;
  const CBLAS_TRANSPOSE turned = conjugates ? CblasConjTrans : CblasTrans;
  Blas<T>::gemm(CblasColMajor, u.is_plain() ? CblasNoTrans : turned, u.is_plain() ? turned : CblasNoTrans, B(u.n),
                B(u.n), B(u.k), V(alpha), a, B(lda), b, B(ldb), V(none), product.data(), B(u.n));
  for (int64_t column = 0; column < u.n; ++column) {
    const bool upper = u.uplo == CUBLAS_FILL_MODE_UPPER;
    for (int64_t row = upper ? 0 : column; row < (upper ? column + 1 : u.n); ++row) {
      T& to = c[row + column * ldc];
      to = product[row + column * u.n] + (beta == Keep(0) ? T(0) : beta * to);
      if (conjugates && row == column) to = std::real(to);
    }
  }
}

// C = alpha (A Bᵀ + B Aᵀ) + beta C; `half`: without the second product. Hermitian updates have a real beta.
template <typename T, typename Keep>
cublasStatus_t Syr2k(const Updated& u, bool half, const T* alpha, const T* a, int64_t lda, const T* b, int64_t ldb,
                     const Keep* beta, T* c, int64_t ldc) {
  LOCKSTEP_RETURN_UNLESS_OK(u.Check(lda, ldb, ldc));
  if (u.n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(u.f.Check({IsGiven(alpha), IsGiven(beta)}));
  LOCKSTEP_REFUSE_UNLESS_FIT(u.f, u.n, u.k, lda, ldb, ldc);
  constexpr bool kConjugates = kIsComplex<T> && !kIsComplex<Keep>;
  const Scalar<T> scale(u.f, alpha);
  const Scalar<Keep> keep(u.f, beta);
  Call call = u.f.Begin(kMultiplyAdd<T> * Product3(u.n, u.n, u.k) / (half ? 2 : 1), kArithmetic<T>);
  scale.AddTo(call, "alpha");
  if (!scale.Is(T(0)) && u.k > 0) {
    call.memory.push_back(MatrixOf(Access::kRead, "matrix A", a, u.rows(), u.columns(), lda));
    call.memory.push_back(MatrixOf(Access::kRead, "matrix B", b, u.rows(), u.columns(), ldb));
  }
  AddOutputs<T>(call, keep, Triangle(Access::kWrite, "matrix C", c, sizeof(T), u.n, ldc, u.uplo));
  call.run = [=] {
    const T by = scale();
    const Keep before = keep();
    if (half) {
      MultiplyTriangle(u, kConjugates, by, a, lda, b, ldb, before, c, ldc);
    } else if constexpr (kConjugates) {
      Blas<T>::her2k(CblasColMajor, Of(u.uplo), u.Operation(true), B(u.n), B(u.k), V(by), a, B(lda), b, B(ldb), before,
                     c, B(ldc));
    } else {
      Blas<T>::syr2k(CblasColMajor, Of(u.uplo), u.Operation(false), B(u.n), B(u.k), V(by), a, B(lda), b, B(ldb),
                     V(before), c, B(ldc));
    }
  };
  return Function::Do(std::move(call));
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define SYMM(S, T, I, _, name, is_hermitian)                                                                       \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, cublasSideMode_t side, cublasFillMode_t uplo, I m, \
                                         I n, const T* alpha, const T* a, I lda, const T* b, I ldb, const T* beta, \
                                         T* c, I ldc) {                                                            \
    return Symm({__func__, handle}, is_hermitian, side, uplo, m, n, N(alpha), N(a), lda, N(b), ldb, N(beta), N(c), \
                ldc);                                                                                              \
  }
#define SYRK(S, T, F, I, _, name, is_hermitian)                                                                      \
  cublasStatus_t cublas##S##name##_v2##_(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, I n, \
                                         I k, const F* alpha, const T* a, I lda, const F* beta, T* c, I ldc) {       \
    return Syrk({{__func__, handle}, uplo, trans, n, k}, is_hermitian, N(alpha), N(a), lda, N(beta), N(c), ldc);     \
  }
#define SYR2K(S, T, F, I, _, name, half)                                                                             \
  cublasStatus_t cublas##S##name##_(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, I n, I k, \
                                    const T* alpha, const T* a, I lda, const T* b, I ldb, const F* beta, T* c,       \
                                    I ldc) {                                                                         \
    return Syr2k({{__func__, handle}, uplo, trans, n, k}, half, N(alpha), N(a), lda, N(b), ldb, N(beta), N(c), ldc); \
  }
// Supports only single precision; other types of matrices are refused.
#define UPDATE_EX(name, F, I, _, is_hermitian)                                                                      \
  cublasStatus_t cublas##name##_(cublasHandle_t handle, cublasFillMode_t uplo, cublasOperation_t trans, I n, I k,   \
                                 const F* alpha, const void* a, cudaDataType a_type, I lda, const F* beta, void* c, \
                                 cudaDataType c_type, I ldc) {                                                      \
    const Updated u{{__func__, handle}, uplo, trans, n, k};                                                         \
    if (a_type != CUDA_C_32F || c_type != CUDA_C_32F) return u.f.Missing("this combination of types");              \
    return Syrk(u, is_hermitian, N(alpha), static_cast<const std::complex<float>*>(a), lda, N(beta),                \
                static_cast<std::complex<float>*>(c), ldc);                                                         \
  }
#define UPDATES_EX(I, _)                       \
  UPDATE_EX(CsyrkEx, cuComplex, I, _, false)   \
  UPDATE_EX(Csyrk3mEx, cuComplex, I, _, false) \
  UPDATE_EX(CherkEx, float, I, _, true)        \
  UPDATE_EX(Cherk3mEx, float, I, _, true)
#define SYMMETRIC(S, T, I, _)           \
  SYMM(S, T, I, _, symm, false)         \
  SYRK(S, T, T, I, _, syrk, false)      \
  SYR2K(S, T, T, I, _, syr2k_v2, false) \
  SYR2K(S, T, T, I, _, syrkx, true)
#define HERMITIAN(S, T, I, _)                        \
  SYMM(S, T, I, _, hemm, true)                       \
  SYRK(S, T, decltype(T::x), I, _, herk, true)       \
  SYR2K(S, T, decltype(T::x), I, _, her2k_v2, false) \
  SYR2K(S, T, decltype(T::x), I, _, herkx, true)

extern "C" {
LOCKSTEP_ALL_TYPES(SYMMETRIC)
LOCKSTEP_COMPLEX_TYPES(HERMITIAN)
UPDATES_EX(int, )
UPDATES_EX(int64_t, _64)
}
