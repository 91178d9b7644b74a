// Right on rung 5; one kernel serves the others. Wrong solutions are edits of it.
#include <cublas_v2.h>
#include <cufft.h>

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

struct Multiply {
  cufftComplex* signal;
  const cufftComplex* filter;
  float scale;
  __device__ void operator()(unsigned i) const {
    const cufftComplex product = cuCmulf(signal[i], filter[i]);
    signal[i] = {product.x * scale, product.y * scale};
  }
};

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  if (n == 0) return;
  const unsigned half = n / 2 + 1;
  cufftComplex *d_spectrum, *d_filter_spectrum;
  cudaMalloc(&d_spectrum, half * sizeof(cufftComplex));
  cudaMalloc(&d_filter_spectrum, half * sizeof(cufftComplex));
  cufftHandle forward, inverse;
  cufftPlan1d(&forward, n, CUFFT_R2C, 1);
  cufftPlan1d(&inverse, n, CUFFT_C2R, 1);
  cufftExecR2C(forward, const_cast<float*>(d_signal), d_spectrum);
  cufftExecR2C(forward, const_cast<float*>(d_filter), d_filter_spectrum);
  cub::DeviceFor::Bulk(half, Multiply{d_spectrum, d_filter_spectrum, 1.0f / n});
  cufftExecC2R(inverse, d_spectrum, d_out);
  cufftDestroy(forward);
  cufftDestroy(inverse);
  cudaFree(d_filter_spectrum);
  cudaFree(d_spectrum);
}

void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
