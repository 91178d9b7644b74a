// Assignment 11: Libraries. The solution, in the stub's order.
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/execution_policy.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/reduce.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <cmath>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

// Rung 1: Thrust reads device memory where it is, by way of the execution policy.
int libraries1_sum(const int* d_in, unsigned n) { return thrust::reduce(thrust::device, d_in, d_in + n, 0); }

// Rung 2: squares are made where they are added up, and never stored.
struct Square {
  __device__ double operator()(float x) const { return static_cast<double>(x) * x; }
};

float libraries2_norm(const float* d_in, unsigned n) {
  const double sum = thrust::transform_reduce(thrust::device, d_in, d_in + n, Square(), 0.0, thrust::plus<double>());
  return static_cast<float>(std::sqrt(sum));
}

// Rung 3: CUB says how much memory it needs, then uses it.
void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  if (n == 0) return;
  void* d_temporary = nullptr;
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n);
  cudaMalloc(&d_temporary, bytes);
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n);
  cudaFree(d_temporary);
}

// Rung 4: what is in row order here is, in cuBLAS's column order, a matrix of `columns` rows.
void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  const int m = static_cast<int>(rows), n = static_cast<int>(columns);
  const float one = 1, zero = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, &one, d_in, n, &zero, nullptr, m, d_out, m);
  cublasDestroy(handle);
}

// Rung 5: the transform of a convolution is the product of the transforms. cuFFT's inverse leaves a factor of n.
struct Product {
  float scale;
  __device__ cufftComplex operator()(cufftComplex a, cufftComplex b) const {
    const cufftComplex product = cuCmulf(a, b);
    return {product.x * scale, product.y * scale};
  }
};

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  if (n == 0) return;
  const unsigned half = n / 2 + 1;
  cufftComplex* d_spectra;
  cudaMalloc(&d_spectra, 2 * half * sizeof *d_spectra);
  cufftComplex* const d_filter_spectrum = d_spectra + half;
  cufftHandle forward, backward;
  cufftPlan1d(&forward, static_cast<int>(n), CUFFT_R2C, 1);
  cufftPlan1d(&backward, static_cast<int>(n), CUFFT_C2R, 1);
  // cuFFT's functions take non-const pointers, although out of place they only read.
  cufftExecR2C(forward, const_cast<float*>(d_signal), d_spectra);
  cufftExecR2C(forward, const_cast<float*>(d_filter), d_filter_spectrum);
  thrust::transform(thrust::device, d_spectra, d_spectra + half, d_filter_spectrum, d_spectra,
                    Product{1.0f / static_cast<float>(n)});
  cufftExecC2R(backward, d_spectra, d_out);
  cufftDestroy(forward);
  cufftDestroy(backward);
  cudaFree(d_spectra);
}

// Bonus: a plan of many transforms; each product finds its place in the filter's spectrum.
struct ProductOfMany {
  const cufftComplex* filter;
  unsigned half;
  float scale;
  __device__ cufftComplex operator()(cufftComplex a, unsigned i) const {
    const cufftComplex product = cuCmulf(a, filter[i % half]);
    return {product.x * scale, product.y * scale};
  }
};

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned half = n / 2 + 1, all = count * half;
  cufftComplex* d_spectra;
  cudaMalloc(&d_spectra, (all + half) * sizeof *d_spectra);
  cufftHandle one, many, backward;
  cufftPlan1d(&one, static_cast<int>(n), CUFFT_R2C, 1);
  cufftPlan1d(&many, static_cast<int>(n), CUFFT_R2C, static_cast<int>(count));
  cufftPlan1d(&backward, static_cast<int>(n), CUFFT_C2R, static_cast<int>(count));
  cufftExecR2C(many, const_cast<float*>(d_signals), d_spectra);
  cufftExecR2C(one, const_cast<float*>(d_filter), d_spectra + all);
  thrust::transform(thrust::device, d_spectra, d_spectra + all, thrust::counting_iterator<unsigned>(0), d_spectra,
                    ProductOfMany{d_spectra + all, half, 1.0f / static_cast<float>(n)});
  cufftExecC2R(backward, d_spectra, d_out);
  cufftDestroy(one);
  cufftDestroy(many);
  cufftDestroy(backward);
  cudaFree(d_spectra);
}
