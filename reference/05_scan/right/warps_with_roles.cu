// points: 100 + 10
// On rung 5 a block's last warp does nothing but look back, while the others load and scan their tile; the two sides
// meet at barriers with numbers, by inline PTX. Rungs 1 to 4: scans in registers along rows of 16 threads, and a graph.
#include <cooperative_groups.h>

#include <cuda/std/bit>
#include <cuda/std/cmath>
#include <limits>

#include "scan.h"

namespace {

template <int kBarrier>
__device__ __forceinline__ void Meet(int threads) {
  asm volatile("barrier.sync %0, %1;" ::"n"(kBarrier), "r"(threads) : "memory");
}
template <int kBarrier>
__device__ __forceinline__ void Arrive(int threads) {
  asm volatile("barrier.arrive %0, %1;" ::"n"(kBarrier), "r"(threads) : "memory");
}

// Inclusive over 16 neighbouring lanes.
template <class Op>
__device__ float ScanRow(float x, Op op) {
#pragma unroll
  for (int d = 1; d < 16; d *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, x, d, 16);
    if ((threadIdx.x & 15) >= d) x = op(left, x);
  }
  return x;
}

struct Sum {
  static constexpr float kNeutral = 0;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  static constexpr float kNeutral = -std::numeric_limits<float>::infinity();
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

// 512 threads in 32 rows of 16. Returns the sum before a thread's value, and that of all in *total.
__device__ float ScanBlock(float x, float* total) {
  __shared__ float s_rows[33];
  const float in_row = ScanRow(x, Sum());
  const unsigned row = threadIdx.x / 16;
  if (threadIdx.x % 16 == 15) s_rows[row + 1] = in_row;
  if (threadIdx.x == 0) s_rows[0] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    float sum = s_rows[threadIdx.x + 1];
    for (int d = 1; d < 32; d *= 2) {
      const float left = __shfl_up_sync(0xffffffffu, sum, d);
      if (threadIdx.x >= d) sum += left;
    }
    s_rows[threadIdx.x + 1] = sum;
  }
  __syncthreads();
  const float own = __shfl_up_sync(0xffffffffu, in_row, 1, 16);
  *total = s_rows[32];
  return s_rows[row] + (threadIdx.x % 16 == 0 ? 0 : own);
}

__global__ void OneEach(const float* in, float* out, unsigned n) {
  float total;
  const unsigned t = threadIdx.x;
  const float before = ScanBlock(t < n ? in[t] : 0, &total);
  if (t < n) out[t] = before;
}

__global__ void TwoEach(const float* in, float* out, unsigned n) {
  const unsigned i = 2 * threadIdx.x;
  const float first = i < n ? in[i] : 0, second = i + 1 < n ? in[i + 1] : 0;
  float total;
  const float before = ScanBlock(first + second, &total);
  if (i < n) out[i] = before;
  if (i + 1 < n) out[i + 1] = before + first;
}

__global__ void SumTiles(const float* in, float* sums, unsigned n) {
  const unsigned i = blockIdx.x * kTile + threadIdx.x;
  float total;
  ScanBlock((i < n ? in[i] : 0) + (i + kBlock < n ? in[i + kBlock] : 0), &total);
  if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

__global__ void ScanTiles(const float* in, const float* sums, float* out, unsigned n) {
  __shared__ float s_tile[kTile];
  const unsigned base = blockIdx.x * kTile, t = threadIdx.x;
  for (unsigned k = t; k < kTile; k += kBlock) s_tile[k] = base + k < n ? in[base + k] : 0;
  __syncthreads();
  const float first = s_tile[2 * t], second = s_tile[2 * t + 1];
  float total;
  const float before = ScanBlock(first + second, &total) + (sums != nullptr ? sums[blockIdx.x] : 0);
  s_tile[2 * t] = before;
  s_tile[2 * t + 1] = before + first;
  __syncthreads();
  for (unsigned k = t; k < kTile; k += kBlock) {
    if (base + k < n) out[base + k] = s_tile[k];
  }
}

void AddLevel(cudaStream_t stream, const float* in, float* out, unsigned n, float* room) {
  const unsigned tiles = TilesFor(n);
  if (tiles > 1) {
    SumTiles<<<tiles, kBlock, 0, stream>>>(in, room, n);
    AddLevel(stream, room, room, tiles, room + tiles);
  }
  ScanTiles<<<tiles, kBlock, 0, stream>>>(in, tiles > 1 ? room : nullptr, out, n);
}

enum Kind : unsigned { kNothing, kTotal, kPrefix };
using Word = unsigned long long;

__device__ Word Pack(Kind kind, float value) { return static_cast<Word>(kind) << 32 | __float_as_uint(value); }

__device__ Word Load(const Word* word) {
  Word value;
  asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(word) : "memory");
  return value;
}
__device__ void Store(Word* word, Word value) {
  asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(word), "l"(value) : "memory");
}

constexpr int kWorkers = 256, kEach = 8, kLargeTile = kWorkers * kEach, kThreads = kWorkers + 32;

// Barriers: 1, the workers among themselves; 2, the tile's total is there; 3, the prefix is there.
template <class Op, bool kInclusive>
__global__ void __launch_bounds__(kThreads) LookBack(const float* in, float* out, unsigned n, Word* words) {
  __shared__ float s_tile[kLargeTile + kLargeTile / 32], s_warps[kWorkers / 32], s_total, s_prefix;
  __shared__ unsigned s_number;
  const Op op;
  if (threadIdx.x == 0) s_number = atomicAdd(reinterpret_cast<unsigned*>(words), 1u);
  __syncthreads();
  const unsigned tile = s_number, lane = threadIdx.x % 32;
  Word* const mine = words + 1 + tile;

  if (threadIdx.x >= kWorkers) {
    Meet<2>(kThreads);
    const float total = s_total;
    if (lane == 0) Store(mine, Pack(tile == 0 ? kPrefix : kTotal, total));
    float prefix = Op::kNeutral;
    for (int last = static_cast<int>(tile) - 1; last >= 0; last -= 32) {
      const int at = last - static_cast<int>(lane);
      Word word = at < 0 ? Pack(kPrefix, Op::kNeutral) : Load(mine - (tile - at));
      while (__any_sync(0xffffffffu, word >> 32 == kNothing)) {
        __nanosleep(50);
        if (word >> 32 == kNothing) word = Load(mine - (tile - at));
      }
      const unsigned found = __ballot_sync(0xffffffffu, word >> 32 == kPrefix);
      const unsigned nearest = found == 0 ? 31 : cuda::std::countr_zero(found);
      float value = lane <= nearest ? __uint_as_float(static_cast<unsigned>(word)) : Op::kNeutral;
      for (int d = 1; d < 32; d *= 2) value = op(__shfl_xor_sync(0xffffffffu, value, d), value);
      prefix = op(value, prefix);
      if (found != 0) break;
    }
    if (lane == 0) {
      if (tile != 0) Store(mine, Pack(kPrefix, op(prefix, total)));
      s_prefix = prefix;
    }
    Arrive<3>(kThreads);
    return;
  }

  const unsigned t = threadIdx.x, base = tile * kLargeTile;
  for (unsigned k = t; k < kLargeTile; k += kWorkers) s_tile[k + k / 32] = base + k < n ? in[base + k] : Op::kNeutral;
  Meet<1>(kWorkers);
  float x[kEach], sum = Op::kNeutral;
  for (int k = 0; k < kEach; ++k) {
    const unsigned i = t * kEach + k;
    x[k] = s_tile[i + i / 32];
    sum = op(sum, x[k]);
  }
  float scanned = sum;
  for (int d = 1; d < 32; d *= 2) {
    const float left = __shfl_up_sync(0xffffffffu, scanned, d);
    if (lane >= d) scanned = op(left, scanned);
  }
  if (lane == 31) s_warps[t / 32] = scanned;
  Meet<1>(kWorkers);
  float before = Op::kNeutral, total = Op::kNeutral;
  for (unsigned w = 0; w < kWorkers / 32; ++w) {
    if (w == t / 32) before = total;
    total = op(total, s_warps[w]);
  }
  if (t == 0) s_total = total;
  Arrive<2>(kThreads);
  const float left = __shfl_up_sync(0xffffffffu, scanned, 1);
  if (lane != 0) before = op(before, left);
  Meet<3>(kThreads);
  before = op(s_prefix, before);
  for (int k = 0; k < kEach; ++k) {
    const unsigned i = t * kEach + k;
    const float with = op(before, x[k]);
    s_tile[i + i / 32] = kInclusive ? with : before;
    before = with;
  }
  Meet<1>(kWorkers);
  for (unsigned k = t; k < kLargeTile; k += kWorkers) {
    if (base + k < n) out[base + k] = s_tile[k + k / 32];
  }
}

template <class Op, bool kInclusive>
void OnePass(const float* in, float* out, unsigned n, Word* words) {
  if (n == 0) return;
  const unsigned tiles = (n + kLargeTile - 1) / kLargeTile;
  cudaMemsetAsync(words, 0, (tiles + 1) * sizeof(Word));
  LookBack<Op, kInclusive><<<tiles, kThreads>>>(in, out, n, words);
}

}  // namespace

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) OneEach<<<1, kBlock>>>(d_in, d_out, n);
}
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) TwoEach<<<1, kBlock>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) TwoEach<<<1, kBlock>>>(d_in, d_out, n);
}
void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
  AddLevel(stream, d_in, d_out, n, reinterpret_cast<float*>(d_work));
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  cudaGraphExec_t ready;
  cudaGraphInstantiate(&ready, graph, 0);
  cudaGraphLaunch(ready, stream);
  cudaStreamSynchronize(stream);
  cudaGraphExecDestroy(ready);
  cudaGraphDestroy(graph);
  cudaStreamDestroy(stream);
}
void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  OnePass<Sum, false>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  OnePass<Sum, true>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  OnePass<Max, true>(d_in, d_out, n, d_work);
}
