// points: 100 + 12
// On rung 7 threads meet at a cuda::barrier in shared memory where others would write __syncthreads(). Blocks
// meet at a cuda::atomic_ref: the last one to arrive adds up what the others left.
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/utility>

#include <climits>

#include "reduction.h"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__device__ unsigned int g_blocks_done = 0;

struct Plain {
  __device__ void arrive_and_wait() { __syncthreads(); }
};

__device__ Barrier& make_barrier(Barrier*) {
  __shared__ alignas(Barrier) unsigned char storage[sizeof(Barrier)];
  Barrier* barrier = reinterpret_cast<Barrier*>(storage);
  if (threadIdx.x == 0) init(barrier, blockDim.x);
  __syncthreads();
  return *barrier;
}
__device__ Plain make_barrier(Plain*) { return {}; }

enum Steps { kModulo, kIndexed, kHalved, kHalvedThenWarp, kConstant };

template <Steps kSteps, class Meeting>
__device__ int tree_sum(Meeting& barrier, int value) {
  __shared__ int s_tree[kBlock];
  const unsigned tid = threadIdx.x;
  s_tree[tid] = value;
  barrier.arrive_and_wait();
  if constexpr (kSteps == kModulo) {
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      if (tid % (2 * s) == 0) s_tree[tid] += s_tree[tid + s];
      barrier.arrive_and_wait();
    }
  } else if constexpr (kSteps == kIndexed) {
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      if (2 * s * tid < blockDim.x) s_tree[2 * s * tid] += s_tree[2 * s * tid + s];
      barrier.arrive_and_wait();
    }
  } else if constexpr (kSteps == kHalved) {
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (tid < s) s_tree[tid] += s_tree[tid + s];
      barrier.arrive_and_wait();
    }
  } else {
    if constexpr (kSteps == kHalvedThenWarp) {
      for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (tid < s) s_tree[tid] += s_tree[tid + s];
        barrier.arrive_and_wait();
      }
    } else {
#pragma unroll
      for (unsigned s = kBlock / 2; s > 32; s /= 2) {
        if (tid < s) s_tree[tid] += s_tree[tid + s];
        barrier.arrive_and_wait();
      }
    }
    if (tid < 32) {
      value = s_tree[tid] + s_tree[tid + 32];
      for (unsigned s = 16; s > 0; s /= 2) value += __shfl_down_sync(0xffffffff, value, s);
    }
    return value;
  }
  return s_tree[0];
}

template <Steps kSteps, unsigned kEach, class Meeting>
__global__ void arriving(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  __shared__ bool s_last;
  auto&& barrier = make_barrier(static_cast<Meeting*>(nullptr));
  int value = 0;
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = (blockIdx.x * kEach + k) * blockDim.x + threadIdx.x;
    if (i < n) value += d_in[i];
  }
  value = tree_sum<kSteps>(barrier, value);
  if (threadIdx.x == 0) {
    d_work[blockIdx.x] = value;
    cuda::atomic_ref<unsigned int, cuda::thread_scope_device> done(g_blocks_done);
    s_last = done.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
    if (s_last) done.store(0, cuda::memory_order_relaxed);
  }
  barrier.arrive_and_wait();
  if (!s_last) return;
  value = 0;
  for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) value += d_work[b];
  value = tree_sum<kSteps>(barrier, value);
  if (threadIdx.x == 0) *d_sum = value;
}

template <Steps kSteps, unsigned kEach, class Meeting = Plain>
void arrive(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  const unsigned blocks = n == 0 ? 1 : (n - 1) / (kEach * kBlock) + 1;
  arriving<kSteps, kEach, Meeting><<<blocks, kBlock>>>(d_in, d_sum, n, d_work);
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  arrive<kModulo, 1>(d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  arrive<kIndexed, 1>(d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  arrive<kHalved, 1>(d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  arrive<kHalved, 2>(d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  arrive<kHalvedThenWarp, 2>(d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  arrive<kConstant, 2>(d_in, d_sum, n, d_work);
}

__global__ void striding(const int* d_in, int* d_sum, unsigned n) {
  auto&& barrier = make_barrier(static_cast<Barrier*>(nullptr));
  int value = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += d_in[i];
  value = tree_sum<kConstant>(barrier, value);
  if (threadIdx.x == 0) {
    cuda::atomic_ref<int, cuda::thread_scope_device>(*d_sum).fetch_add(value, cuda::memory_order_relaxed);
  }
}

void reduce7_many(const int* d_in, int* d_sum, unsigned n, int*) {
  cudaMemsetAsync(d_sum, 0, sizeof(int));
  striding<<<kMaxBlocks, kBlock>>>(d_in, d_sum, n);
}

template <class Op>
__global__ void wide(const int* d_in, int* d_out, unsigned n, int neutral) {
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lead = min(n, static_cast<unsigned>(-(reinterpret_cast<size_t>(d_in) >> 2) & 3));
  const unsigned quads = (n - lead) / 4, trail = n - lead - 4 * quads;
  const int4* d_quads = reinterpret_cast<const int4*>(d_in + lead);
  int value = neutral;
  for (unsigned i = thread; i < quads; i += gridDim.x * blockDim.x) {
    const int4 quad = d_quads[i];
    value = Op::of(value, Op::of(Op::of(quad.x, quad.y), Op::of(quad.z, quad.w)));
  }
  if (thread < lead) value = Op::of(value, d_in[thread]);
  if (thread < trail) value = Op::of(value, d_in[n - 1 - thread]);
#pragma unroll
  for (unsigned s = 16; s > 0; s /= 2) value = Op::of(value, __shfl_xor_sync(0xffffffff, value, s));
  // No shared memory at all: one atomic a warp.
  if (threadIdx.x % 32 == 0) Op::to(cuda::atomic_ref<int, cuda::thread_scope_device>(*d_out), value);
}

using Out = cuda::atomic_ref<int, cuda::thread_scope_device>;

struct Sum {
  static __device__ int of(int a, int b) { return a + b; }
  static __device__ void to(Out out, int value) { out.fetch_add(value, cuda::memory_order_relaxed); }
};
struct Max {
  static __device__ int of(int a, int b) { return max(a, b); }
  static __device__ void to(Out out, int value) { out.fetch_max(value, cuda::memory_order_relaxed); }
};
struct Min {
  static __device__ int of(int a, int b) { return min(a, b); }
  static __device__ void to(Out out, int value) { out.fetch_min(value, cuda::memory_order_relaxed); }
};

template <class Op>
void wide_launch(const int* d_in, int* d_out, unsigned n, int neutral) {
  cudaMemcpyAsync(d_out, &neutral, sizeof neutral, cudaMemcpyHostToDevice);
  wide<Op><<<n / 8192 + 1, 256>>>(d_in, d_out, n, neutral);
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) { wide_launch<Sum>(d_in, d_sum, n, 0); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) { wide_launch<Max>(d_in, d_max, n, INT_MIN); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) { wide_launch<Min>(d_in, d_min, n, INT_MAX); }
