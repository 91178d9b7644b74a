// Grace Hopper. No time left for the bonus.

#include <algorithm>
#include <vector>

#include "coalescing.h"

static const unsigned kThreads = 256;

static unsigned grid_for(unsigned threads) { return (threads + kThreads - 1) / kThreads; }

// Rung 1. Sort the sectors, count where they change.
int coalesce1_predict(const WarpRequest* request) {
  std::vector<long long> numbers;
  for (int t = 0; t < 32; ++t) {
    if (request->active & (1u << t)) {
      numbers.push_back((request->first + (long long)request->stride * (t ^ request->swap)) / kSectorBytes);
    }
  }
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return (int)numbers.size();
}

// Rung 2.
__global__ void coalesce2_aligned_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = d_in[i] + 1.0f;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce2_aligned_kernel<<<grid_for(n), kThreads>>>(d_in, d_out, n);
}

// Rung 3. 5 sectors, as predicted.
__global__ void coalesce3_misaligned_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned next = (i + kOffset) % n;
  d_out[next] = d_in[next] + 1.0f;
}

void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce3_misaligned_kernel<<<grid_for(n), kThreads>>>(d_in, d_out, n);
}

// Rung 4. 32 sectors.
__global__ void coalesce4_strided_kernel(const float* d_in, float* d_out, unsigned n, unsigned rows) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * kStride) return;
  const unsigned place = i % rows * kStride + i / rows;
  if (place < n) d_out[place] = d_in[place] + 1.0f;
}

void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  const unsigned rows = n / kStride + (n % kStride > 0 ? 1 : 0);
  if (n > 0) coalesce4_strided_kernel<<<grid_for(rows * kStride), kThreads>>>(d_in, d_out, n, rows);
}

// Rung 5. 4 again!
__global__ void coalesce5_permuted_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned neighbour = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1;
  if (neighbour < n) d_out[neighbour] = d_in[neighbour] + 1.0f;
}

void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce5_permuted_kernel<<<grid_for(n + 1), kThreads>>>(d_in, d_out, n);
}

// Rung 6.
__global__ void coalesce6_structures_kernel(const float3* d_in, float3* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 a = d_in[i];
  d_out[i] = make_float3(a.x + a.y, a.y + a.z, a.z + a.x);
}

void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce6_structures_kernel<<<grid_for(n), kThreads>>>((const float3*)d_in, (float3*)d_out, n);
}

// Rung 7.
__global__ void coalesce7_arrays_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float3 a = make_float3(d_in[i], d_in[i + n], d_in[i + 2 * n]);
  d_out[i] = a.x + a.y;
  d_out[i + n] = a.y + a.z;
  d_out[i + 2 * n] = a.z + a.x;
}

void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce7_arrays_kernel<<<grid_for(n), kThreads>>>(d_in, d_out, n);
}

// Rung 8.
__global__ void coalesce8_staged_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float3 s_structures[kThreads];
  float* s_floats = (float*)s_structures;
  const unsigned start = 3 * kThreads * blockIdx.x, end = min(start + 3 * kThreads, 3 * n);
  for (unsigned i = start + threadIdx.x; i < end; i += kThreads) s_floats[i - start] = d_in[i];
  __syncthreads();
  if (start + 3 * threadIdx.x < end) {
    const float3 a = s_structures[threadIdx.x];
    s_structures[threadIdx.x] = make_float3(a.x + a.y, a.y + a.z, a.z + a.x);
  }
  __syncthreads();
  for (unsigned i = start + threadIdx.x; i < end; i += kThreads) d_out[i] = s_floats[i - start];
}

void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) coalesce8_staged_kernel<<<grid_for(n), kThreads>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest*) { return kNotBegun; }
