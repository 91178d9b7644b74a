// points: 100 + 10
// Memory of its own from cudaMallocAsync, and 64-thread blocks: tiles of 1024 elements, sixteen a thread; a look-back
// by atomics alone, which publish (atomicExch) and poll (atomicAdd of nothing) whole words.
#include "scan.h"

using Word = unsigned long long;

struct Plus {
  static __device__ float one() { return 0; }
  static __device__ float two(float a, float b) { return a + b; }
};
struct Max {
  static __device__ float one() { return -INFINITY; }
  static __device__ float two(float a, float b) { return fmaxf(a, b); }
};

__global__ void steps_kernel(const float* d_in, float* d_out, unsigned n) {
  extern __shared__ float s_both[];
  const unsigned tid = threadIdx.x, width = blockDim.x;
  float mine = tid > 0 && tid < n ? d_in[tid - 1] : 0;
  bool odd = false;
  for (unsigned s = 1; s < width; s *= 2, odd = !odd) {
    float* s_now = s_both + (odd ? width : 0);
    s_now[tid] = mine;
    __syncthreads();
    if (tid >= s) mine += s_now[tid - s];
  }
  if (tid < n) d_out[tid] = mine;
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  const unsigned threads = (n + 31) / 32 * 32;
  if (n > 0) steps_kernel<<<1, threads, 2 * threads * sizeof(float)>>>(d_in, d_out, n);
}

// 64 threads with sixteen elements each, in rows of 17 words.
struct TileData {
  float rows[64 * 17];
  float half;
};

template <class Op>
__device__ float scan_tile(TileData& s, const float* d_in, unsigned begin, unsigned n, float* sum_before) {
  const unsigned tid = threadIdx.x;
  for (unsigned i = tid; i < 1024; i += 64) s.rows[i / 16 * 17 + i % 16] = begin + i < n ? d_in[begin + i] : Op::one();
  __syncthreads();
  float own = Op::one();
  for (unsigned k = 0; k < 16; ++k) own = Op::two(own, s.rows[17 * tid + k]);
  float sum = own;
  for (unsigned d = 1; d < 32; d *= 2) {
    const float other = __shfl_up_sync(~0u, sum, d);
    if (tid % 32 >= d) sum = Op::two(other, sum);
  }
  if (tid == 31) s.half = sum;
  const float left = __shfl_up_sync(~0u, sum, 1);
  __syncthreads();
  const float half = tid < 32 ? Op::one() : s.half;
  *sum_before = tid % 32 == 0 ? half : Op::two(half, left);
  return Op::two(half, sum);  // in thread 63 that of the tile
}

template <class Op, bool kInclusive>
__device__ void store_tile(TileData& s, float before, float* d_out, unsigned begin, unsigned n) {
  for (unsigned k = 0; k < 16; ++k) {
    float& element = s.rows[17 * threadIdx.x + k];
    const float after = Op::two(before, element);
    element = kInclusive ? after : before;
    before = after;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 1024 && begin + i < n; i += 64) d_out[begin + i] = s.rows[i / 16 * 17 + i % 16];
}

__global__ void sums_kernel(const float* d_in, float* d_sums, unsigned n) {
  __shared__ TileData s;
  float before;
  const float sum = scan_tile<Plus>(s, d_in, blockIdx.x * 1024, n, &before);
  if (threadIdx.x == 63) d_sums[blockIdx.x] = sum;
}

__global__ void tiles_kernel(const float* d_in, const float* d_sums, float* d_out, unsigned n) {
  __shared__ TileData s;
  float before;
  scan_tile<Plus>(s, d_in, blockIdx.x * 1024, n, &before);
  if (d_sums != nullptr) before += d_sums[blockIdx.x];
  store_tile<Plus, false>(s, before, d_out, blockIdx.x * 1024, n);
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n == 0) return;
  const unsigned tiles = TilesFor(n);
  float *d_sums = nullptr, *d_scanned = nullptr;
  if (tiles > 1) {
    cudaMallocAsync(&d_sums, 2 * tiles * sizeof(float), nullptr);
    d_scanned = d_sums + tiles;
    sums_kernel<<<tiles, 64>>>(d_in, d_sums, n);
    scan4_blocks(d_sums, d_scanned, tiles, nullptr);
  }
  tiles_kernel<<<tiles, 64>>>(d_in, d_scanned, d_out, n);
  if (tiles > 1) cudaFreeAsync(d_sums, nullptr);
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) tiles_kernel<<<1, 64>>>(d_in, nullptr, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) tiles_kernel<<<1, 64>>>(d_in, nullptr, d_out, n);
}

template <class Op, bool kInclusive>
__global__ void lookback_kernel(const float* d_in, float* d_out, unsigned n, Word* d_counter, Word* d_words) {
  __shared__ TileData s;
  __shared__ Word s_tile;
  __shared__ float s_before;
  if (threadIdx.x == 63) s_tile = atomicAdd(d_counter, 1);
  __syncthreads();
  const unsigned tile = static_cast<unsigned>(s_tile);
  float before;
  const float total = scan_tile<Op>(s, d_in, tile * 1024, n, &before);
  if (threadIdx.x == 63) {
    atomicExch(&d_words[tile], Word(1) << 32 | __float_as_uint(total));
    float earlier = Op::one();
    unsigned other = tile;
    while (other > 0) {
      const Word word = atomicAdd(&d_words[other - 1], 0);
      const unsigned kind = static_cast<unsigned>(word >> 32);
      if (kind == 0) {
        __nanosleep(20);
        continue;
      }
      earlier = Op::two(__uint_as_float(static_cast<unsigned>(word)), earlier);
      other = kind == 2 ? 0 : other - 1;
    }
    atomicExch(&d_words[tile], Word(2) << 32 | __float_as_uint(Op::two(earlier, total)));
    s_before = earlier;
  }
  __syncthreads();
  store_tile<Op, kInclusive>(s, Op::two(s_before, before), d_out, tile * 1024, n);
}

template <class Op, bool kInclusive>
void lookback(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  const unsigned tiles = TilesFor(n);
  Word* d_words = nullptr;
  cudaMallocAsync(&d_words, (1 + tiles) * sizeof(Word), nullptr);
  cudaMemsetAsync(d_words, 0, (1 + tiles) * sizeof(Word));
  lookback_kernel<Op, kInclusive><<<tiles, 64>>>(d_in, d_out, n, d_words, d_words + 1);
  cudaFreeAsync(d_words, nullptr);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  lookback<Plus, false>(d_in, d_out, n);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  lookback<Plus, true>(d_in, d_out, n);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  lookback<Max, true>(d_in, d_out, n);
}
