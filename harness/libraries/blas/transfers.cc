// Copies of vectors and matrices between host and device.

namespace lockstep::libraries::blas {
namespace {

struct Sides {
  cudaMemcpyKind kind;
  bool is_async;
  cudaStream_t stream;
};

cublasStatus_t Copy(const Sides& sides, int64_t rows, int64_t columns, int64_t element, const void* from,
                    int64_t from_pitch, void* to, int64_t to_pitch) {
  const auto width = static_cast<size_t>(rows * element), height = static_cast<size_t>(columns);
  const auto to_bytes = static_cast<size_t>(to_pitch * element), from_bytes = static_cast<size_t>(from_pitch * element);
  const cudaError_t error =
      sides.is_async ? cudaMemcpy2DAsync(to, to_bytes, from, from_bytes, width, height, sides.kind, sides.stream)
                     : cudaMemcpy2D(to, to_bytes, from, from_bytes, width, height, sides.kind);
  return error == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_MAPPING_ERROR;
}

cublasStatus_t CopyVector(const char* function, const Sides& sides, int64_t n, int64_t element, const void* from,
                          int64_t from_increment, void* to, int64_t to_increment) {
  const CalledAs named(function);
  if (from_increment <= 0 || to_increment <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (element <= 0) return CUBLAS_STATUS_INVALID_VALUE;
  if (n == 0) return CUBLAS_STATUS_SUCCESS;
  if (n < 0) return CUBLAS_STATUS_MAPPING_ERROR;
  return Copy(sides, 1, n, element, from, from_increment, to, to_increment);
}

cublasStatus_t CopyMatrix(const char* function, const Sides& sides, int64_t rows, int64_t columns, int64_t element,
                          const void* from, int64_t from_leading, void* to, int64_t to_leading) {
  const CalledAs named(function);
  if (rows < 0 || columns < 0 || element <= 0 || from_leading <= 0 || to_leading <= 0) {
    return CUBLAS_STATUS_INVALID_VALUE;
  }
  if (rows == 0 || columns == 0) return CUBLAS_STATUS_SUCCESS;
  return Copy(sides, rows, columns, element, from, from_leading, to, to_leading);
}

}  // namespace
}  // namespace lockstep::libraries::blas

using namespace lockstep::libraries::blas;

#define TRANSFERS(I, suffix)                                                                                       \
  cublasStatus_t cublasSetVector##suffix(I n, I element, const void* x, I incx, void* y, I incy) {                 \
    return CopyVector(__func__, {cudaMemcpyHostToDevice, false, nullptr}, n, element, x, incx, y, incy);           \
  }                                                                                                                \
  cublasStatus_t cublasGetVector##suffix(I n, I element, const void* x, I incx, void* y, I incy) {                 \
    return CopyVector(__func__, {cudaMemcpyDeviceToHost, false, nullptr}, n, element, x, incx, y, incy);           \
  }                                                                                                                \
  cublasStatus_t cublasSetMatrix##suffix(I rows, I columns, I element, const void* a, I lda, void* b, I ldb) {     \
    return CopyMatrix(__func__, {cudaMemcpyHostToDevice, false, nullptr}, rows, columns, element, a, lda, b, ldb); \
  }                                                                                                                \
  cublasStatus_t cublasGetMatrix##suffix(I rows, I columns, I element, const void* a, I lda, void* b, I ldb) {     \
    return CopyMatrix(__func__, {cudaMemcpyDeviceToHost, false, nullptr}, rows, columns, element, a, lda, b, ldb); \
  }                                                                                                                \
  cublasStatus_t cublasSetVectorAsync##suffix(I n, I element, const void* x, I incx, void* y, I incy,              \
                                              cudaStream_t stream) {                                               \
    return CopyVector(__func__, {cudaMemcpyHostToDevice, true, stream}, n, element, x, incx, y, incy);             \
  }                                                                                                                \
  cublasStatus_t cublasGetVectorAsync##suffix(I n, I element, const void* x, I incx, void* y, I incy,              \
                                              cudaStream_t stream) {                                               \
    return CopyVector(__func__, {cudaMemcpyDeviceToHost, true, stream}, n, element, x, incx, y, incy);             \
  }                                                                                                                \
  cublasStatus_t cublasSetMatrixAsync##suffix(I rows, I columns, I element, const void* a, I lda, void* b, I ldb,  \
                                              cudaStream_t stream) {                                               \
    return CopyMatrix(__func__, {cudaMemcpyHostToDevice, true, stream}, rows, columns, element, a, lda, b, ldb);   \
  }                                                                                                                \
  cublasStatus_t cublasGetMatrixAsync##suffix(I rows, I columns, I element, const void* a, I lda, void* b, I ldb,  \
                                              cudaStream_t stream) {                                               \
    return CopyMatrix(__func__, {cudaMemcpyDeviceToHost, true, stream}, rows, columns, element, a, lda, b, ldb);   \
  }

extern "C" {
TRANSFERS(int, )
TRANSFERS(int64_t, _64)
}
