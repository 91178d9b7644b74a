// verdict: COMPILE
// Leaves out the argument for the norm's result.
#include <cublas_v2.h>

#include "libraries.h"

float libraries2_norm(const float* d_in, unsigned n) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float norm = cublasSnrm2(handle, n, d_in, 1);
  cublasDestroy(handle);
  return norm;
}

int libraries1_sum(const int*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
