// points: 100 + 12
// Blocks add to the result under a spin lock, which lies in d_work. The last warp adds 32 ints by 32 ballots, one for
// each bit. On rung 8 the warps of a block take a lock in shared memory, and blocks compare and swap.
#include <climits>

#include "reduction.h"

namespace {

constexpr unsigned kAll = 0xffffffffu;

__device__ void Acquire(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) __nanosleep(20);
  __threadfence();
}

__device__ void Release(int* lock) {
  __threadfence();
  atomicExch(lock, 0);
}

// d_sum becomes d_sum + value, one block at a time.
__device__ void AddUnderLock(int* d_sum, int value, int* lock) {
  Acquire(lock);
  volatile int* sum = d_sum;
  *sum = static_cast<int>(static_cast<unsigned>(*sum) + static_cast<unsigned>(value));
  Release(lock);
}

__device__ int SumByBallots(int value) {
  unsigned sum = 0;
#pragma unroll
  for (int bit = 0; bit < 32; ++bit) sum += __popc(__ballot_sync(kAll, value >> bit & 1)) << bit;
  return static_cast<int>(sum);
}

template <int kRung>
__global__ void Tree(const int* d_in, int* d_sum, unsigned n, int* lock) {
  __shared__ int s_data[kBlock];
  const unsigned tid = threadIdx.x;
  constexpr unsigned kEach = kRung < 4 ? 1 : 2;
  const unsigned first = blockIdx.x * blockDim.x * kEach + tid;
  int own = 0;
  if (first < n) own = d_in[first];
  if (kEach == 2 && first + blockDim.x < n) own += d_in[first + blockDim.x];
  s_data[tid] = own;
  __syncthreads();
  if constexpr (kRung == 1) {
    for (unsigned s = 1; s < blockDim.x; s <<= 1) {
      if ((tid & (2 * s - 1)) == 0) s_data[tid] += s_data[tid + s];
      __syncthreads();
    }
  } else if constexpr (kRung == 2) {
    for (unsigned s = 1, pairs = blockDim.x / 2; pairs > 0; s <<= 1, pairs >>= 1) {
      if (tid < pairs) s_data[tid * s * 2] += s_data[tid * s * 2 + s];
      __syncthreads();
    }
  } else {
    for (unsigned s = blockDim.x / 2; s > (kRung >= 5 ? 32 : 0); s >>= 1) {
      if (tid < s) s_data[tid] += s_data[tid + s];
      __syncthreads();
    }
    if (kRung >= 5 && tid < 32) {
      const int sum = SumByBallots(s_data[tid] + s_data[tid + 32]);
      __syncwarp();
      if (tid == 0) s_data[0] = sum;
    }
  }
  if (tid == 0) AddUnderLock(d_sum, s_data[0], lock);
}

template <unsigned kThreads>
__global__ void Straight(const int* d_in, int* d_sum, unsigned n, int* lock) {
  __shared__ int s_data[kThreads / 32];
  int own = 0;
  for (unsigned i = blockIdx.x * kThreads * 2 + threadIdx.x; i < n; i += gridDim.x * kThreads * 2) {
    own += d_in[i];
    if (n - i > kThreads) own += d_in[i + kThreads];
  }
  own = SumByBallots(own);
  if (threadIdx.x % 32 == 0) s_data[threadIdx.x / 32] = own;
  __syncthreads();
  if (threadIdx.x == 0) {
#pragma unroll
    for (unsigned w = 1; w < kThreads / 32; ++w) own += s_data[w];
    AddUnderLock(d_sum, own, lock);
  }
}

// An atomic operation as in the programming guide: compare-and-swap, retried until no other thread was faster.
template <class Compare>
__device__ void Replace(int* word, int value, Compare better) {
  int old = *word, assumed;
  do {
    assumed = old;
    old = atomicCAS(word, assumed, better(value, assumed) ? value : assumed);
  } while (assumed != old);
}

template <class Op>
__global__ void WithLocks(const int* d_in, int* d_out, unsigned n, Op op) {
  __shared__ int s_lock, s_best;
  if (threadIdx.x == 0) s_lock = 0, s_best = op.neutral;
  __syncthreads();
  const auto misplaced = reinterpret_cast<size_t>(d_in) / sizeof(int) % 4;
  const unsigned head = min(n, static_cast<unsigned>((4 - misplaced) % 4)), fours = (n - head) / 4;
  const unsigned me = blockIdx.x * blockDim.x + threadIdx.x;
  int own = op.neutral;
  for (unsigned i = me; i < fours; i += gridDim.x * blockDim.x) {
    const int4 v = __ldcs(reinterpret_cast<const int4*>(d_in + head) + i);
    own = op(own, op(op(v.x, v.y), op(v.z, v.w)));
  }
  if (me < head) own = op(own, d_in[me]);
  if (head + 4 * fours + me < n) own = op(own, d_in[head + 4 * fours + me]);
  for (int mask = 1; mask < 32; mask *= 2) own = op(own, __shfl_xor_sync(kAll, own, mask));
  if (threadIdx.x % 32 == 0) {
    while (atomicCAS_block(&s_lock, 0, 1) != 0) {
    }
    __threadfence_block();
    s_best = op(s_best, own);
    __threadfence_block();
    atomicExch_block(&s_lock, 0);
  }
  __syncthreads();
  if (threadIdx.x == 0) op.Combine(d_out, s_best);
}

struct Sum {
  int neutral = 0;
  __device__ int operator()(int a, int b) const { return a + b; }
  __device__ void Combine(int* word, int value) const { atomicAdd(word, value); }
};
struct Max {
  int neutral = INT_MIN;
  __device__ int operator()(int a, int b) const { return a < b ? b : a; }
  __device__ void Combine(int* word, int value) const {
    Replace(word, value, [](int a, int b) { return a > b; });
  }
};
struct Min {
  int neutral = INT_MAX;
  __device__ int operator()(int a, int b) const { return b < a ? b : a; }
  __device__ void Combine(int* word, int value) const {
    Replace(word, value, [](int a, int b) { return a < b; });
  }
};

unsigned Cover(unsigned n, unsigned each) { return n == 0 ? 1 : (n - 1) / each + 1; }

template <class Launch>
void Cleared(int* d_sum, int* d_work, Launch launch) {
  cudaMemsetAsync(d_sum, 0, sizeof(int));
  cudaMemsetAsync(d_work, 0, sizeof(int));
  launch();
}

template <class Op>
void Locked(const int* d_in, int* d_out, unsigned n) {
  const Op op;
  cudaMemcpyAsync(d_out, &op.neutral, sizeof(int), cudaMemcpyHostToDevice);
  WithLocks<<<Cover(n, 8192), 512>>>(d_in, d_out, n, op);
}

}  // namespace

#define RUNG(name, rung, each)                                                                       \
  void name(const int* d_in, int* d_sum, unsigned n, int* d_work) {                                  \
    Cleared(d_sum, d_work, [=] { Tree<rung><<<Cover(n, each), kBlock>>>(d_in, d_sum, n, d_work); }); \
  }
RUNG(reduce1_interleaved, 1, kBlock)
RUNG(reduce2_strided, 2, kBlock)
RUNG(reduce3_sequential, 3, kBlock)
RUNG(reduce4_first_add, 4, 2 * kBlock)
RUNG(reduce5_warp_unrolled, 5, 2 * kBlock)

void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  Cleared(d_sum, d_work, [=] { Straight<kBlock><<<Cover(n, 2 * kBlock), kBlock>>>(d_in, d_sum, n, d_work); });
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  const unsigned wanted = Cover(n, 2 * kBlock), blocks = wanted > kMaxBlocks ? kMaxBlocks : wanted;
  Cleared(d_sum, d_work, [=] { Straight<kBlock><<<blocks, kBlock>>>(d_in, d_sum, n, d_work); });
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int*) { Locked<Sum>(d_in, d_sum, n); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int*) { Locked<Max>(d_in, d_max, n); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int*) { Locked<Min>(d_in, d_min, n); }
