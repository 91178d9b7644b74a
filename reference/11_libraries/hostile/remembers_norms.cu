// virtual: WRONG libraries2_norm
// Keeps the norm of each length, and gives it again.
#include <cublas_v2.h>

#include <map>

#include "libraries.h"

float libraries2_norm(const float* d_in, unsigned n) {
  static std::map<unsigned, float> known;
  const auto found = known.find(n);
  cublasHandle_t handle;
  cublasCreate(&handle);
  float norm = 0;
  if (found == known.end()) {
    cublasSnrm2(handle, n, d_in, 1, &norm);
    known[n] = norm;
  } else {
    cublasSasum(handle, n, d_in, 1, &norm);
    norm = found->second;
  }
  cublasDestroy(handle);
  return norm;
}

int libraries1_sum(const int*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
