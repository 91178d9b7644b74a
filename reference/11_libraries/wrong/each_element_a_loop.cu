// verdict: TIMEOUT libraries5_filter
// No transform: a loop over the filter for each element.
#include <cublas_v2.h>

#include <cub/device/device_for.cuh>
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
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_T, rows, columns, &one, d_in, columns, &zero, d_in, columns, d_out, rows);
  cublasDestroy(handle);
}

struct Filter {
  const float *signal, *filter;
  float* out;
  unsigned n;
  __device__ void operator()(unsigned i) const {
    double sum = 0;
    for (unsigned k = 0; k < n; ++k) sum += static_cast<double>(filter[k]) * signal[i >= k ? i - k : i + n - k];
    out[i] = sum;
  }
};

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  cub::DeviceFor::Bulk(n, Filter{d_signal, d_filter, d_out, n});
}

void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
