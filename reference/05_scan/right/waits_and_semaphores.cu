// points: 100 + 10
// Blocks wait in turn with the standard library: cuda::atomic_ref's wait() and notify_all(), and on rung 6
// a ticket passed on by device-scope semaphores. Rung 1 has its two arrays in dynamic shared memory, rungs 2 and 3 scan
// columns of a matrix, rung 4 gives each warp a tile of its own.
#include <cuda/atomic>
#include <cuda/semaphore>
#include <cuda/std/limits>
#include <cuda/std/tuple>

#include "scan.h"

namespace {

extern __shared__ float s_dynamic[];

__global__ void HillisSteele(const float* __restrict__ in, float* __restrict__ out, int n) {
  float *from = s_dynamic, *to = s_dynamic + blockDim.x;
  const int t = threadIdx.x;
  from[t] = t > 0 && t <= n ? in[t - 1] : 0.f;
  for (int s = 1; s < n; s <<= 1) {
    __syncthreads();
    to[t] = t < s ? from[t] : from[t] + from[t - s];
    float* const swap = from;
    from = to;
    to = swap;
  }
  if (t < n) out[t] = from[t];
}

// Elements 0 to 1023 are a matrix of 32 rows. A warp's lanes scan a row; 32 threads scan the rows' sums.
template <int kPitch>
__global__ void Matrix(const float* in, float* out, int n) {
  __shared__ float s[32 * kPitch], s_sums[32];
  const int t = threadIdx.x;
  for (int i = t; i < 1024; i += blockDim.x) s[i / 32 * kPitch + i % 32] = i < n ? in[i] : 0.f;
  __syncthreads();
  if (t < 32) {
    float sum = 0;
    for (int k = 0; k < 32; ++k) {
      const float x = s[t * kPitch + k];
      s[t * kPitch + k] = sum;
      sum += x;
    }
    s_sums[t] = sum;
    __syncwarp();
    if (t == 0) {
      float before = 0;
      for (int k = 0; k < 32; ++k) {
        const float x = s_sums[k];
        s_sums[k] = before;
        before += x;
      }
    }
  }
  __syncthreads();
  for (int i = t; i < n; i += blockDim.x) out[i] = s[i / 32 * kPitch + i % 32] + s_sums[i / 32];
}

struct Sum {
  static __device__ float Neutral() { return 0; }
  static __device__ float Apply(float a, float b) { return a + b; }
};
struct Max {
  static __device__ float Neutral() { return -cuda::std::numeric_limits<float>::infinity(); }
  static __device__ float Apply(float a, float b) { return fmaxf(a, b); }
};

// Inclusive over a warp.
template <class Op>
__device__ float Warp(float x) {
  for (unsigned d = 1; d < 32; d <<= 1) {
    const float y = __shfl_up_sync(~0u, x, d);
    x = threadIdx.x % 32 < d ? x : Op::Apply(y, x);
  }
  return x;
}

// Each warp scans its tile of kTile elements, 32 at a time, starting from `before`.
__device__ float RowByRow(const float* in, float* out, unsigned begin, unsigned n, float before) {
  const unsigned lane = threadIdx.x % 32;
  for (unsigned i = begin + lane; i < begin + kTile; i += 32) {
    const float x = i < n ? __ldcs(in + i) : 0.f;
    const float scanned = Warp<Sum>(x), left = __shfl_up_sync(~0u, scanned, 1);
    if (out != nullptr && i < n) __stcs(out + i, before + (lane == 0 ? 0.f : left));
    before += __shfl_sync(~0u, scanned, 31);
  }
  return before;
}

__global__ void WarpSums(const float* in, float* sums, unsigned n) {
  const unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (size_t{tile} * kTile >= n) return;
  const float total = RowByRow(in, nullptr, tile * kTile, n, 0);
  if (threadIdx.x % 32 == 0) sums[tile] = total;
}

__global__ void WarpScans(const float* in, const float* sums, float* out, unsigned n) {
  const unsigned tile = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (size_t{tile} * kTile >= n) return;
  RowByRow(in, out, tile * kTile, n, sums == nullptr ? 0 : sums[tile]);
}

void Levels(const float* in, float* out, unsigned n, float* room) {
  const unsigned tiles = TilesFor(n), blocks = (tiles + 7) / 8;
  if (tiles > 1) {
    WarpSums<<<blocks, 256>>>(in, room, n);
    Levels(room, room, tiles, room + tiles);
  }
  WarpScans<<<blocks, 256>>>(in, tiles > 1 ? room : nullptr, out, n);
}

using Word = unsigned long long;
using Turn = cuda::atomic_ref<Word, cuda::thread_scope_device>;
constexpr unsigned kThreads = 256, kEach = 16, kLarge = kThreads * kEach;

// The tile's prefix, from the word of the tile before it: the value, and in the upper half a flag that it is valid.
struct ByWaiting {
  template <class Op>
  __device__ static float Chain(Word* words, unsigned tile, float total) {
    float before = Op::Neutral();
    if (tile > 0) {
      const Turn previous(words[tile]);
      previous.wait(0, cuda::memory_order_acquire);
      before = __uint_as_float(static_cast<unsigned>(previous.load(cuda::memory_order_relaxed)));
    }
    const Turn own(words[tile + 1]);
    own.store(Word{1} << 32 | __float_as_uint(Op::Apply(before, total)), cuda::memory_order_release);
    own.notify_all();
    return before;
  }
};

// The same with a semaphore for each tile, which the tile before releases once, and a plain value next to it.
using Gate = cuda::binary_semaphore<cuda::thread_scope_device>;
static_assert(sizeof(Gate) <= sizeof(Word));

struct BySemaphore {
  template <class Op>
  __device__ static float Chain(Word* words, unsigned tile, float total) {
    const auto gate = [words](unsigned of) { return reinterpret_cast<Gate*>(words + 1 + of); };
    auto* const carry = reinterpret_cast<float*>(words) + 1;
    gate(tile)->acquire();
    const float before = tile == 0 ? Op::Neutral() : *carry;
    *carry = Op::Apply(before, total);
    if (tile + 1 < gridDim.x) gate(tile + 1)->release();
    return before;
  }
};

__global__ void MakeGates(Word* words, unsigned tiles) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < tiles) new (words + 1 + i) Gate(i == 0 ? 1 : 0);
  if (i == 0) words[0] = 0;
}

template <class Op, bool kInclusive, class Way>
__global__ void Chained(const float* in, float* out, unsigned n, Word* words) {
  __shared__ float s_tile[kLarge + kLarge / 16], s_warps[8], s_before;
  __shared__ unsigned s_number;
  const unsigned t = threadIdx.x;
  if (t == 0) {
    s_number = cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*reinterpret_cast<unsigned*>(words))++;
  }
  __syncthreads();
  const unsigned tile = s_number, base = tile * kLarge;
  for (unsigned k = t; k < kLarge; k += kThreads) s_tile[k + k / 16] = base + k < n ? in[base + k] : Op::Neutral();
  __syncthreads();
  float sum = Op::Neutral();
  for (unsigned k = 0; k < kEach; ++k) sum = Op::Apply(sum, s_tile[t * (kEach + 1) + k]);
  const float scanned = Warp<Op>(sum);
  if (t % 32 == 31) s_warps[t / 32] = scanned;
  __syncthreads();
  if (t == 0) {
    float total = Op::Neutral();
    for (float& warp : s_warps) {
      const float own = warp;
      warp = total;
      total = Op::Apply(total, own);
    }
    s_before = Way::template Chain<Op>(words, tile, total);
  }
  __syncthreads();
  const float left = __shfl_up_sync(~0u, scanned, 1);
  float before = Op::Apply(s_before, s_warps[t / 32]);
  if (t % 32 != 0) before = Op::Apply(before, left);
  for (unsigned k = 0; k < kEach; ++k) {
    float& x = s_tile[t * (kEach + 1) + k];
    const float with = Op::Apply(before, x);
    x = kInclusive ? with : before;
    before = with;
  }
  __syncthreads();
  for (unsigned k = t; k < kLarge; k += kThreads) {
    if (base + k < n) out[base + k] = s_tile[k + k / 16];
  }
}

template <class Op>
void WithSemaphores(const float* in, float* out, unsigned n, Word* words) {
  if (n == 0) return;
  const unsigned tiles = (n + kLarge - 1) / kLarge;
  MakeGates<<<(tiles + 255) / 256, 256>>>(words, tiles);
  Chained<Op, true, BySemaphore><<<tiles, kThreads>>>(in, out, n, words);
}

}  // namespace

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) HillisSteele<<<1, kBlock, 2 * kBlock * sizeof(float)>>>(d_in, d_out, static_cast<int>(n));
}
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) Matrix<32><<<1, kBlock>>>(d_in, d_out, static_cast<int>(n));
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) Matrix<33><<<1, kBlock>>>(d_in, d_out, static_cast<int>(n));
}
void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n > 0) Levels(d_in, d_out, n, reinterpret_cast<float*>(d_work));
}
void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n + kLarge - 1) / kLarge;
  cudaMemsetAsync(d_work, 0, (tiles + 1) * sizeof(Word));
  Chained<Sum, false, ByWaiting><<<tiles, kThreads>>>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  WithSemaphores<Sum>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  WithSemaphores<Max>(d_in, d_out, n, d_work);
}
