// General matrix products.
#include <cblas.h>

#include "libraries/blas/handle.h"

using namespace lockstep::libraries;

extern "C" {

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m, int n,
                              int k, const float* alpha, const float* a, int lda, const float* b, int ldb,
                              const float* beta, float* c, int ldc) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  const bool ta = transa != CUBLAS_OP_N, tb = transb != CUBLAS_OP_N;
  if (m < 0 || n < 0 || k < 0 || lda < std::max(1, ta ? k : m) || ldb < std::max(1, tb ? n : k) ||
      ldc < std::max(1, m) || alpha == nullptr || beta == nullptr) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (m == 0 || n == 0) return CUBLAS_STATUS_SUCCESS;
  const float scale = *alpha, keep = *beta;
  Call call;
  call.function = "cublasSgemm_v2";
  call.stream = handle->stream;
  call.operations = 2.0 * m * n * k;
  call.arithmetic = Arithmetic::kFloat32;
  call.memory = {Matrix(Access::kRead, "matrix A", a, sizeof *a, ta ? k : m, ta ? m : k, lda),
                 Matrix(Access::kRead, "matrix B", b, sizeof *b, tb ? n : k, tb ? k : n, ldb),
                 Matrix(keep == 0 ? Access::kWrite : Access::kReadWrite, "matrix C", c, sizeof *c, m, n, ldc)};
  call.run = [=] {
    cblas_sgemm(CblasColMajor, ta ? CblasTrans : CblasNoTrans, tb ? CblasTrans : CblasNoTrans, m, n, k, scale, a, lda,
                b, ldb, keep, c, ldc);
  };
  return Perform(call) == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // extern "C"
