// points: 100 + 12
// A launcher that calls itself: each level takes scratch of its own from the stream's pool and gives it back, d_work is
// not used. Kernels keep their sum in a register between the steps of the tree.
#include <climits>

#include "reduction.h"

namespace {

constexpr unsigned CeilDiv(unsigned a, unsigned b) { return a / b + (a % b ? 1 : 0); }

template <typename Kernel>
void Recurse(Kernel kernel, unsigned threads, unsigned elements_a_block, const int* d_in, int* d_out, unsigned n) {
  if (n <= elements_a_block) {
    kernel<<<1, threads>>>(d_in, d_out, n);
    return;
  }
  const unsigned blocks = CeilDiv(n, elements_a_block);
  int* d_level = nullptr;
  cudaMallocAsync(&d_level, blocks * sizeof(int), 0);
  kernel<<<blocks, threads>>>(d_in, d_level, n);
  Recurse(kernel, threads, elements_a_block, d_level, d_out, blocks);
  cudaFreeAsync(d_level, 0);
}

__global__ void Interleaved(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int mine = i < n ? d_in[i] : 0;
  s[t] = mine;
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    if (t % (2 * step) == 0) {
      mine += s[t + step];
      s[t] = mine;
    }
  }
  if (t == 0) d_out[blockIdx.x] = mine;
}

__global__ void Strided(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s[t] = i < n ? d_in[i] : 0;
  for (unsigned step = 1; step < blockDim.x; step *= 2) {
    __syncthreads();
    const unsigned k = 2 * step * t;
    if (k + step < blockDim.x) s[k] += s[k + step];
  }
  if (t == 0) d_out[blockIdx.x] = s[0];
}

__global__ void Sequential(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int mine = i < n ? d_in[i] : 0;
  s[t] = mine;
  for (unsigned half = blockDim.x >> 1; half != 0; half >>= 1) {
    __syncthreads();
    if (t < half) s[t] = mine = mine + s[t + half];
  }
  if (t == 0) d_out[blockIdx.x] = mine;
}

__device__ int Two(const int* d_in, unsigned n, unsigned threads) {
  const unsigned i = blockIdx.x * threads * 2 + threadIdx.x;
  if (i >= n) return 0;
  return i + threads < n ? d_in[i] + d_in[i + threads] : d_in[i];
}

__global__ void FirstAdd(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kBlock];
  const unsigned t = threadIdx.x;
  int mine = Two(d_in, n, blockDim.x);
  s[t] = mine;
  for (unsigned half = blockDim.x >> 1; half != 0; half >>= 1) {
    __syncthreads();
    if (t < half) s[t] = mine = mine + s[t + half];
  }
  if (t == 0) d_out[blockIdx.x] = mine;
}

__global__ void LastWarp(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kBlock];
  const unsigned t = threadIdx.x;
  int mine = Two(d_in, n, blockDim.x);
  s[t] = mine;
  for (unsigned half = blockDim.x >> 1; half >= 32; half >>= 1) {
    __syncthreads();
    if (t < half) s[t] = mine = mine + s[t + half];
  }
  if (t >= 32) return;
  __syncwarp();
  if (t < 16) s[t] = mine = mine + s[t + 16];
  __syncwarp();
  if (t < 8) s[t] = mine = mine + s[t + 8];
  __syncwarp();
  if (t < 4) s[t] = mine = mine + s[t + 4];
  __syncwarp();
  if (t < 2) s[t] = mine = mine + s[t + 2];
  __syncwarp();
  if (t == 0) d_out[blockIdx.x] = mine + s[1];
}

// The tree as a recursion of templates: the compiler sees no loop.
template <unsigned kHalf>
__device__ int Tree(int* s, int mine) {
  if constexpr (kHalf >= 32) {
    if (threadIdx.x >= kHalf && threadIdx.x < 2 * kHalf) s[threadIdx.x] = mine;
    __syncthreads();
    if (threadIdx.x < kHalf) mine += s[threadIdx.x + kHalf];
    return Tree<kHalf / 2>(s, mine);
  } else if constexpr (kHalf > 0) {
    mine += __shfl_down_sync(0xffffffff, mine, kHalf);
    return Tree<kHalf / 2>(s, mine);
  } else {
    return mine;
  }
}

template <unsigned kThreads>
__global__ void Unrolled(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kThreads];
  const int sum = Tree<kThreads / 2>(s, Two(d_in, n, kThreads));
  if (threadIdx.x == 0) d_out[blockIdx.x] = sum;
}

template <unsigned kThreads>
__global__ void Many(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s[kThreads];
  int sum = 0;
  for (unsigned i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) sum += d_in[i];
  sum = Tree<kThreads / 2>(s, sum);
  if (threadIdx.x == 0) d_out[blockIdx.x] = sum;
}

struct Plus {
  __device__ int operator()(int a, int b) const { return a + b; }
};
struct Larger {
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
};
struct Smaller {
  __device__ int operator()(int a, int b) const { return b < a ? b : a; }
};

// Each block has a stretch of 4096 ints. Its threads take what is not aligned like everything else, one by one.
constexpr unsigned kStretch = 4096;

template <typename Op, int kNeutral>
__global__ void Stretch(const int* d_in, int* d_out, unsigned n) {
  const Op op{};
  const unsigned begin = blockIdx.x * kStretch, end = n - begin < kStretch ? n : begin + kStretch;
  int mine = kNeutral;
  if ((reinterpret_cast<size_t>(d_in) & 15) == 0) {
    unsigned i = begin + 4 * threadIdx.x;
    for (; i + 3 < end; i += 4 * blockDim.x) {
      const int4 four = *reinterpret_cast<const int4*>(d_in + i);
      mine = op(mine, op(op(four.x, four.y), op(four.z, four.w)));
    }
    for (unsigned k = 0; k < 3 && i + k < end; ++k) mine = op(mine, d_in[i + k]);
  } else {
    for (unsigned i = begin + threadIdx.x; i < end; i += blockDim.x) mine = op(mine, d_in[i]);
  }
  __shared__ int s_warp[8];
#pragma unroll
  for (unsigned k = 16; k > 0; k /= 2) mine = op(mine, __shfl_xor_sync(0xffffffff, mine, k));
  if (threadIdx.x % 32 == 0) s_warp[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 8) {
    mine = s_warp[threadIdx.x];
    for (unsigned k = 4; k > 0; k /= 2) mine = op(mine, __shfl_xor_sync(0xff, mine, k));
    if (threadIdx.x == 0) d_out[blockIdx.x] = mine;
  }
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(Interleaved, kBlock, kBlock, d_in, d_sum, n);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(Strided, kBlock, kBlock, d_in, d_sum, n);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(Sequential, kBlock, kBlock, d_in, d_sum, n);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(FirstAdd, kBlock, 2 * kBlock, d_in, d_sum, n);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(LastWarp, kBlock, 2 * kBlock, d_in, d_sum, n);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(Unrolled<kBlock>, kBlock, 2 * kBlock, d_in, d_sum, n);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  if (n <= 2 * kBlock) {
    Many<kBlock><<<1, kBlock>>>(d_in, d_sum, n);
    return;
  }
  const unsigned blocks = CeilDiv(n, 2 * kBlock) < kMaxBlocks ? CeilDiv(n, 2 * kBlock) : kMaxBlocks;
  Many<kBlock><<<blocks, kBlock>>>(d_in, d_work, n);
  reduce7_many(d_work, d_sum, blocks, nullptr);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) {
  Recurse(Stretch<Plus, 0>, 256, kStretch, d_in, d_sum, n);
}
void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) {
  Recurse(Stretch<Larger, INT_MIN>, 256, kStretch, d_in, d_max, n);
}
void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) {
  Recurse(Stretch<Smaller, INT_MAX>, 256, kStretch, d_in, d_min, n);
}
