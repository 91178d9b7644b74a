// Ada Lovelace. All rungs, and the bonus.

#include <climits>
#include <cstdint>

#include "reduction.h"

using Kernel = void (*)(const int* d_in, int* d_out, unsigned n);

void run_passes(Kernel kernel, unsigned per_block, const int* d_in, int* d_out, unsigned n, int* d_work,
                unsigned max_blocks = UINT_MAX) {
  int* d_other = d_work + BlocksFor(n);
  while (n > per_block) {
    unsigned blocks = (n + per_block - 1) / per_block;
    if (blocks > max_blocks) blocks = max_blocks;
    kernel<<<blocks, kBlock>>>(d_in, d_work, n);
    int* d_done = d_work;
    d_work = d_other;
    d_other = d_done;
    d_in = d_done;
    n = blocks;
  }
  kernel<<<1, kBlock>>>(d_in, d_out, n);
}

__global__ void reduce1_interleaved_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + tid;
  if (i < n) {
    s_data[tid] = d_in[i];
  } else {
    s_data[tid] = 0;
  }
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce1_interleaved_kernel, kBlock, d_in, d_sum, n, d_work);
}

__global__ void reduce2_strided_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + tid;
  if (i < n) {
    s_data[tid] = d_in[i];
  } else {
    s_data[tid] = 0;
  }
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    unsigned at = 2 * s * tid;
    if (at + s < blockDim.x) s_data[at] += s_data[at + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce2_strided_kernel, kBlock, d_in, d_sum, n, d_work);
}

__global__ void reduce3_sequential_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + tid;
  if (i < n) {
    s_data[tid] = d_in[i];
  } else {
    s_data[tid] = 0;
  }
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce3_sequential_kernel, kBlock, d_in, d_sum, n, d_work);
}

__global__ void reduce4_first_add_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x * 2 + tid;
  int sum = 0;
  if (i < n) sum = d_in[i];
  if (i + blockDim.x < n) sum += d_in[i + blockDim.x];
  s_data[tid] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce4_first_add_kernel, 2 * kBlock, d_in, d_sum, n, d_work);
}

__device__ void last_warp(int* s_data, unsigned tid) {
  int v = s_data[tid];
  v += s_data[tid + 32];
  __syncwarp();
  s_data[tid] = v;
  __syncwarp();
  v += s_data[tid + 16];
  __syncwarp();
  s_data[tid] = v;
  __syncwarp();
  v += s_data[tid + 8];
  __syncwarp();
  s_data[tid] = v;
  __syncwarp();
  v += s_data[tid + 4];
  __syncwarp();
  s_data[tid] = v;
  __syncwarp();
  v += s_data[tid + 2];
  __syncwarp();
  s_data[tid] = v;
  __syncwarp();
  v += s_data[tid + 1];
  __syncwarp();
  s_data[tid] = v;
}

__global__ void reduce5_warp_unrolled_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x * 2 + tid;
  int sum = 0;
  if (i < n) sum = d_in[i];
  if (i + blockDim.x < n) sum += d_in[i + blockDim.x];
  s_data[tid] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) s_data[tid] += s_data[tid + s];
    __syncthreads();
  }
  if (tid < 32) last_warp(s_data, tid);
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce5_warp_unrolled_kernel, 2 * kBlock, d_in, d_sum, n, d_work);
}

template <unsigned kThreads>
__global__ void reduce6_unrolled_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kThreads];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * kThreads * 2 + tid;
  int sum = 0;
  if (i < n) sum = d_in[i];
  if (i + kThreads < n) sum += d_in[i + kThreads];
  s_data[tid] = sum;
  __syncthreads();
  if constexpr (kThreads >= 512) {
    if (tid < 256) s_data[tid] += s_data[tid + 256];
    __syncthreads();
  }
  if constexpr (kThreads >= 256) {
    if (tid < 128) s_data[tid] += s_data[tid + 128];
    __syncthreads();
  }
  if constexpr (kThreads >= 128) {
    if (tid < 64) s_data[tid] += s_data[tid + 64];
    __syncthreads();
  }
  if (tid < 32) last_warp(s_data, tid);
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce6_unrolled_kernel<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work);
}

template <unsigned kThreads>
__global__ void reduce7_many_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_data[kThreads];
  unsigned tid = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * kThreads * 2 + tid; i < n; i += gridDim.x * kThreads * 2) {
    sum += d_in[i];
    if (i + kThreads < n) sum += d_in[i + kThreads];
  }
  s_data[tid] = sum;
  __syncthreads();
  if constexpr (kThreads >= 512) {
    if (tid < 256) s_data[tid] += s_data[tid + 256];
    __syncthreads();
  }
  if constexpr (kThreads >= 256) {
    if (tid < 128) s_data[tid] += s_data[tid + 128];
    __syncthreads();
  }
  if constexpr (kThreads >= 128) {
    if (tid < 64) s_data[tid] += s_data[tid + 64];
    __syncthreads();
  }
  if (tid < 32) last_warp(s_data, tid);
  if (tid == 0) d_out[blockIdx.x] = s_data[0];
}

void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce7_many_kernel<kBlock>, 2 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}

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

template <class Op>
__device__ int warp_reduce(int v) {
  for (int k = 16; k > 0; k >>= 1) v = Op::apply(v, __shfl_xor_sync(0xffffffff, v, k));
  return v;
}

// Loads four ints at a time. d_in may begin at any int: those before the first multiple of 16 bytes and behind the last
// are loaded one by one.
template <class Op>
__global__ void reduce8_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_warps[kBlock / 32];
  unsigned tid = threadIdx.x;
  unsigned before = min(n, (unsigned)(-(uintptr_t)d_in / 4 % 4));
  unsigned quads = (n - before) / 4;
  const int4* d_quads = (const int4*)(d_in + before);
  int v = Op::identity;
  for (unsigned i = blockIdx.x * kBlock + tid; i < quads; i += gridDim.x * kBlock) {
    int4 q = d_quads[i];
    v = Op::apply(v, Op::apply(Op::apply(q.x, q.y), Op::apply(q.z, q.w)));
  }
  unsigned alone = n - 4 * quads;  // 6 at most
  if (blockIdx.x == 0 && tid < alone) v = Op::apply(v, d_in[tid < before ? tid : 4 * quads + tid]);
  v = warp_reduce<Op>(v);
  if (tid % 32 == 0) s_warps[tid / 32] = v;
  __syncthreads();
  if (tid >= 32) return;
  v = warp_reduce<Op>(tid < kBlock / 32 ? s_warps[tid] : Op::identity);
  if (tid == 0) d_out[blockIdx.x] = v;
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce8_kernel<Plus>, 4 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}

void reduce8_max(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce8_kernel<Largest>, 4 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}

void reduce8_min(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  run_passes(reduce8_kernel<Smallest>, 4 * kBlock, d_in, d_sum, n, d_work, kMaxBlocks);
}
