// Kernels that synchronise as documented, and the same kernels with one thing missing: for checkers_test.cc.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

constexpr int kBlock = 128;

extern "C" __global__ void tree(const int* in, int* out) {
  __shared__ int sdata[kBlock];
  const int t = threadIdx.x;
  sdata[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (t < s) sdata[t] += sdata[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = sdata[0];
}

extern "C" __global__ void tree_without_barrier(const int* in, int* out) {
  __shared__ int sdata[kBlock];
  const int t = threadIdx.x;
  sdata[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  for (int s = kBlock / 2; s > 0; s /= 2) {
    if (t < s) sdata[t] += sdata[t + s];  // no barrier follows
  }
  if (t == 0) out[blockIdx.x] = sdata[0];
}

template <bool kSync>
__device__ void last_warp(volatile int* sdata, int t) {
  for (int s = 32; s > 0; s /= 2) {
    const int sum = sdata[t] + sdata[t + s];
    if (kSync) __syncwarp();
    sdata[t] = sum;
    if (kSync) __syncwarp();
  }
}

template <bool kSync>
__device__ void unrolled(const int* in, int* out) {
  __shared__ int sdata[kBlock];
  const int t = threadIdx.x;
  sdata[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  if (t < 64) sdata[t] += sdata[t + 64];
  __syncthreads();
  if (t < 32) last_warp<kSync>(sdata, t);
  if (t == 0) out[blockIdx.x] = sdata[0];
}
extern "C" __global__ void warp_with_syncwarp(const int* in, int* out) { unrolled<true>(in, out); }
extern "C" __global__ void warp_with_volatile(const int* in, int* out) { unrolled<false>(in, out); }

extern "C" __global__ void shuffles(const int* in, int* out) {
  __shared__ int partial[kBlock / 32];
  int sum = in[blockIdx.x * kBlock + threadIdx.x];
  for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
  if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    sum = threadIdx.x < kBlock / 32 ? partial[threadIdx.x] : 0;
    for (int s = 16; s > 0; s /= 2) sum += __shfl_down_sync(~0u, sum, s);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
  }
}

extern "C" __global__ void tiles_of_16(const int* in, int* out) {
  __shared__ int sdata[kBlock];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  const int t = threadIdx.x;
  sdata[t] = in[blockIdx.x * kBlock + t];
  tile.sync();
  for (int s = 8; s > 0; s /= 2) {
    if (tile.thread_rank() < s) sdata[t] += sdata[t + s];
    tile.sync();
  }
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (int k = 0; k < kBlock; k += 16) sum += sdata[k];
    out[blockIdx.x] = sum;
  }
}

// The last block adds up what all have left.
template <bool kFence>
__device__ void last_block(const int* in, int* partial, int* out, unsigned* ticket) {
  __shared__ bool last;
  __shared__ int sdata[kBlock];
  const int t = threadIdx.x;
  sdata[t] = in[blockIdx.x * kBlock + t];
  __syncthreads();
  if (t == 0) {
    int sum = 0;
    for (int k = 0; k < kBlock; ++k) sum += sdata[k];
    partial[blockIdx.x] = sum;
    if (kFence) __threadfence();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && t == 0) {
    int sum = 0;
    for (int k = 0; k < gridDim.x; ++k) sum += partial[k];
    *out = sum;
  }
}
extern "C" __global__ void last_block_with_fence(const int* in, int* partial, int* out, unsigned* ticket) {
  last_block<true>(in, partial, out, ticket);
}
extern "C" __global__ void last_block_without_fence(const int* in, int* partial, int* out, unsigned* ticket) {
  last_block<false>(in, partial, out, ticket);
}

// Each block waits for the one before.
extern "C" __global__ void chain(int* sums, volatile int* flags) {
  if (threadIdx.x == 0) {
    int before = 0;
    if (blockIdx.x > 0) {
      while (flags[blockIdx.x - 1] == 0) {
      }
      __threadfence();
      before = sums[blockIdx.x - 1];
    }
    sums[blockIdx.x] = before + 1;
    __threadfence();
    flags[blockIdx.x] = 1;
  }
}

extern "C" __global__ void spin_lock(int* lock, int* value) {
  for (bool done = false; !done;) {
    if (atomicCAS(lock, 0, 1) == 0) {
      __threadfence();
      *value += 1;
      __threadfence();
      atomicExch(lock, 0);
      done = true;
    }
  }
}

extern "C" __global__ void histogram(const int* in, int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[in[blockIdx.x * kBlock + threadIdx.x] & 15], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void bytes(const int* in, int* out) {
  __shared__ unsigned char text[kBlock];
  text[threadIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);
  __syncthreads();
  out[blockIdx.x * kBlock + threadIdx.x] = text[kBlock - 1 - threadIdx.x];
}

extern "C" __global__ void everyone_writes(int* out) { *out = blockIdx.x * kBlock + threadIdx.x; }

extern "C" __global__ void half_initialised(const int* in, int* out) {
  __shared__ int sdata[kBlock];
  if (threadIdx.x < kBlock / 2) sdata[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  out[blockIdx.x * kBlock + threadIdx.x] = sdata[threadIdx.x];
}

extern "C" __global__ void count(const int* in, int* counter) {
  if (in[threadIdx.x] >= 0) atomicAdd(counter, 1);
}

extern "C" __global__ void barrier_in_both_branches(int* out) {
  __shared__ int value;
  if (threadIdx.x < 32) {
    value = 1;
    __syncthreads();
    out[blockIdx.x * kBlock + threadIdx.x] = value;
  } else {
    __syncthreads();
    out[blockIdx.x * kBlock + threadIdx.x] = value + 1;
  }
}
