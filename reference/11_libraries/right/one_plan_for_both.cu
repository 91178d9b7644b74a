// points: 100 + 10
// One plan for signal and filter, which are two arrays of different places. CUB's algorithms take an iterator that
// squares.
#include <cublas_v2.h>
#include <cufft.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>
#include <cmath>
#include <cub/device/device_for.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_scan.cuh>

#include "libraries.h"

namespace {

struct Squared {
  __device__ double operator()(float x) const { return double(x) * x; }
};

struct Multiply {
  float2* rows;
  unsigned half, all;
  float scale;
  __device__ void operator()(unsigned i) const {
    const float2 a = rows[i], b = rows[all + i % half];
    rows[i] = {scale * (a.x * b.x - a.y * b.y), scale * (a.x * b.y + a.y * b.x)};
  }
};

struct Batch {
  const float* d_from;
  float2* d_to;
  unsigned rows;
};

template <typename T, typename Iterator>
T Sum(Iterator first, unsigned n) {
  size_t bytes = 0;
  T* d_sum = nullptr;
  cub::DeviceReduce::Sum(nullptr, bytes, first, d_sum, n);
  const size_t place = (bytes + 255) / 256 * 256;
  char* d_memory;
  cudaMalloc(&d_memory, place + sizeof(T));
  d_sum = reinterpret_cast<T*>(d_memory + place);
  cub::DeviceReduce::Sum(d_memory, bytes, first, d_sum, n);
  T sum;
  cudaMemcpy(&sum, d_sum, sizeof sum, cudaMemcpyDeviceToHost);
  cudaFree(d_memory);
  return sum;
}

}  // namespace

int libraries1_sum(const int* d_in, unsigned n) { return static_cast<int>(Sum<unsigned>(d_in, n)); }

float libraries2_norm(const float* d_in, unsigned n) {
  return static_cast<float>(std::sqrt(Sum<double>(thrust::make_transform_iterator(d_in, Squared()), n)));
}

void libraries3_scan(const int* d_in, int* d_out, unsigned n) {
  if (n == 0) return;
  size_t bytes = 0;
  void* d_temporary = nullptr;
  for (int call = 0; call < 2; ++call) {
    if (call == 1) cudaMalloc(&d_temporary, bytes);
    cub::DeviceScan::InclusiveSum(d_temporary, bytes, d_in, d_out, n);
  }
  cudaFree(d_temporary);
}

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  if (rows == 0 || columns == 0) return;
  struct Shape {
    int rows, columns;
  } const stored{int(columns), int(rows)}, result{stored.columns, stored.rows};
  const float one = 1, zero = 0;
  cublasHandle_t handle;
  cublasCreate(&handle);
  cublasSgeam(handle, CUBLAS_OP_T, CUBLAS_OP_N, result.rows, result.columns, &one, d_in, stored.rows, &zero, d_out,
              result.rows, d_out, result.rows);
  cublasDestroy(handle);
}

// One plan transforms both arrays where they lie: the second is as far from the first as their addresses differ.
void libraries5_filter(const float* d_signal, const float* d_filter, float* d_out, unsigned n) {
  if (n == 0) return;
  float *d_first = const_cast<float*>(std::min(d_signal, d_filter)),
        *d_second = const_cast<float*>(std::max(d_signal, d_filter));
  int length = int(n), half = length / 2 + 1, apart = int(d_second - d_first);
  float2* d_rows;
  cudaMalloc(&d_rows, 2 * half * sizeof(float2));
  cufftHandle both, back;
  cufftPlanMany(&both, 1, &length, &length, 1, apart, &half, 1, half, CUFFT_R2C, 2);
  cufftPlan1d(&back, length, CUFFT_C2R, 1);
  cufftExecR2C(both, d_first, d_rows);
  cub::DeviceFor::Bulk(unsigned(half), Multiply{d_rows, unsigned(half), unsigned(half), 1.0f / float(n)});
  cufftExecC2R(back, d_rows, d_out);
  cufftDestroy(back);
  cufftDestroy(both);
  cudaFree(d_rows);
}

void libraries6_filter_many(const float* d_signals, const float* d_filter, float* d_out, unsigned n, unsigned count) {
  if (n == 0 || count == 0) return;
  const unsigned half = n / 2 + 1, all = half * count;
  float2* d_rows;
  cudaMalloc(&d_rows, (all + half) * sizeof(float2));
  int length = int(n);
  for (const auto& [d_from, d_to, rows] : {Batch{d_signals, d_rows, count}, Batch{d_filter, d_rows + all, 1}}) {
    cufftHandle plan;
    cufftPlanMany(&plan, 1, &length, nullptr, 1, length, nullptr, 1, int(half), CUFFT_R2C, int(rows));
    cufftExecR2C(plan, const_cast<float*>(d_from), d_to);
    cufftDestroy(plan);
  }
  cub::DeviceFor::Bulk(all, Multiply{d_rows, half, all, 1.0f / float(n)});
  cufftHandle back;
  cufftPlan1d(&back, length, CUFFT_C2R, int(count));
  cufftExecC2R(back, d_rows, d_out);
  cufftDestroy(back);
  cudaFree(d_rows);
}
