// verdict: SLOW libraries5_filter
// Takes real numbers for complex ones: twice as much to transform, and two passes more.
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

struct Widen {
  const float* in;
  cufftComplex* out;
  __device__ void operator()(unsigned i) const { out[i] = {in[i], 0}; }
};

struct Narrow {
  const cufftComplex* in;
  float* out;
  float scale;
  __device__ void operator()(unsigned i) const { out[i] = in[i].x * scale; }
};

struct Multiply {
  cufftComplex* signal;
  const cufftComplex* filter;
  __device__ void operator()(unsigned i) const { signal[i] = cuCmulf(signal[i], filter[i]); }
};

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  if (n == 0) return;
  cufftComplex *d_complex, *d_complex_filter;
  cudaMalloc(&d_complex, n * sizeof(cufftComplex));
  cudaMalloc(&d_complex_filter, n * sizeof(cufftComplex));
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_C2C, 1);
  cub::DeviceFor::Bulk(n, Widen{d_signal, d_complex});
  cub::DeviceFor::Bulk(n, Widen{d_filter, d_complex_filter});
  cufftExecC2C(plan, d_complex, d_complex, CUFFT_FORWARD);
  cufftExecC2C(plan, d_complex_filter, d_complex_filter, CUFFT_FORWARD);
  cub::DeviceFor::Bulk(n, Multiply{d_complex, d_complex_filter});
  cufftExecC2C(plan, d_complex, d_complex, CUFFT_INVERSE);
  cub::DeviceFor::Bulk(n, Narrow{d_complex, d_out, 1.0f / n});
  cufftDestroy(plan);
  cudaFree(d_complex_filter);
  cudaFree(d_complex);
}

void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
