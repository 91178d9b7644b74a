// gpu: TIMEOUT libraries4_transpose; virtual: WRONG
// A product of matrices with increments of 0 and sizes of billions, by every function that takes an increment.
#include <cublas_v2.h>

#include "libraries.h"

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  const int most = 0x7fffffff;
  const float one = 1;
  float result;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSdot(handle, most, d_in, 0, d_in, 0, &result);
  cublasSaxpy(handle, most, &one, d_in, 0, d_out, 0);
  cublasScopy(handle, most, d_in, 0, d_out, 0);
  cublasSger(handle, most, 1, &one, d_in, 1, d_in, 1, d_out, most);
  cublasSgemmStridedBatched(handle, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, &one, d_in, 1, 0, d_in, 1, 0, &one, d_out, 1, 0,
                            most);
  cublasDestroy(handle);
}

int libraries1_sum(const int*, unsigned) { return 0; }
float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
