// Right on rung 5; one kernel serves the others. Wrong solutions are edits of it.
#include "scan.h"

// Tiles of kTile elements in padded shared memory, 16 elements to each of 64 threads.
__device__ unsigned place(unsigned i) { return i + i / 32; }

__device__ void load_tile(const float* d_in, unsigned begin, unsigned n, float* s_data) {
  for (unsigned i = threadIdx.x; i < kTile; i += 64) s_data[place(i)] = begin + i < n ? d_in[begin + i] : 0;
  __syncthreads();
}

// The sum of the threads before this one; thread 63 adds its own to get the tile's.
__device__ float sum_before(const float* s_data, float* own) {
  __shared__ float s_half;
  const unsigned tid = threadIdx.x;
  *own = 0;
  for (unsigned i = 16 * tid; i < 16 * tid + 16; ++i) *own += s_data[place(i)];
  float sum = *own;
  for (unsigned s = 1; s < 32; s *= 2) {
    const float other = __shfl_up_sync(0xffffffff, sum, s);
    if (tid % 32 >= s) sum += other;
  }
  if (tid == 31) s_half = sum;
  float before = __shfl_up_sync(0xffffffff, sum, 1);
  if (tid % 32 == 0) before = 0;
  __syncthreads();
  return tid < 32 ? before : before + s_half;
}

__device__ void store_tile(float before, float* s_data, float* d_out, unsigned begin, unsigned n) {
  for (unsigned i = 16 * threadIdx.x; i < 16 * threadIdx.x + 16; ++i) {
    const float value = s_data[place(i)];
    s_data[place(i)] = before;
    before += value;
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kTile && begin + i < n; i += 64) d_out[begin + i] = s_data[place(i)];
}

// Serves the rungs that are not the point here: right, and within the budgets of rungs 1 to 4.
__global__ void good_kernel(const float* d_in, const float* d_before, float* d_sums, float* d_out, unsigned n) {
  __shared__ float s_data[kTile + kTile / 32];
  const unsigned begin = blockIdx.x * kTile;
  load_tile(d_in, begin, n, s_data);
  float own;
  const float before = sum_before(s_data, &own);
  if (d_sums == nullptr) {
    store_tile(d_before == nullptr ? before : before + d_before[blockIdx.x], s_data, d_out, begin, n);
  } else if (threadIdx.x == 63) {
    d_sums[blockIdx.x] = before + own;
  }
}

void good_tiles(const float* d_in, float* d_out, unsigned n, float* d_sums) {
  const unsigned tiles = TilesFor(n);
  if (tiles > 1) {
    good_kernel<<<tiles, 64>>>(d_in, nullptr, d_sums, nullptr, n);
    good_tiles(d_sums, d_sums, tiles, d_sums + tiles);
  }
  good_kernel<<<tiles, 64>>>(d_in, tiles > 1 ? d_sums : nullptr, nullptr, d_out, n);
}

void good(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n > 0) good_tiles(d_in, d_out, n, reinterpret_cast<float*>(d_work));
}

constexpr unsigned kTotal = 1, kPrefix = 2;

__device__ void publish(volatile unsigned long long* d_word, unsigned known, float value) {
  *d_word = static_cast<unsigned long long>(known) << 32 | __float_as_uint(value);
}

// The sum of all tiles before this one: thread 63 walks back, tile by tile.
__device__ float look_back(const volatile unsigned long long* d_words, unsigned tile) {
  float before = 0;
  for (unsigned other = tile; other > 0; --other) {
    unsigned long long word = d_words[other - 1];
    while (word == 0) word = d_words[other - 1];
    before += __uint_as_float(static_cast<unsigned>(word));
    if (word >> 32 == kPrefix) break;
  }
  return before;
}

__global__ void lookback_kernel(const float* d_in, float* d_out, unsigned n, unsigned long long* d_counter,
                                volatile unsigned long long* d_words) {
  __shared__ float s_data[kTile + kTile / 32];
  __shared__ unsigned s_tile;
  __shared__ float s_before;
  if (threadIdx.x == 0) s_tile = atomicAdd(d_counter, 1ull);
  __syncthreads();
  const unsigned tile = s_tile;
  load_tile(d_in, tile * kTile, n, s_data);
  float own;
  const float before = sum_before(s_data, &own);
  if (threadIdx.x == 63) {
    publish(&d_words[tile], tile == 0 ? kPrefix : kTotal, before + own);
    s_before = look_back(d_words, tile);
    publish(&d_words[tile], kPrefix, s_before + before + own);
  }
  __syncthreads();
  store_tile(s_before + before, s_data, d_out, tile * kTile, n);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  cudaMemsetAsync(d_work, 0, (1 + TilesFor(n)) * sizeof(*d_work));
  lookback_kernel<<<TilesFor(n), 64>>>(d_in, d_out, n, d_work, d_work + 1);
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  good(d_in, d_out, n, d_work);
}
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  good(d_in, d_out, n, d_work);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  good(d_in, d_out, n, d_work);
}
void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  good(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float*, float*, unsigned, unsigned long long*) {}
void scan6_max(const float*, float*, unsigned, unsigned long long*) {}
