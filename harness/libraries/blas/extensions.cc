// What cuBLAS has beyond BLAS: sums and transposes of matrices, products with diagonals, packing of triangles.
#include "libraries/blas/openblas.h"

namespace lockstep::libraries::blas {
namespace {

// A matrix after its operation (transposed or not).
template <typename T>
struct Turned {
  const T* matrix;
  int64_t leading;
  cublasOperation_t operation;
  T At(int64_t row, int64_t column) const {
    if (operation == CUBLAS_OP_N) return matrix[row + column * leading];
    const T value = matrix[column + row * leading];
    return operation == CUBLAS_OP_C ? Conjugate(value) : value;
  }
  Range Of(const char* what, int64_t m, int64_t n) const {
    const bool plain = operation == CUBLAS_OP_N;
    return MatrixOf(Access::kRead, what, matrix, plain ? m : n, plain ? n : m, leading);
  }
};

// C = alpha op(A) + beta op(B). C may be A or B, if that matrix is not transposed and has the same leading dimension.
template <typename T>
cublasStatus_t Geam(const Function& f, int64_t m, int64_t n, const T* alpha, const Turned<T>& a, const T* beta,
                    const Turned<T>& b, T* c, int64_t ldc) {
  const auto rows = [&](const Turned<T>& turned) { return turned.operation == CUBLAS_OP_N ? m : n; };
  const auto in_place = [&](const Turned<T>& turned) {
    return Function::Condition{
        turned.matrix != c || c == nullptr || (turned.operation == CUBLAS_OP_N && turned.leading == ldc),
        "a sum in place needs CUBLAS_OP_N and one leading dimension"};
  };
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({IsOperation(a.operation), IsOperation(b.operation), IsSize(m), IsSize(n), Leads(a.leading, rows(a)),
               Leads(b.leading, rows(b)), Leads(ldc, m), in_place(a), in_place(b)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsGiven(alpha), IsGiven(beta)}));
  const Scalar<T> left(f, alpha), right(f, beta);
  Call call = f.Begin(kMultiplyAdd<T> * static_cast<double>(m) * static_cast<double>(n), kArithmetic<T>);
  left.AddTo(call, "alpha");
  right.AddTo(call, "beta");
  call.more_memory = [=](Memory& memory) {
    return (left() == T(0) || memory.Touch(a.Of("matrix A", m, n))) &&
           (right() == T(0) || memory.Touch(b.Of("matrix B", m, n))) &&
           memory.Touch(MatrixOf(Access::kWrite, "matrix C", c, m, n, ldc));
  };
  call.run = [=] {
    const T by = left(), and_by = right();
    for (int64_t column = 0; column < n; ++column) {
      for (int64_t row = 0; row < m; ++row) {
        c[row + column * ldc] =
            (by == T(0) ? T(0) : by * a.At(row, column)) + (and_by == T(0) ? T(0) : and_by * b.At(row, column));
      }
    }
  };
  return Function::Do(std::move(call));
}

// C = A diag(x) or diag(x) A.
template <typename T>
cublasStatus_t Dgmm(const Function& f, cublasSideMode_t side, int64_t m, int64_t n, const T* a, int64_t lda, const T* x,
                    int64_t incx, T* c, int64_t ldc) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsSide(side), IsSize(m), IsSize(n), Leads(lda, m), Leads(ldc, m)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const bool by_rows = side == CUBLAS_SIDE_LEFT;
  const int64_t count = by_rows ? m : n;
  Call call = f.Begin(kMultiplyAdd<T> / 2 * static_cast<double>(m) * static_cast<double>(n), kArithmetic<T>);
  call.memory = {MatrixOf(Access::kRead, "matrix A", a, m, n, lda), VectorOf(Access::kRead, "vector x", x, count, incx),
                 MatrixOf(Access::kWrite, "matrix C", c, m, n, ldc)};
  call.run = [=] {
    for (int64_t column = 0; column < n; ++column) {
      for (int64_t row = 0; row < m; ++row) {
        c[row + column * ldc] = a[row + column * lda] * At(x, by_rows ? row : column, count, incx);
      }
    }
  };
  return Function::Do(std::move(call));
}

// Converts between packed and full storage of a triangle: f(packed element, full element) for each element.
template <typename Packed, typename Full, typename F>
void ForPacked(cublasFillMode_t uplo, int64_t n, Packed* packed, Full* full, int64_t leading, F f) {
  for (int64_t column = 0; column < n; ++column) {
    const bool upper = uplo == CUBLAS_FILL_MODE_UPPER;
    for (int64_t row = upper ? 0 : column; row < (upper ? column + 1 : n); ++row)
      f(*packed++, full[row + column * leading]);
  }
}

template <typename T>
cublasStatus_t Unpack(const Function& f, cublasFillMode_t uplo, int64_t n, const T* packed, T* a, int64_t lda) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsFill(uplo), IsSize(n), Leads(lda, n)}));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  Call call = f.Begin();
  call.memory = Triangle(Access::kWrite, "matrix A", a, sizeof(T), n, lda, uplo);
  call.memory.push_back(Elements(Access::kRead, "matrix AP", packed, n * (n + 1) / 2));
  call.run = [=] { ForPacked(uplo, n, packed, a, lda, [](const T& from, T& to) { to = from; }); };
  return Function::Do(std::move(call));
}

template <typename T>
cublasStatus_t Pack(const Function& f, cublasFillMode_t uplo, int64_t n, const T* a, int64_t lda, T* packed) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({IsFill(uplo), IsSize(n), Leads(lda, n)}));
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  Call call = f.Begin();
  call.memory = Triangle(Access::kRead, "matrix A", a, sizeof(T), n, lda, uplo);
  call.memory.push_back(Elements(Access::kWrite, "matrix AP", packed, n * (n + 1) / 2));
  call.run = [=] { ForPacked(uplo, n, packed, a, lda, [](T& to, const T& from) { to = from; }); };
  return Function::Do(std::move(call));
}

template <typename T>
Turned(const T*, int64_t, cublasOperation_t) -> Turned<T>;

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define SUMS(S, T, I, _)                                                                                            \
  cublasStatus_t cublas##S##geam##_(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, I m, \
                                    I n, const T* alpha, const T* a, I lda, const T* beta, const T* b, I ldb, T* c, \
                                    I ldc) {                                                                        \
    return Geam({__func__, handle}, m, n, N(alpha), Turned{N(a), lda, transa}, N(beta), Turned{N(b), ldb, transb},  \
                N(c), ldc);                                                                                         \
  }                                                                                                                 \
  cublasStatus_t cublas##S##dgmm##_(cublasHandle_t handle, cublasSideMode_t side, I m, I n, const T* a, I lda,      \
                                    const T* x, I incx, T* c, I ldc) {                                              \
    return Dgmm({__func__, handle}, side, m, n, N(a), lda, N(x), incx, N(c), ldc);                                  \
  }
#define PACKING(S, T)                                                                                         \
  cublasStatus_t cublas##S##tpttr(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* packed, T* a, \
                                  int lda) {                                                                  \
    return Unpack({__func__, handle}, uplo, n, N(packed), N(a), lda);                                         \
  }                                                                                                           \
  cublasStatus_t cublas##S##trttp(cublasHandle_t handle, cublasFillMode_t uplo, int n, const T* a, int lda,   \
                                  T* packed) {                                                                \
    return Pack({__func__, handle}, uplo, n, N(a), lda, N(packed));                                           \
  }

extern "C" {
LOCKSTEP_ALL_TYPES(SUMS)
PACKING(S, float)
PACKING(D, double)
PACKING(C, cuComplex)
PACKING(Z, cuDoubleComplex)
}
