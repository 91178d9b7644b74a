// points: 100 + 12
// One launch for every rung: each block leaves its result in d_work, and the block that finds itself the last to arrive
// adds them up. The counter wraps around to 0 by itself, ready for the next call.
#include <climits>

#include "reduction.h"

__device__ unsigned int arrived = 0;

enum class Tree { kInterleaved, kStrided, kSequential, kLastWarp, kUnrolled };

template <Tree kTree>
__device__ int block_sum(int value) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  __syncthreads();  // the last block calls this twice
  s_data[tid] = value;
  __syncthreads();
  if constexpr (kTree == Tree::kInterleaved) {
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      if (tid % (2 * s) == 0) s_data[tid] += s_data[tid + s];
      __syncthreads();
    }
  } else if constexpr (kTree == Tree::kStrided) {
    for (unsigned s = 1; s < blockDim.x; s *= 2) {
      const unsigned k = 2 * s * tid;
      if (k < blockDim.x) s_data[k] += s_data[k + s];
      __syncthreads();
    }
  } else if constexpr (kTree == Tree::kSequential) {
    for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
      if (tid < s) s_data[tid] += s_data[tid + s];
      __syncthreads();
    }
  } else {
    if constexpr (kTree == Tree::kLastWarp) {
      for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
        if (tid < s) s_data[tid] += s_data[tid + s];
        __syncthreads();
      }
    } else {
#pragma unroll
      for (unsigned s = kBlock / 2; s > 32; s /= 2) {
        if (tid < s) s_data[tid] += s_data[tid + s];
        __syncthreads();
      }
    }
    if (tid < 32) {
      int sum = s_data[tid];
#pragma unroll
      for (unsigned s = 32; s > 0; s /= 2) {
        sum += s_data[tid + s];
        __syncwarp();
        s_data[tid] = sum;
        __syncwarp();
      }
    }
  }
  return s_data[0];  // valid in thread 0 only
}

template <Tree kTree, unsigned kEach>
__global__ void single_pass_kernel(const int* d_in, int* d_out, unsigned n, int* d_partial) {
  __shared__ bool s_is_last;
  int sum = 0;
  if constexpr (kEach == 0) {
    for (unsigned i = blockIdx.x * kBlock * 2 + threadIdx.x; i < n; i += gridDim.x * kBlock * 2) {
      sum += d_in[i];
      if (i + kBlock < n) sum += d_in[i + kBlock];
    }
  } else {
    const unsigned i = blockIdx.x * blockDim.x * kEach + threadIdx.x;
    if (i < n) sum = d_in[i];
    if (kEach == 2 && i + blockDim.x < n) sum += d_in[i + blockDim.x];
  }
  sum = block_sum<kTree>(sum);
  if (threadIdx.x == 0) {
    d_partial[blockIdx.x] = sum;
    __threadfence();
    s_is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (s_is_last) {
    __threadfence();
    sum = 0;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) sum += d_partial[b];
    sum = block_sum<kTree>(sum);
    if (threadIdx.x == 0) *d_out = sum;
  }
}

template <Tree kTree, unsigned kEach>
void single_pass(const int* d_in, int* d_out, unsigned n, int* d_work) {
  constexpr unsigned kPerBlock = kBlock * (kEach == 0 ? 2 : kEach);
  unsigned blocks = n == 0 ? 1 : (n - 1) / kPerBlock + 1;
  if (kEach == 0 && blocks > kMaxBlocks) blocks = kMaxBlocks;
  single_pass_kernel<kTree, kEach><<<blocks, kBlock>>>(d_in, d_out, n, d_work);
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kInterleaved, 1>(d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kStrided, 1>(d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kSequential, 1>(d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kSequential, 2>(d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kLastWarp, 2>(d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kUnrolled, 2>(d_in, d_sum, n, d_work);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  single_pass<Tree::kUnrolled, 0>(d_in, d_sum, n, d_work);
}

struct Add {
  static constexpr int kNone = 0;
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Larger {
  static constexpr int kNone = INT_MIN;
  __device__ int operator()(int a, int b) const { return max(a, b); }
};
struct Smaller {
  static constexpr int kNone = INT_MAX;
  __device__ int operator()(int a, int b) const { return min(a, b); }
};

template <typename Op>
__device__ int warp_reduce(Op op, int value) {
  for (int offset = 16; offset > 0; offset /= 2) value = op(value, __shfl_down_sync(0xffffffffu, value, offset));
  return value;
}

template <typename Op>
__device__ int block_reduce(Op op, int value) {
  __shared__ int s_warp[32];
  value = warp_reduce(op, value);
  __syncthreads();
  if (threadIdx.x % 32 == 0) s_warp[threadIdx.x / 32] = value;
  __syncthreads();
  if (threadIdx.x < 32) value = warp_reduce(op, threadIdx.x < blockDim.x / 32 ? s_warp[threadIdx.x] : Op::kNone);
  return value;
}

template <typename Op>
__global__ void any_kernel(const int* d_in, int* d_out, unsigned n, int* d_partial) {
  __shared__ bool s_is_last;
  const Op op;
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  unsigned head = 0;
  while (head < n && reinterpret_cast<unsigned long long>(d_in + head) % 16 != 0) ++head;
  const unsigned quads = (n - head) / 4, tail = head + quads * 4;
  int value = Op::kNone;
  if (thread < head) value = op(value, d_in[thread]);
  if (thread < n - tail) value = op(value, d_in[tail + thread]);
  const int4* d_quads = reinterpret_cast<const int4*>(d_in + head);
  for (unsigned i = thread; i < quads; i += threads) {
    const int4 quad = d_quads[i];
    value = op(op(op(op(value, quad.x), quad.y), quad.z), quad.w);
  }
  value = block_reduce(op, value);
  if (threadIdx.x == 0) {
    d_partial[blockIdx.x] = value;
    __threadfence();
    s_is_last = atomicInc(&arrived, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (s_is_last) {
    __threadfence();
    value = Op::kNone;
    for (unsigned b = threadIdx.x; b < gridDim.x; b += blockDim.x) value = op(value, d_partial[b]);
    value = block_reduce(op, value);
    if (threadIdx.x == 0) *d_out = value;
  }
}

template <typename Op>
void any(const int* d_in, int* d_out, unsigned n, int* d_work) {
  const unsigned blocks = n < 100000 ? 1 : n < 1000000 ? 30 : 528;
  any_kernel<Op><<<blocks, 256>>>(d_in, d_out, n, d_work);
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) { any<Add>(d_in, d_sum, n, d_work); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) { any<Larger>(d_in, d_max, n, d_work); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) { any<Smaller>(d_in, d_min, n, d_work); }
