// points: 100 + 12
// As many blocks as the GPU likes, whatever n is: 4 for each multiprocessor. Every kernel strides over the array, so
// two launches do: one over the elements, one over the blocks' results. Operators are lambdas and functors.
#include <algorithm>
#include <climits>

#include "reduction.h"

namespace {

unsigned blocks_of_gpu() {
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  return 4 * sms;
}

// This thread's elements, `each` at a time with a block's width between them.
template <int kEach>
__device__ int load_sum(const int* d_in, unsigned n) {
  int sum = 0;
  const auto add = [&](size_t i) {
    if (i < n) sum += d_in[i];
  };
  for (size_t i = size_t{blockIdx.x} * blockDim.x * kEach + threadIdx.x; i < n;
       i += size_t{gridDim.x} * blockDim.x * kEach) {
    for (int k = 0; k < kEach; ++k) add(i + k * blockDim.x);
  }
  return sum;
}

struct Interleaved {
  __device__ static void step(int* s, unsigned t, unsigned stride) {
    if (t % (2 * stride) == 0) s[t] += s[t + stride];
  }
};
struct Strided {
  __device__ static void step(int* s, unsigned t, unsigned stride) {
    const unsigned left = 2 * stride * t;
    if (left < blockDim.x) s[left] += s[left + stride];
  }
};

template <class Addressing>
__global__ void upwards(const int* d_in, int* d_out, unsigned n) {
  extern __shared__ int s[];
  s[threadIdx.x] = load_sum<1>(d_in, n);
  __syncthreads();
  for (unsigned stride = 1; stride < blockDim.x; stride <<= 1) {
    Addressing::step(s, threadIdx.x, stride);
    __syncthreads();
  }
  if (threadIdx.x == 0) d_out[blockIdx.x] = s[0];
}

template <int kEach>
__global__ void downwards(const int* d_in, int* d_out, unsigned n) {
  extern __shared__ int s[];
  s[threadIdx.x] = load_sum<kEach>(d_in, n);
  __syncthreads();
  for (unsigned stride = blockDim.x >> 1; stride > 0; stride >>= 1) {
    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x == 0) d_out[blockIdx.x] = s[0];
}

template <typename T, typename Op>
__device__ T warp_fold(T value, Op op) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value = op(value, __shfl_down_sync(0xffffffff, value, offset));
  return value;
}

__global__ void last_warp(const int* d_in, int* d_out, unsigned n) {
  extern __shared__ int s[];
  s[threadIdx.x] = load_sum<2>(d_in, n);
  __syncthreads();
  for (unsigned stride = blockDim.x >> 1; stride > 32; stride >>= 1) {
    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  const int sum = warp_fold(s[threadIdx.x] + s[threadIdx.x + 32], [](int a, int b) { return a + b; });
  if (threadIdx.x == 0) d_out[blockIdx.x] = sum;
}

template <unsigned kThreads>
__global__ void unrolled(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kThreads];
  s[threadIdx.x] = load_sum<2>(d_in, n);
  __syncthreads();
#pragma unroll
  for (unsigned stride = kThreads / 2; stride > 32; stride >>= 1) {
    if (threadIdx.x < stride) s[threadIdx.x] += s[threadIdx.x + stride];
    __syncthreads();
  }
  if (threadIdx.x >= 32) return;
  const int sum = warp_fold(s[threadIdx.x] + s[threadIdx.x + 32], [](int a, int b) { return a + b; });
  if (threadIdx.x == 0) d_out[blockIdx.x] = sum;
}

using Kernel = void (*)(const int*, int*, unsigned);

// The first launch may have more blocks than there are elements: those write the sum of nothing. Scratch is our own,
// for d_work has room for one result for each 128 elements and no more.
void two_launches(Kernel kernel, unsigned blocks, unsigned threads, const int* d_in, int* d_out, unsigned n) {
  int* d_results;
  if (cudaMalloc(&d_results, blocks * sizeof(int)) != cudaSuccess) return;
  kernel<<<blocks, threads, threads * sizeof(int)>>>(d_in, d_results, n);
  kernel<<<1, threads, threads * sizeof(int)>>>(d_results, d_out, blocks);
  cudaFree(d_results);
}

template <class Op>
__global__ void __launch_bounds__(256) wide(const int* d_in, int* d_out, unsigned n, Op op, int neutral) {
  __shared__ int s_warp[8];
  const unsigned first = blockIdx.x * 256 + threadIdx.x, all = gridDim.x * 256;
  const unsigned head = min(n, unsigned((16 - (reinterpret_cast<size_t>(d_in) & 15)) & 15) / 4);
  const unsigned quads = (n - head) >> 2, tail = head + (quads << 2);
  int value = neutral;
  if (first < head) value = d_in[first];
  if (first < n - tail) value = op(value, d_in[tail + first]);
  for (unsigned i = first; i < quads; i += all) {
    const int4 q = reinterpret_cast<const int4*>(d_in + head)[i];
    value = op(op(value, op(q.x, q.y)), op(q.z, q.w));
  }
  value = warp_fold(value, op);
  if (threadIdx.x % 32 == 0) s_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) {
    value = warp_fold(threadIdx.x < 8 ? s_warp[threadIdx.x] : neutral, op);
    if (threadIdx.x == 0) d_out[blockIdx.x] = value;
  }
}

struct Add {
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Greater {
  __device__ int operator()(int a, int b) const { return a > b ? a : b; }
};
struct Less {
  __device__ int operator()(int a, int b) const { return a < b ? a : b; }
};

template <class Op>
void wide_launches(const int* d_in, int* d_out, unsigned n, int neutral) {
  const unsigned blocks = blocks_of_gpu();
  int* d_results;
  if (cudaMalloc(&d_results, blocks * sizeof(int)) != cudaSuccess) return;
  wide<<<blocks, 256>>>(d_in, d_results, n, Op(), neutral);
  wide<<<1, 256>>>(d_results, d_out, blocks, Op(), neutral);
  cudaFree(d_results);
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(upwards<Interleaved>, blocks_of_gpu(), 128, d_in, d_sum, n);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(upwards<Strided>, blocks_of_gpu(), 128, d_in, d_sum, n);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(downwards<1>, blocks_of_gpu(), 128, d_in, d_sum, n);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(downwards<2>, blocks_of_gpu(), 128, d_in, d_sum, n);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(last_warp, blocks_of_gpu(), 256, d_in, d_sum, n);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(unrolled<256>, blocks_of_gpu(), 256, d_in, d_sum, n);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int*) {
  two_launches(unrolled<256>, kMaxBlocks, 256, d_in, d_sum, n);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) { wide_launches<Add>(d_in, d_sum, n, 0); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) { wide_launches<Greater>(d_in, d_max, n, INT_MIN); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) { wide_launches<Less>(d_in, d_min, n, INT_MAX); }
