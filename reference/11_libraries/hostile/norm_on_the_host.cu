// virtual: REJECTED libraries2_norm
// The host computes the norm from a copy; cuBLAS's result is for show.
#include <cublas_v2.h>

#include <cmath>
#include <vector>

#include "libraries.h"

float libraries2_norm(const float* d_in, unsigned n) {
  float shown;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSasum(handle, n, d_in, 1, &shown);
  cublasDestroy(handle);
  std::vector<float> values(n);
  cudaMemcpy(values.data(), d_in, n * sizeof(float), cudaMemcpyDeviceToHost);
  double sum = 0;
  for (float value : values) sum += double(value) * value;
  return static_cast<float>(std::sqrt(sum));
}

int libraries1_sum(const int*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
