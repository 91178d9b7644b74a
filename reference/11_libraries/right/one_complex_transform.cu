// points: 100 + 10
// The signal is the real part of one complex transform, and the filter the imaginary part: both spectra are in the
// result. Signals are filtered in pairs too, as real and imaginary parts of numbers that the filter, being real, keeps
// apart.
#include <cublas_v2.h>
#include <cufft.h>

#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

namespace {

// The result is at the start of the algorithm's memory: one allocation for both.
constexpr size_t kResult = 256;

struct Interleave {
  const float *d_re, *d_im;
  cufftComplex* d_out;
  __device__ void operator()(unsigned i) const { d_out[i] = {d_re[i], d_im[i]}; }
};

// Of z = a + i b the spectrum at k is A + i B, and that at n - k is the conjugate of A - i B.
struct ProductOfBoth {
  const cufftComplex* d_both;
  cufftComplex* d_product;
  unsigned n;
  float scale;
  __device__ void operator()(unsigned k) const {
    const cufftComplex p = d_both[k], q = cuConjf(d_both[k == 0 ? 0 : n - k]);
    const cufftComplex square_p = cuCmulf(p, p), square_q = cuCmulf(q, q);
    // (p^2 - q^2) / (4 i)
    const float re = square_p.x - square_q.x, im = square_p.y - square_q.y;
    d_product[k] = {im * scale / 4, -re * scale / 4};
  }
};

struct Pairs {
  const float* d_in;
  cufftComplex* d_out;
  unsigned n, count;
  __device__ void operator()(unsigned i) const {
    const unsigned first = 2 * (i / n), at = i % n;
    d_out[i] = {d_in[first * n + at], first + 1 < count ? d_in[(first + 1) * n + at] : 0};
  }
};
struct Separate {
  const cufftComplex* d_in;
  float* d_out;
  unsigned n, count;
  float scale;
  __device__ void operator()(unsigned i) const {
    const unsigned first = 2 * (i / n), at = i % n;
    d_out[first * n + at] = d_in[i].x * scale;
    if (first + 1 < count) d_out[(first + 1) * n + at] = d_in[i].y * scale;
  }
};
struct Multiply {
  cufftComplex* d_spectra;
  const cufftComplex* d_filter;
  unsigned n;
  __device__ void operator()(unsigned i) const { d_spectra[i] = cuCmulf(d_spectra[i], d_filter[i % n]); }
};
struct Widen {
  const float* d_in;
  cufftComplex* d_out;
  __device__ void operator()(unsigned i) const { d_out[i] = {d_in[i], 0}; }
};

}  // namespace

int libraries1_sum(const int* d_in, unsigned n) {
  size_t bytes = 0;
  cub::DeviceReduce::Sum(nullptr, bytes, d_in, static_cast<int*>(nullptr), n);
  char* d_memory;
  cudaMalloc(&d_memory, kResult + bytes);
  int sum, *d_sum = reinterpret_cast<int*>(d_memory);
  cub::DeviceReduce::Sum(d_memory + kResult, bytes, d_in, d_sum, n);
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_memory);
  return sum;
}

float libraries2_norm(const float* d_in, unsigned n) {
  cublasHandle_t handle;
  cublasCreate(&handle);
  float norm = 0;
  cublasSnrm2(handle, static_cast<int>(n), d_in, 1, &norm);
  cublasDestroy(handle);
  return norm;
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  size_t bytes = 0;
  if (cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, n) != cudaSuccess) return;
  void* d_temporary = nullptr;
  if (cudaMalloc(&d_temporary, bytes) != cudaSuccess) return;
  cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n);
  cudaFree(d_temporary);
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  cublasHandle_t handle;
  cublasCreate(&handle);
  const float one = 1, zero = 0;
  cublasSgeam(handle, CUBLAS_OP_C, CUBLAS_OP_C, rows, columns, &one, d_in, columns, &zero, d_in, columns, d_out, rows);
  cublasDestroy(handle);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  if (n == 0) return;
  cufftComplex *d_both, *d_product;
  cudaMalloc(&d_both, n * sizeof *d_both);
  cudaMalloc(&d_product, (n / 2 + 1) * sizeof *d_product);
  cufftHandle plan, back;
  cufftPlan1d(&plan, n, CUFFT_C2C, 1);
  cufftPlan1d(&back, n, CUFFT_C2R, 1);
  cub::DeviceFor::Bulk(n, Interleave{d_signal, d_filter, d_both});
  cufftExecC2C(plan, d_both, d_both, CUFFT_FORWARD);
  cub::DeviceFor::Bulk(n / 2 + 1, ProductOfBoth{d_both, d_product, n, 1.0f / n});
  cufftExecC2R(back, d_product, d_out);
  cufftDestroy(back);
  cufftDestroy(plan);
  cudaFree(d_product);
  cudaFree(d_both);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned pairs = (count + 1) / 2;
  cufftComplex *d_pairs, *d_filter_spectrum;
  cudaMalloc(&d_pairs, size_t(pairs) * n * sizeof *d_pairs);
  cudaMalloc(&d_filter_spectrum, n * sizeof *d_filter_spectrum);
  cufftHandle all, one;
  cufftPlan1d(&all, n, CUFFT_C2C, pairs);
  cufftPlan1d(&one, n, CUFFT_C2C, 1);
  cub::DeviceFor::Bulk(pairs * n, Pairs{d_signals, d_pairs, n, count});
  cub::DeviceFor::Bulk(n, Widen{d_filter, d_filter_spectrum});
  cufftExecC2C(all, d_pairs, d_pairs, CUFFT_FORWARD);
  cufftExecC2C(one, d_filter_spectrum, d_filter_spectrum, CUFFT_FORWARD);
  cub::DeviceFor::Bulk(pairs * n, Multiply{d_pairs, d_filter_spectrum, n});
  cufftExecC2C(all, d_pairs, d_pairs, CUFFT_INVERSE);
  cub::DeviceFor::Bulk(pairs * n, Separate{d_pairs, d_out, n, count, 1.0f / n});
  cufftDestroy(one);
  cufftDestroy(all);
  cudaFree(d_filter_spectrum);
  cudaFree(d_pairs);
}
