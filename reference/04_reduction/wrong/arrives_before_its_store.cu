// verdict: RACE reduce8_shuffle
// A warp arrives at the cuda::barrier before it stores the result that the first warp waits for.
#include <algorithm>
#include <climits>
#include <cuda/barrier>

#include "reduction.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

struct Plus {
  static constexpr int identity = 0;
  __device__ static int apply(int a, int b) { return a + b; }
};
struct Largest {
  static constexpr int identity = INT_MIN;
  __device__ static int apply(int a, int b) { return a > b ? a : b; }
};
struct Smallest {
  static constexpr int identity = INT_MAX;
  __device__ static int apply(int a, int b) { return a < b ? a : b; }
};

__global__ void interleaved(const int* d_in, int* d_out, unsigned n) {
  __shared__ Barrier barrier;
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  if (tid == 0) init(&barrier, blockDim.x);
  __syncthreads();
  s_data[tid] = i < n ? d_in[i] : 0;
  barrier.arrive_and_wait();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) s_data[tid] += s_data[tid + s];
    barrier.arrive_and_wait();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

__global__ void strided(const int* d_in, int* d_out, unsigned n) {
  __shared__ Barrier barrier;
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
  if (tid == 0) init(&barrier, blockDim.x);
  __syncthreads();
  s_data[tid] = i < n ? d_in[i] : 0;
  barrier.arrive_and_wait();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned at = 2 * s * tid;
    if (at < blockDim.x) s_data[at] += s_data[at + s];
    barrier.arrive_and_wait();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

template <unsigned kLoads>
__global__ void sequential(const int* d_in, int* d_out, unsigned n) {
  __shared__ Barrier barrier;
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  if (tid == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int sum = 0;
  unsigned i = blockIdx.x * blockDim.x * kLoads + tid;
  for (unsigned k = 0; k < kLoads; ++k, i += blockDim.x) sum += i < n ? d_in[i] : 0;
  s_data[tid] = sum;
  barrier.arrive_and_wait();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    barrier.arrive_and_wait();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

// Threads that have no more part in the tree arrive and drop out of the barrier; those that go on wait for the rest.
template <class Op, unsigned kLoads>
__global__ void last_warp(const int* d_in, int* d_out, unsigned n) {
  __shared__ Barrier barrier;
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  if (tid == 0) init(&barrier, kBlock);
  __syncthreads();
  int value = Op::identity;
  const unsigned step = gridDim.x * kBlock * kLoads;
  for (unsigned long long first = blockIdx.x * kBlock * kLoads; first < n; first += step) {
#pragma unroll
    for (unsigned k = 0; k < kLoads; ++k) {
      const unsigned long long i = first + k * kBlock + tid;
      if (i < n) value = Op::apply(value, d_in[i]);
    }
  }
  s_data[tid] = value;
  if (tid >= 32) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  for (unsigned w = 1; w < kBlock / 32; ++w) value = Op::apply(value, s_data[w * 32 + tid]);
  for (unsigned s = 16; s > 0; s /= 2) value = Op::apply(value, __shfl_down_sync(0xffffffffu, value, s));
  if (tid == 0) d_out[blockIdx.x] = value;
}

using Kernel = void (*)(const int*, int*, unsigned);

void passes(Kernel kernel, unsigned per_block, const int* d_in, int* d_out, unsigned n, int* d_work,
            unsigned max_blocks = UINT_MAX) {
  int* d_other = d_work + BlocksFor(n);
  for (;;) {
    const unsigned blocks = std::clamp(n / per_block + (n % per_block != 0), 1u, max_blocks);
    kernel<<<blocks, kBlock>>>(d_in, blocks == 1 ? d_out : d_work, n);
    if (blocks == 1) return;
    d_in = d_work;
    std::swap(d_work, d_other);
    n = blocks;
  }
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(interleaved, kBlock, d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(strided, kBlock, d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(sequential<1>, kBlock, d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(sequential<2>, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(last_warp<Plus, 2>, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(last_warp<Plus, 2>, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(last_warp<Plus, 4>, 4 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}

// Rung 8: wide loads, and one arrival a warp at a barrier of warps.
template <class Op>
__global__ void wide(const int* d_in, int* d_out, unsigned n) {
  __shared__ Barrier barrier;
  __shared__ int s_warp[kBlock / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (threadIdx.x == 0) init(&barrier, kBlock / 32);
  __syncthreads();
  const unsigned head = min(n, static_cast<unsigned>((16 - reinterpret_cast<size_t>(d_in) % 16) % 16 / 4));
  const int4* d_wide = reinterpret_cast<const int4*>(d_in + head);
  const unsigned wides = (n - head) / 4, threads = gridDim.x * kBlock;
  int value = Op::identity;
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < wides; i += threads) {
    const int4 v = d_wide[i];
    value = Op::apply(Op::apply(value, Op::apply(v.x, v.y)), Op::apply(v.z, v.w));
  }
  if (blockIdx.x == 0) {
    const unsigned tail = head + 4 * wides;
    if (threadIdx.x < head) value = Op::apply(value, d_in[threadIdx.x]);
    if (threadIdx.x < n - tail) value = Op::apply(value, d_in[tail + threadIdx.x]);
  }
  for (unsigned s = 16; s > 0; s /= 2) value = Op::apply(value, __shfl_down_sync(0xffffffffu, value, s));
  if (lane != 0) return;
  if (warp != 0) {
    (void)barrier.arrive();
    s_warp[warp] = value;
    return;
  }
  barrier.arrive_and_wait();
  for (unsigned w = 1; w < kBlock / 32; ++w) value = Op::apply(value, s_warp[w]);
  d_out[blockIdx.x] = value;
}

template <class Op>
void reduce8(const int* d_in, int* d_out, unsigned n, int* d_work) {
  const unsigned blocks = std::clamp<unsigned>(n / (16 * kBlock), 1, 528);
  wide<Op><<<blocks, kBlock>>>(d_in, d_work, n);
  wide<Op><<<1, kBlock>>>(d_work, d_out, blocks);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) { reduce8<Plus>(d_in, d_sum, n, d_work); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) { reduce8<Largest>(d_in, d_max, n, d_work); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) { reduce8<Smallest>(d_in, d_min, n, d_work); }
