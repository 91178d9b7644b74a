// verdict: BOUNDS libraries1_sum
// Gives CUB the address of a host variable for its result.
#include <cub/device/device_reduce.cuh>

#include "libraries.h"

int libraries1_sum(const int* d_in, unsigned n) {
  int sum;
  void* d_temporary = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in, &sum, n);
  cudaMalloc(&d_temporary, bytes);
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in, &sum, n);
  cudaFree(d_temporary);
  return sum;
}

float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
