// Everything that allocates or plans is freed by its destructor.
#include "libraries.h"

#include <cublas_v2.h>
#include <cufft.h>

#include <cmath>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

template <class T>
struct Memory {
  explicit Memory(size_t count) { cudaMalloc(&data, count * sizeof(T)); }
  ~Memory() { cudaFree(data); }
  T* data;
};

struct Plan {
  Plan(unsigned n, cufftType type, unsigned count) { cufftPlan1d(&handle, int(n), type, int(count)); }
  ~Plan() { cufftDestroy(handle); }
  cufftHandle handle;
};

int libraries1_sum(const int* d_in, unsigned n) {
  size_t bytes = 0;
  Memory<int> sum(1);
  cub::DeviceReduce::Sum(nullptr, bytes, d_in, sum.data, n);
  Memory<char> temporary(bytes);
  cub::DeviceReduce::Sum(temporary.data, bytes, d_in, sum.data, n);
  int result;
  cudaMemcpy(&result, sum.data, sizeof result, cudaMemcpyDeviceToHost);
  return result;
}

float libraries2_norm(const float* d_in, unsigned n) {
  float result = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSnrm2(handle, int(n), d_in, 1, &result);
  cublasDestroy(handle);
  return result;
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, n);
  Memory<char> temporary(bytes);
  cub::DeviceScan::InclusiveSum(temporary.data, bytes, d_in, d_out, n);
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows * columns == 0) return;
  const int m = int(rows), n = int(columns);
  const float one = 1, zero = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, d_in, n, &zero, d_out, m, d_out, m);
  cublasDestroy(handle);
}

struct Multiply {
  cufftComplex* spectra;
  const cufftComplex* filter;
  unsigned half;
  float scale;
  __device__ void operator()(unsigned i) const {
    const cufftComplex product = cuCmulf(spectra[i], filter[i % half]);
    spectra[i] = make_cuFloatComplex(product.x * scale, product.y * scale);
  }
};

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n * count == 0) return;
  const unsigned half = n / 2 + 1;
  Memory<cufftComplex> spectra(count * half), filter(half);
  const Plan one(n, CUFFT_R2C, 1), many(n, CUFFT_R2C, count), back(n, CUFFT_C2R, count);
  cufftExecR2C(one.handle, const_cast<float*>(d_filter), filter.data);
  cufftExecR2C(many.handle, const_cast<float*>(d_signals), spectra.data);
  cub::DeviceFor::Bulk(count * half, Multiply{spectra.data, filter.data, half, 1.0f / float(n)});
  cufftExecC2R(back.handle, spectra.data, d_out);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
