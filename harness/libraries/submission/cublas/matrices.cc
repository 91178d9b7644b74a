// Levels 2 and 3: matrices, in column order.
#include "libraries/submission/cublas/handle.h"

namespace lockstep::libraries::submission {
namespace {

template <typename T>
struct Matrix {
  const T* address;
  int leading;
  bool transposed = false;
  long long stride = 0;

  operator vgpu::LibraryOperand() const { return {AddressOf(address), leading, stride, transposed}; }
};

Function::Condition NotNull(const void* alpha, const void* beta) {
  return {alpha != nullptr && beta != nullptr, "alpha or beta is a null pointer"};
}

template <typename T>
cublasStatus_t Gemv(const Function& f, cublasOperation_t trans, int m, int n, const T* alpha, Matrix<T> a, const T* x,
                    int incx, const T* beta, T* y, int incy) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{IsOperation(trans), "trans is no operation"},
                                     {m >= 0 && n >= 0, "m or n is negative"},
                                     {Holds(a.leading, m), "lda is smaller than m, the rows of A"},
                                     {incx != 0 && incy != 0, "an increment is 0"},
                                     NotNull(alpha, beta)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LibraryOperation operation = f.Begin<T>(LibraryKind::kGemv);
  operation.m = m;
  operation.n = n;
  a.transposed = trans != CUBLAS_OP_N;
  operation.operands = {a, {AddressOf(x), incx}, {AddressOf(y), incy}};
  operation.alpha = f.FactorOf(alpha);
  operation.beta = f.FactorOf(beta);
  return f.Do(operation);
}

template <typename T>
cublasStatus_t Ger(const Function& f, int m, int n, const T* alpha, const T* x, int incx, const T* y, int incy,
                   Matrix<T> a) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{m >= 0 && n >= 0, "m or n is negative"},
                                     {Holds(a.leading, m), "lda is smaller than m, the rows of A"},
                                     {incx != 0 && incy != 0, "an increment is 0"},
                                     NotNull(alpha, alpha)}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LibraryOperation operation = f.Begin<T>(LibraryKind::kGer);
  operation.m = m;
  operation.n = n;
  operation.operands = {a, {AddressOf(x), incx}, {AddressOf(y), incy}};
  operation.alpha = f.FactorOf(alpha);
  return f.Do(operation);
}

// Whether C may share memory with an operand of geam: the operand isn't read, or each of its elements only for the
// element of C that overwrites it.
template <typename T>
bool MayBeSame(const Function& f, const Matrix<T>& operand, const T* factor, const Matrix<T>& c) {
  const bool is_unread = !f.on_device() && *factor == 0;
  return operand.address != c.address || is_unread || (!operand.transposed && operand.leading == c.leading);
}

template <typename T>
cublasStatus_t Geam(const Function& f, cublasOperation_t transa, cublasOperation_t transb, int m, int n, const T* alpha,
                    Matrix<T> a, const T* beta, Matrix<T> b, Matrix<T> c) {
  a.transposed = transa != CUBLAS_OP_N;
  b.transposed = transb != CUBLAS_OP_N;
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({{IsOperation(transa) && IsOperation(transb), "transa or transb is no operation"},
               {m >= 0 && n >= 0, "m or n is negative"},
               NotNull(alpha, beta),
               {Holds(a.leading, a.transposed ? n : m), "lda is smaller than the rows of A as it is stored"},
               {Holds(b.leading, b.transposed ? n : m), "ldb is smaller than the rows of B as it is stored"},
               {Holds(c.leading, m), "ldc is smaller than m, the rows of C"}}));
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{MayBeSame(f, a, alpha, c), "C is A: in place needs CUBLAS_OP_N and ldc == lda"},
                                     {MayBeSame(f, b, beta, c), "C is B: in place needs CUBLAS_OP_N and ldc == ldb"}}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LibraryOperation operation = f.Begin<T>(LibraryKind::kGeam);
  operation.m = m;
  operation.n = n;
  operation.operands = {a, b, c};
  operation.alpha = f.FactorOf(alpha);
  operation.beta = f.FactorOf(beta);
  return f.Do(operation);
}

template <typename T>
cublasStatus_t Dgmm(const Function& f, cublasSideMode_t mode, int m, int n, Matrix<T> a, const T* x, int incx,
                    Matrix<T> c) {
  LOCKSTEP_RETURN_UNLESS_OK(f.Check({{mode == CUBLAS_SIDE_LEFT || mode == CUBLAS_SIDE_RIGHT, "mode is no side"},
                                     {m >= 0 && n >= 0, "m or n is negative"},
                                     {Holds(a.leading, m) && Holds(c.leading, m), "lda or ldc is smaller than m"}}));
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  LibraryOperation operation = f.Begin<T>(LibraryKind::kDgmm);
  operation.m = m;
  operation.n = n;
  operation.operands = {a, {AddressOf(x), incx, 0, mode == CUBLAS_SIDE_LEFT}, c};
  return f.Do(operation);
}

template <typename T>
cublasStatus_t Gemm(const Function& f, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k,
                    const T* alpha, Matrix<T> a, Matrix<T> b, const T* beta, Matrix<T> c, int batch = 1) {
  a.transposed = transa != CUBLAS_OP_N;
  b.transposed = transb != CUBLAS_OP_N;
  LOCKSTEP_RETURN_UNLESS_OK(
      f.Check({{IsOperation(transa) && IsOperation(transb), "transa or transb is no operation"},
               {m >= 0 && n >= 0 && k >= 0 && batch >= 0, "m, n, k or batchCount is negative"},
               NotNull(alpha, beta),
               {Holds(a.leading, a.transposed ? k : m), "lda is smaller than the rows of A as it is stored"},
               {Holds(b.leading, b.transposed ? n : k), "ldb is smaller than the rows of B as it is stored"},
               {Holds(c.leading, m), "ldc is smaller than m, the rows of C"}}));
  if (m == 0 || n == 0 || batch == 0) return CUBLAS_STATUS_SUCCESS;
  LibraryOperation operation = f.Begin<T>(LibraryKind::kGemm);
  operation.m = m;
  operation.n = n;
  operation.k = k;
  operation.batch = batch;
  operation.operands = {a, b, c};
  operation.alpha = f.FactorOf(alpha);
  operation.beta = f.FactorOf(beta);
  return f.Do(operation);
}

}  // namespace
}  // namespace lockstep::libraries::submission

using namespace lockstep::libraries::submission;

#define LOCKSTEP_MATRICES(S, T)                                                                                        \
  cublasStatus_t cublas##S##gemv_v2(cublasHandle_t handle, cublasOperation_t trans, int m, int n, const T* alpha,      \
                                    const T* A, int lda, const T* x, int incx, const T* beta, T* y, int incy) {        \
    return Gemv<T>(Function("cublas" #S "gemv", handle), trans, m, n, alpha, {A, lda}, x, incx, beta, y, incy);        \
  }                                                                                                                    \
  cublasStatus_t cublas##S##ger_v2(cublasHandle_t handle, int m, int n, const T* alpha, const T* x, int incx,          \
                                   const T* y, int incy, T* A, int lda) {                                              \
    return Ger<T>(Function("cublas" #S "ger", handle), m, n, alpha, x, incx, y, incy, {A, lda});                       \
  }                                                                                                                    \
  cublasStatus_t cublas##S##geam(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,     \
                                 int n, const T* alpha, const T* A, int lda, const T* beta, const T* B, int ldb, T* C, \
                                 int ldc) {                                                                            \
    return Geam<T>(Function("cublas" #S "geam", handle), transa, transb, m, n, alpha, {A, lda}, beta, {B, ldb},        \
                   {C, ldc});                                                                                          \
  }                                                                                                                    \
  cublasStatus_t cublas##S##dgmm(cublasHandle_t handle, cublasSideMode_t mode, int m, int n, const T* A, int lda,      \
                                 const T* x, int incx, T* C, int ldc) {                                                \
    return Dgmm<T>(Function("cublas" #S "dgmm", handle), mode, m, n, {A, lda}, x, incx, {C, ldc});                     \
  }                                                                                                                    \
  cublasStatus_t cublas##S##gemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,  \
                                    int n, int k, const T* alpha, const T* A, int lda, const T* B, int ldb,            \
                                    const T* beta, T* C, int ldc) {                                                    \
    return Gemm<T>(Function("cublas" #S "gemm", handle), transa, transb, m, n, k, alpha, {A, lda}, {B, ldb}, beta,     \
                   {C, ldc});                                                                                          \
  }                                                                                                                    \
  cublasStatus_t cublas##S##gemmStridedBatched(                                                                        \
      cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n, int k, const T* alpha,  \
      const T* A, int lda, long long strideA, const T* B, int ldb, long long strideB, const T* beta, T* C, int ldc,    \
      long long strideC, int batchCount) {                                                                             \
    return Gemm<T>(Function("cublas" #S "gemmStridedBatched", handle), transa, transb, m, n, k, alpha,                 \
                   {A, lda, false, strideA}, {B, ldb, false, strideB}, beta, {C, ldc, false, strideC}, batchCount);    \
  }

extern "C" {
LOCKSTEP_MATRICES(S, float)
LOCKSTEP_MATRICES(D, double)
}  // extern "C"
