// Right on rung 2; one kernel serves the others. Wrong solutions are edits of it.
#include <cublas_v2.h>

#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

int libraries1_sum(const int* d_in, unsigned n) {
  int* d_sum;
  cudaMalloc(&d_sum, sizeof(int));
  void* d_temporary = nullptr;
  size_t bytes = 0;
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in, d_sum, n);
  cudaMalloc(&d_temporary, bytes);
  cub::DeviceReduce::Sum(d_temporary, bytes, d_in, d_sum, n);
  int sum;
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_temporary);
  cudaFree(d_sum);
  return sum;
}

float libraries2_norm(const float* d_in, unsigned n) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  float norm;
  cublasSnrm2(handle, n, d_in, 1, &norm);
  cublasDestroy(handle);
  return norm;
}

void libraries3_scan(const int*, int*, unsigned) {}
void libraries4_transpose(const float*, float*, unsigned, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
