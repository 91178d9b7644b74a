// verdict: UNINIT libraries4_transpose
// Adds what the result begins with.
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

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  void* d_temporary = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n);
  cudaMalloc(&d_temporary, bytes);
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n);
  cudaFree(d_temporary);
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  const float one = 1, zero = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &one, d_in, columns, &one, d_out, rows, d_out, rows);
  cublasDestroy(handle);
}

void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
