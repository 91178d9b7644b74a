// points: 100 + 10
// All 256 threads of a block look back at once, at as many tiles; the nearest prefix is found by a reduction. Rungs 1
// to 3: Sklansky's halves over what threads have added up in registers.
#include "scan.h"

struct Add {
  static constexpr bool kMax = false;
};
struct Top {
  static constexpr bool kMax = true;
};
template <class Op>
__device__ float zero() {
  return Op::kMax ? -INFINITY : 0;
}
template <class Op>
__device__ float join(float a, float b) {
  return Op::kMax ? fmaxf(a, b) : a + b;
}

// Sklansky: in each step the upper half of a group adds the last of its lower half. Inclusive, in place.
template <class Op>
__device__ void sklansky(float* s_data, unsigned length) {
  for (unsigned s = 1; s < length; s *= 2) {
    __syncthreads();
    for (unsigned k = threadIdx.x; k < length / 2; k += blockDim.x) {
      const unsigned low = k / s * 2 * s + s - 1, high = low + 1 + k % s;
      s_data[high] = join<Op>(s_data[low], s_data[high]);
    }
  }
  __syncthreads();
}

// blockDim.x threads have kEach elements each, in rows of kEach + 1 words; s_sums has a word for each thread.
template <class Op, unsigned kEach>
__device__ void scan_rows(float* s_rows, float* s_sums) {
  float sum = zero<Op>();
  for (unsigned k = 0; k < kEach; ++k) sum = join<Op>(sum, s_rows[(kEach + 1) * threadIdx.x + k]);
  s_sums[threadIdx.x] = sum;
  sklansky<Op>(s_sums, blockDim.x);
}

template <class Op, unsigned kEach, bool kInclusive>
__device__ void finish_rows(float* s_rows, const float* s_sums, float before) {
  if (threadIdx.x > 0) before = join<Op>(before, s_sums[threadIdx.x - 1]);
  for (unsigned k = 0; k < kEach; ++k) {
    float& element = s_rows[(kEach + 1) * threadIdx.x + k];
    const float after = join<Op>(before, element);
    element = kInclusive ? after : before;
    before = after;
  }
  __syncthreads();
}

template <class Op, unsigned kEach>
__device__ void load_rows(float* s_rows, const float* d_in, unsigned begin, unsigned n) {
  for (unsigned i = threadIdx.x; i < kEach * blockDim.x; i += blockDim.x) {
    s_rows[i / kEach * (kEach + 1) + i % kEach] = begin + i < n ? d_in[begin + i] : zero<Op>();
  }
  __syncthreads();
}

template <unsigned kEach>
__device__ void store_rows(const float* s_rows, float* d_out, unsigned begin, unsigned n) {
  for (unsigned i = threadIdx.x; i < kEach * blockDim.x && begin + i < n; i += blockDim.x) {
    d_out[begin + i] = s_rows[i / kEach * (kEach + 1) + i % kEach];
  }
}

template <unsigned kEach>
__global__ void one_block_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_rows[kTile * (kEach + 1) / kEach], s_sums[kBlock];
  load_rows<Add, kEach>(s_rows, d_in, 0, n);
  scan_rows<Add, kEach>(s_rows, s_sums);
  finish_rows<Add, kEach, false>(s_rows, s_sums, 0);
  store_rows<kEach>(s_rows, d_out, 0, n);
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_block_kernel<2><<<1, kBlock / 2>>>(d_in, d_out, n);
}
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_block_kernel<8><<<1, kTile / 8>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_block_kernel<16><<<1, kTile / 16>>>(d_in, d_out, n);
}

// Rung 4: tiles of 4096; one block goes over their sums with a carry.
__global__ void tile_sums_kernel(const float* d_in, float* d_sums, unsigned n) {
  __shared__ float s_sum[256];
  float sum = 0;
  for (unsigned i = threadIdx.x; i < 4096; i += 256) {
    if (blockIdx.x * 4096 + i < n) sum += d_in[blockIdx.x * 4096 + i];
  }
  s_sum[threadIdx.x] = sum;
  sklansky<Add>(s_sum, 256);
  if (threadIdx.x == 255) d_sums[blockIdx.x] = s_sum[255];
}

__global__ void sums_of_tiles_kernel(float* d_sums, unsigned tiles) {
  __shared__ float s_rows[256 * 5], s_sums[256];
  float carry = 0;
  for (unsigned begin = 0; begin < tiles; begin += 1024) {
    load_rows<Add, 4>(s_rows, d_sums, begin, tiles);
    scan_rows<Add, 4>(s_rows, s_sums);
    finish_rows<Add, 4, false>(s_rows, s_sums, carry);
    store_rows<4>(s_rows, d_sums, begin, tiles);
    carry += s_sums[255];
    __syncthreads();
  }
}

__global__ void tiles_kernel(const float* d_in, const float* d_sums, float* d_out, unsigned n) {
  __shared__ float s_rows[256 * 17], s_sums[256];
  load_rows<Add, 16>(s_rows, d_in, blockIdx.x * 4096, n);
  scan_rows<Add, 16>(s_rows, s_sums);
  finish_rows<Add, 16, false>(s_rows, s_sums, d_sums[blockIdx.x]);
  store_rows<16>(s_rows, d_out, blockIdx.x * 4096, n);
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  float* d_sums = reinterpret_cast<float*>(d_work);
  const unsigned tiles = (n + 4095) / 4096;
  tile_sums_kernel<<<tiles, 256>>>(d_in, d_sums, n);
  sums_of_tiles_kernel<<<1, 256>>>(d_sums, tiles);
  tiles_kernel<<<tiles, 256>>>(d_in, d_sums, d_out, n);
}

template <class Op, bool kInclusive>
__global__ void lookback_kernel(const float* d_in, float* d_out, unsigned n, unsigned* d_counter,
                                volatile unsigned long long* d_words) {
  __shared__ float s_rows[256 * 17], s_sums[256], s_values[256];
  __shared__ unsigned s_tile, s_nearest;
  const unsigned tid = threadIdx.x;
  if (tid == 0) s_tile = atomicAdd(d_counter, 1);
  __syncthreads();
  const unsigned tile = s_tile;
  load_rows<Op, 16>(s_rows, d_in, tile * 4096, n);
  scan_rows<Op, 16>(s_rows, s_sums);
  const float total = s_sums[255];
  if (tid == 0) d_words[tile] = 1ull << 32 | __float_as_uint(total);
  float before = zero<Op>();
  for (unsigned end = tile; end > 0; end = end > 256 ? end - 256 : 0) {
    if (tid == 0) s_nearest = 256;
    __syncthreads();
    unsigned long long word = __float_as_uint(zero<Op>());
    if (tid < end) {
      do {
        word = d_words[end - 1 - tid];
      } while (word >> 32 == 0);
    }
    if (word >> 32 == 2) atomicMin(&s_nearest, tid);
    __syncthreads();
    const unsigned nearest = s_nearest;
    s_values[tid] = tid <= nearest ? __uint_as_float(static_cast<unsigned>(word)) : zero<Op>();
    for (unsigned s = 128; s > 0; s /= 2) {
      __syncthreads();
      if (tid < s) s_values[tid] = join<Op>(s_values[tid], s_values[tid + s]);
    }
    __syncthreads();
    before = join<Op>(s_values[0], before);
    __syncthreads();
    if (nearest < 256) break;
  }
  if (tid == 0) d_words[tile] = 2ull << 32 | __float_as_uint(join<Op>(before, total));
  finish_rows<Op, 16, kInclusive>(s_rows, s_sums, before);
  store_rows<16>(s_rows, d_out, tile * 4096, n);
}

template <class Op, bool kInclusive>
void lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n + 4095) / 4096;
  cudaMemset(d_work, 0, (1 + tiles) * sizeof(*d_work));
  lookback_kernel<Op, kInclusive><<<tiles, 256>>>(d_in, d_out, n, reinterpret_cast<unsigned*>(d_work), d_work + 1);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Add, false>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Add, true>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  lookback<Top, true>(d_in, d_out, n, d_work);
}
