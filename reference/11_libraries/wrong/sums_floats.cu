// verdict: WRONG libraries1_sum
// The initial value is a float, and so are all sums.
#include <cub/device/device_reduce.cuh>

#include "libraries.h"

int libraries1_sum(const int* d_in, unsigned n) {
  float* d_sum;
  cudaMalloc(&d_sum, sizeof(float));
  void* d_temporary = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Reduce(d_temporary, bytes, d_in, d_sum, n, cuda::std::plus<>(), 0.0f);
  cudaMalloc(&d_temporary, bytes);
  cub::DeviceReduce::Reduce(d_temporary, bytes, d_in, d_sum, n, cuda::std::plus<>(), 0.0f);
  float sum;
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_temporary);
  cudaFree(d_sum);
  return sum;
}

float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
