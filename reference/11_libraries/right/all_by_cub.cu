// points: 100 + 10
// CUB for everything except the Fourier transforms; one function gives each algorithm its temporary memory.
#include <cublas_v2.h>
#include <cufft.h>

#include <cmath>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

namespace {

// Calls the algorithm twice: for the size of its memory, and with the memory.
template <typename Algorithm>
void WithTemporary(Algorithm algorithm) {
  size_t bytes = 0;
  algorithm(nullptr, bytes);
  void* d_temporary;
  cudaMalloc(&d_temporary, bytes);
  algorithm(d_temporary, bytes);
  cudaFree(d_temporary);
}

// The algorithm's one result.
template <typename T, typename Algorithm>
T Result(Algorithm algorithm) {
  T* d_result;
  cudaMalloc(&d_result, sizeof(T));
  WithTemporary([&](void* d_temporary, size_t& bytes) { algorithm(d_temporary, bytes, d_result); });
  T result;
  cudaMemcpy(&result, d_result, sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(d_result);
  return result;
}

struct Square {
  __device__ double operator()(float x) const { return double(x) * double(x); }
};
struct Plus {
  __device__ double operator()(double a, double b) const { return a + b; }
};

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

}  // namespace

int libraries1_sum(const int* d_in, unsigned n) {
  return Result<int>([&](void* t, size_t& bytes, int* out) { cub::DeviceReduce::Sum(t, bytes, d_in, out, n); });
}

float libraries2_norm(const float* d_in, unsigned n) {
  const double sum = Result<double>([&](void* t, size_t& bytes, double* out) {
    cub::DeviceReduce::TransformReduce(t, bytes, d_in, out, n, Plus(), Square(), 0.0);
  });
  return float(std::sqrt(sum));
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  WithTemporary([&](void* t, size_t& bytes) { cub::DeviceScan::InclusiveSum(t, bytes, d_in, d_out, n); });
}

// The result is C = 0 * B + 1 * A^T, with C itself as B.
void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  cublasHandle_t handle;
  if (rows == 0 || columns == 0) return;
  cublasCreate(&handle);
  const float alpha = 1, beta = 0;
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, rows, columns, &alpha, d_in, columns, &beta, d_out, rows, d_out, rows);
  cublasDestroy(handle);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned half = n / 2 + 1;
  cufftComplex *d_spectra, *d_filter_spectrum;
  cudaMalloc(&d_spectra, size_t(count) * half * sizeof(cufftComplex));
  cudaMalloc(&d_filter_spectrum, half * sizeof(cufftComplex));
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_R2C, 1);
  cufftExecR2C(plan, const_cast<float*>(d_filter), d_filter_spectrum);
  cufftDestroy(plan);
  cufftPlan1d(&plan, n, CUFFT_R2C, count);
  cufftExecR2C(plan, const_cast<float*>(d_signals), d_spectra);
  cufftDestroy(plan);
  cub::DeviceFor::Bulk(count * half, Multiply{d_spectra, d_filter_spectrum, half, 1.0f / n});
  cufftPlan1d(&plan, n, CUFFT_C2R, count);
  cufftExecC2R(plan, d_spectra, d_out);
  cufftDestroy(plan);
  cudaFree(d_filter_spectrum);
  cudaFree(d_spectra);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
