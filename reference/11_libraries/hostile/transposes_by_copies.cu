// virtual: REJECTED libraries4_transpose
// cudaMemcpy2D transposes, column by column; two operations of cuBLAS that change nothing read the input and write the
// result, so that kernels look busy.
#include <cublas_v2.h>

#include "libraries.h"

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  const size_t element = sizeof(float);
  for (unsigned c = 0; c < columns; ++c) {
    cudaMemcpy2DAsync(d_out + size_t(c) * rows, element, d_in + c, columns * element, element, rows,
                      cudaMemcpyDeviceToDevice);
  }
  if (rows == 0 || columns == 0) return;
  const float one = 1;
  float ignored;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSasum(handle, rows * columns, d_in, 1, &ignored);
  cublasSscal(handle, rows * columns, &one, d_out, 1);
  cublasDestroy(handle);
}

int libraries1_sum(const int*, unsigned) { return 0; }
float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
