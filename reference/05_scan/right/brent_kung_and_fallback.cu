// points: 100 + 10
// Brent and Kung's tree, in place and with registers at the leaves; and a look-back that does not wait for long: if
// a tile before has published nothing for a while, the block adds up that tile itself.
#include <cfloat>
#include <cmath>
#include <cuda/atomic>

#include "scan.h"

using Word = unsigned long long;
using Shared = cuda::atomic_ref<Word, cuda::thread_scope_device>;

struct Plus {
  static __device__ float identity() { return 0.0f; }
  static __device__ float apply(float a, float b) { return a + b; }
};
struct Larger {
  static __device__ float identity() { return -INFINITY; }
  static __device__ float apply(float a, float b) { return fmaxf(a, b); }
};

// Rung 1: two halves of one array, an offset that flips.
__global__ void __launch_bounds__(kBlock) hillis(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s[2 * kBlock];
  const unsigned t = threadIdx.x;
  unsigned from = 0, to = kBlock;
  s[t] = t > 0 && t - 1 < n ? d_in[t - 1] : 0.0f;
  __syncthreads();
  for (unsigned d = 1; d < kBlock; d <<= 1) {
    s[to + t] = t >= d ? s[from + t] + s[from + t - d] : s[from + t];
    from ^= kBlock;
    to ^= kBlock;
    __syncthreads();
  }
  if (t < n) d_out[t] = s[from + t];
}

// Brent and Kung's inclusive scan of kBlock values. place() says where a value lies.
template <class Place>
__device__ void brent_kung(float* s, Place place) {
  for (unsigned d = 1; d < kBlock; d *= 2) {
    __syncthreads();
    const unsigned i = 2 * d * (threadIdx.x + 1) - 1;
    if (i < kBlock) s[place(i)] += s[place(i - d)];
  }
  for (unsigned d = kBlock / 4; d > 0; d /= 2) {
    __syncthreads();
    const unsigned i = 2 * d * (threadIdx.x + 1) - 1;
    if (i + d < kBlock) s[place(i + d)] += s[place(i)];
  }
  __syncthreads();
}

template <bool kPadded>
__global__ void pairs(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s[kBlock + kBlock / 32];
  const auto place = [](unsigned i) { return kPadded ? i + i / 32 : i; };
  const unsigned t = threadIdx.x;
  const float first = 2 * t < n ? d_in[2 * t] : 0.0f;
  const float second = 2 * t + 1 < n ? d_in[2 * t + 1] : 0.0f;
  s[place(t)] = first + second;
  brent_kung(s, place);
  const float before = t > 0 ? s[place(t - 1)] : 0.0f;
  if (2 * t < n) d_out[2 * t] = before;
  if (2 * t + 1 < n) d_out[2 * t + 1] = before + first;
}

constexpr unsigned kThreads = 256, kEach = 8, kLarge = kThreads * kEach;
enum : unsigned { kNothing = 0, kTotal = 1, kPrefix = 2 };

template <class Op>
__device__ float warp_inclusive(float v) {
  for (unsigned d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(0xffffffffu, v, d);
    if (threadIdx.x % 32 >= d) v = Op::apply(other, v);
  }
  return v;
}

// The exclusive scan of one value a thread; total gets the sum of all.
template <class Op>
__device__ float block_exclusive(float v, float& total) {
  __shared__ float s_warp[kThreads / 32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float inclusive = warp_inclusive<Op>(v);
  __syncthreads();
  if (lane == 31) s_warp[warp] = inclusive;
  __syncthreads();
  float before = Op::identity();
  total = Op::identity();
  for (unsigned w = 0; w < kThreads / 32; ++w) {
    if (w == warp) before = total;
    total = Op::apply(total, s_warp[w]);
  }
  const float left = __shfl_up_sync(0xffffffffu, inclusive, 1);
  return lane == 0 ? before : Op::apply(before, left);
}

template <class Op>
__device__ float load_tile(const float* d_in, unsigned n, unsigned tile, float (&v)[kEach]) {
  __shared__ float s_tile[kLarge + kLarge / 32];
  const unsigned first = tile * kLarge;
  __syncthreads();
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = k * kThreads + threadIdx.x;
    s_tile[i + i / 32] = first + i < n ? d_in[first + i] : Op::identity();
  }
  __syncthreads();
  float sum = Op::identity();
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = threadIdx.x * kEach + k;
    v[k] = s_tile[i + i / 32];
    sum = Op::apply(sum, v[k]);
  }
  return sum;
}

template <bool kInclusive, class Op>
__device__ void store_tile(float* d_out, unsigned n, unsigned tile, float before, const float (&v)[kEach]) {
  __shared__ float s_tile[kLarge + kLarge / 32];
  const unsigned first = tile * kLarge;
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = threadIdx.x * kEach + k;
    const float next = Op::apply(before, v[k]);
    s_tile[i + i / 32] = kInclusive ? next : before;
    before = next;
  }
  __syncthreads();
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = k * kThreads + threadIdx.x;
    if (first + i < n) d_out[first + i] = s_tile[i + i / 32];
  }
}

// Rung 4.
__global__ void tile_sums(const float* d_in, float* d_sums, unsigned n) {
  float v[kEach], total;
  block_exclusive<Plus>(load_tile<Plus>(d_in, n, blockIdx.x, v), total);
  if (threadIdx.x == 0) d_sums[blockIdx.x] = total;
}
__global__ void tile_scans(const float* d_in, const float* d_begin, float* d_out, unsigned n) {
  float v[kEach], total;
  const float before = block_exclusive<Plus>(load_tile<Plus>(d_in, n, blockIdx.x, v), total);
  store_tile<false, Plus>(d_out, n, blockIdx.x, before + (d_begin ? d_begin[blockIdx.x] : 0.0f), v);
}

void scan_level(const float* d_in, float* d_out, unsigned n, float* d_work) {
  const unsigned tiles = n / kLarge + (n % kLarge != 0);
  if (tiles == 0) return;
  if (tiles == 1) {
    tile_scans<<<1, kThreads>>>(d_in, nullptr, d_out, n);
    return;
  }
  tile_sums<<<tiles, kThreads>>>(d_in, d_work, n);
  scan_level(d_work, d_work + tiles, tiles, d_work + 2 * tiles);
  tile_scans<<<tiles, kThreads>>>(d_in, d_work + tiles, d_out, n);
}

// Rung 5. d_words[0] is the counter.
template <bool kInclusive, class Op>
__global__ void single_pass(const float* d_in, float* d_out, unsigned n, Word* d_words) {
  __shared__ unsigned s_tile, s_kind;
  __shared__ float s_before, s_value;
  if (threadIdx.x == 0) s_tile = static_cast<unsigned>(Shared(d_words[0]).fetch_add(1, cuda::memory_order_relaxed));
  __syncthreads();
  const unsigned tile = s_tile;
  Word* words = d_words + 1;
  float v[kEach], total;
  const float in_tile = block_exclusive<Op>(load_tile<Op>(d_in, n, tile, v), total);
  const auto publish = [&](unsigned kind, float value) {
    Shared(words[tile]).store(static_cast<Word>(kind) << 32 | __float_as_uint(value), cuda::memory_order_relaxed);
  };
  if (threadIdx.x == 0) publish(tile == 0 ? kPrefix : kTotal, total);
  float before = Op::identity();
  for (unsigned look = tile; look-- > 0;) {
    __syncthreads();
    if (threadIdx.x == 0) {
      Word word = 0;
      for (int tries = 0; tries < 64 && word == 0; ++tries) word = Shared(words[look]).load(cuda::memory_order_relaxed);
      s_kind = static_cast<unsigned>(word >> 32);
      s_value = __uint_as_float(static_cast<unsigned>(word));
    }
    __syncthreads();
    const unsigned kind = s_kind;
    float value = s_value;
    if (kind == kNothing) {
      float other[kEach];
      block_exclusive<Op>(load_tile<Op>(d_in, n, look, other), value);
    }
    before = Op::apply(value, before);
    if (kind == kPrefix) break;
  }
  if (threadIdx.x == 0) {
    if (tile > 0) publish(kPrefix, Op::apply(before, total));
    s_before = before;
  }
  __syncthreads();
  store_tile<kInclusive, Op>(d_out, n, tile, Op::apply(s_before, in_tile), v);
}

template <bool kInclusive, class Op>
void one_pass(const float* d_in, float* d_out, unsigned n, Word* d_work) {
  const unsigned tiles = n / kLarge + (n % kLarge != 0);
  if (tiles == 0) return;
  cudaMemsetAsync(d_work, 0, (tiles + 1) * sizeof(Word));
  single_pass<kInclusive, Op><<<tiles, kThreads>>>(d_in, d_out, n, d_work);
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, Word*) {
  if (n != 0) hillis<<<1, kBlock>>>(d_in, d_out, n);
}
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, Word*) {
  if (n != 0) pairs<false><<<1, kBlock>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, Word*) {
  if (n != 0) pairs<true><<<1, kBlock>>>(d_in, d_out, n);
}
void scan4_blocks(const float* d_in, float* d_out, unsigned n, Word* d_work) {
  scan_level(d_in, d_out, n, reinterpret_cast<float*>(d_work));
}
void scan5_lookback(const float* d_in, float* d_out, unsigned n, Word* d_work) {
  one_pass<false, Plus>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, Word* d_work) {
  one_pass<true, Plus>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, Word* d_work) {
  one_pass<true, Larger>(d_in, d_out, n, d_work);
}
