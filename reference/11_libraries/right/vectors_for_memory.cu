// points: 100 + 10
// Thrust vectors for all memory, also for CUB's, and one variable for all plans in turn. Squares are floats.
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/functional.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/transform.h>
#include <thrust/transform_reduce.h>

#include <cub/cub.cuh>

#include "libraries.h"

struct square {
  __host__ __device__ float operator()(const float& x) const { return x * x; }
};

struct product {
  const cufftComplex* filter;
  unsigned half;
  float scale;
  __host__ __device__ cufftComplex operator()(const cufftComplex& a, unsigned i) const {
    const cufftComplex b = filter[i % half];
    return make_cuComplex(scale * (a.x * b.x - a.y * b.y), scale * (a.x * b.y + a.y * b.x));
  }
};

int libraries1_sum(const int* d_in, unsigned n) {
  thrust::device_ptr<const int> p(d_in);
  return thrust::reduce(p, p + n, 0, thrust::plus<int>());
}

float libraries2_norm(const float* d_in, unsigned n) {
  thrust::device_ptr<const float> p(d_in);
  return sqrtf(thrust::transform_reduce(p, p + n, square(), 0.0f, thrust::plus<float>()));
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  size_t bytes = 0;
  cub::DeviceScan::InclusiveSum(nullptr, bytes, d_in, d_out, (int)n);
  thrust::device_vector<char> temporary(bytes);
  cub::DeviceScan::InclusiveSum(thrust::raw_pointer_cast(temporary.data()), bytes, d_in, d_out, (int)n);
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  cublasHandle_t handle;
  float one = 1, zero = 0;
  cublasCreate(&handle);
  if (rows && columns)
    cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_T, rows, columns, &one, d_in, columns, &zero, d_in, columns, d_out,
                rows);
  cublasDestroy(handle);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n * count == 0) return;
  const unsigned half = n / 2 + 1, all = half * count;
  thrust::device_vector<cufftComplex> spectra(all), filter(half);
  cufftComplex* const z = thrust::raw_pointer_cast(spectra.data());
  cufftComplex* const f = thrust::raw_pointer_cast(filter.data());
  cufftHandle plan;
  cufftPlan1d(&plan, n, CUFFT_R2C, 1);
  cufftExecR2C(plan, (float*)d_filter, f);
  cufftDestroy(plan);
  cufftPlan1d(&plan, n, CUFFT_R2C, count);
  cufftExecR2C(plan, (float*)d_signals, z);
  cufftDestroy(plan);
  thrust::transform(thrust::device, z, z + all, thrust::counting_iterator<unsigned>(0), z, product{f, half, 1.0f / n});
  cufftPlan1d(&plan, n, CUFFT_C2R, count);
  cufftExecC2R(plan, z, d_out);
  cufftDestroy(plan);
}

void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  libraries6_filter_many(d_signal, d_filter, d_out, n, 1);
}
