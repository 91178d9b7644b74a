// points: 100 + 10
// Thrust except for Fourier transforms: device pointers, an inner product, a scan, zip and permutation iterators.
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/inner_product.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/permutation_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <thrust/iterator/zip_iterator.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/transform.h>

#include "libraries.h"

template <typename T>
static auto first(const T* d) {
  return thrust::device_pointer_cast(d);
}
template <typename T>
static auto first(T* d) {
  return thrust::device_pointer_cast(d);
}

int libraries1_sum(const int* d_in, unsigned n) { return thrust::reduce(first(d_in), first(d_in) + n); }

struct times {
  __host__ __device__ double operator()(double a, double b) const { return a * b; }
};

float libraries2_norm(const float* d_in, unsigned n) {
  return sqrt(thrust::inner_product(first(d_in), first(d_in) + n, first(d_in), 0.0, thrust::plus<double>(), times()));
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  thrust::inclusive_scan(first(d_in), first(d_in) + n, first(d_out));
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  cublasHandle_t h;
  cublasCreate(&h);
  float one = 1.f, zero = 0.f;
  if (rows * columns > 0)
    cublasSgeam(h, CUBLAS_OP_T, CUBLAS_OP_T, rows, columns, &one, d_in, columns, &zero, d_in, columns, d_out, rows);
  cublasDestroy(h);
}

struct multiply {
  float scale;
  __host__ __device__ cufftComplex operator()(const thrust::tuple<cufftComplex, cufftComplex>& both) const {
    cufftComplex a = thrust::get<0>(both), b = thrust::get<1>(both);
    return make_cuFloatComplex(scale * (a.x * b.x - a.y * b.y), scale * (a.x * b.y + a.y * b.x));
  }
};

struct modulo {
  unsigned length;
  __host__ __device__ unsigned operator()(unsigned i) const { return i % length; }
};

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n * count == 0) return;
  unsigned half = n / 2 + 1;
  thrust::device_vector<cufftComplex> spectra(count * half), filter(half);
  cufftHandle all, one, back;
  cufftPlan1d(&all, n, CUFFT_R2C, count);
  cufftPlan1d(&one, n, CUFFT_R2C, 1);
  cufftPlan1d(&back, n, CUFFT_C2R, count);
  cufftExecR2C(all, (float*)d_signals, thrust::raw_pointer_cast(spectra.data()));
  cufftExecR2C(one, (float*)d_filter, thrust::raw_pointer_cast(filter.data()));
  auto of_each = thrust::make_permutation_iterator(
      filter.begin(), thrust::make_transform_iterator(thrust::make_counting_iterator(0u), modulo{half}));
  auto pairs = thrust::make_zip_iterator(thrust::make_tuple(spectra.begin(), of_each));
  thrust::transform(pairs, pairs + count * half, spectra.begin(), multiply{1.f / n});
  cufftExecC2R(back, thrust::raw_pointer_cast(spectra.data()), d_out);
  for (cufftHandle plan : {all, one, back}) cufftDestroy(plan);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
