// points: 100 + 10
// A thread has one element on every rung but 2 and 3, in blocks of 1024 on rungs 4 and 5, scanned by shuffles. An init
// kernel clears the words instead of a memset. Rungs 2 and 3: trees whose pairs are found by shifts.
#include "scan.h"

#define ALL 0xFFFFFFFF

// blockDim.x is a multiple of 32; gives the inclusive scan.
__device__ float block_scan(float x, bool is_max) {
  __shared__ float s_last[32];
  const float none = is_max ? -INFINITY : 0.0f;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
  for (int d = 1; d < 32; d *= 2) {
    const float y = __shfl_up_sync(ALL, x, d);
    x = lane < d ? x : is_max ? fmaxf(x, y) : x + y;
  }
  if (lane == 31) s_last[warp] = x;
  __syncthreads();
  if (warp == 0) {
    float sum = lane < blockDim.x / 32 ? s_last[lane] : none;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
      const float y = __shfl_up_sync(ALL, sum, d);
      sum = lane < d ? sum : is_max ? fmaxf(sum, y) : sum + y;
    }
    s_last[lane] = sum;
  }
  __syncthreads();
  const float before = warp == 0 ? none : s_last[warp - 1];
  return is_max ? fmaxf(before, x) : before + x;
}

// Exclusive: the elements move one place to the right on their way in.
__global__ void scan1_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned i = threadIdx.x;
  const float sum = block_scan(i > 0 && i < n ? d_in[i - 1] : 0, false);
  if (i < n) d_out[i] = sum;
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_kernel<<<1, 512>>>(d_in, d_out, n);
}

template <int kShift>
__device__ int where(int i) {
  return i + (i >> kShift);
}

// 1024 threads, of which the first half has pairs.
template <int kShift>
__global__ void sweep_kernel(const float* d_in, float* d_out, int n) {
  __shared__ float s_tree[1024 + 32];
  const int t = threadIdx.x;
  s_tree[where<kShift>(t)] = t < n ? d_in[t] : 0;
  __syncthreads();
  for (int level = 0; level < 10; ++level) {
    if (t < 512 >> level) {
      const int right = ((t + 1) << (level + 1)) - 1, left = right - (1 << level);
      s_tree[where<kShift>(right)] += s_tree[where<kShift>(left)];
    }
    __syncthreads();
  }
  for (int level = 9; level >= 0; --level) {
    if (t < 512 >> level) {
      const int right = ((t + 1) << (level + 1)) - 1, left = right - (1 << level);
      const float before = level == 9 ? 0 : s_tree[where<kShift>(right)];
      s_tree[where<kShift>(right)] = before + s_tree[where<kShift>(left)];
      s_tree[where<kShift>(left)] = before;
    }
    __syncthreads();
  }
  if (t < n) d_out[t] = s_tree[where<kShift>(t)];
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) sweep_kernel<20><<<1, 1024>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) sweep_kernel<5><<<1, 1024>>>(d_in, d_out, n);
}

__global__ void sums_kernel(const float* d_in, float* d_sums, unsigned n) {
  const unsigned i = blockIdx.x * 1024 + threadIdx.x;
  const float sum = block_scan(i < n ? d_in[i] : 0, false);
  if (threadIdx.x == 1023) d_sums[blockIdx.x] = sum;
}

__global__ void tiles_kernel(const float* d_in, const float* d_before, float* d_out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * 1024 + t;
  float x = 0;
  if (t > 0 && i < n) x = d_in[i - 1];
  if (t == 0 && d_before != nullptr) x = d_before[blockIdx.x];
  const float sum = block_scan(x, false);
  if (i < n) d_out[i] = sum;
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  float* d_sums = (float*)d_work;
  const unsigned tiles = TilesFor(n), groups = TilesFor(tiles);
  float* d_groups = d_sums + tiles;
  if (tiles == 1) {
    tiles_kernel<<<1, 1024>>>(d_in, nullptr, d_out, n);
    return;
  }
  // 2^27 elements are 131 072 tiles, and those 128 groups: three levels reach.
  sums_kernel<<<tiles, 1024>>>(d_in, d_sums, n);
  if (groups > 1) {
    sums_kernel<<<groups, 1024>>>(d_sums, d_groups, tiles);
    tiles_kernel<<<1, 1024>>>(d_groups, nullptr, d_groups, groups);
  }
  // In place: a block reads its own 1024 sums and no other.
  tiles_kernel<<<groups, 1024>>>(d_sums, groups > 1 ? d_groups : nullptr, d_sums, tiles);
  tiles_kernel<<<tiles, 1024>>>(d_in, d_sums, d_out, n);
}

__global__ void clear_kernel(unsigned long long* d_work, unsigned words) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  if (i < words) d_work[i] = 0;
}

__global__ void pass_kernel(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work, bool inclusive,
                            bool is_max) {
  __shared__ unsigned s_tile;
  __shared__ float s_total, s_before;
  const float none = is_max ? -INFINITY : 0.0f;
  if (threadIdx.x == 0) s_tile = atomicAdd((unsigned*)d_work, 1);
  __syncthreads();
  volatile unsigned long long* d_words = d_work + 1;
  const unsigned t = threadIdx.x, i = s_tile * 1024 + t;
  const float x = i < n ? d_in[i] : none;
  float scanned = block_scan(x, is_max);
  if (t == 1023) s_total = scanned;
  const float left = __shfl_up_sync(ALL, scanned, 1);
  __shared__ float s_edge[33];
  if (t % 32 == 31) s_edge[t / 32 + 1] = scanned;
  if (t == 0) s_edge[0] = none;
  __syncthreads();
  if (!inclusive) scanned = t % 32 == 0 ? s_edge[t / 32] : left;
  if (t < 32) {
    const unsigned tile = s_tile;
    if (t == 0) d_words[tile] = 1ull << 32 | __float_as_uint(s_total);
    float before = none;
    for (int base = (int)tile - 1; base >= 0; base -= 32) {
      const int other = base - (int)t;
      unsigned long long word = other < 0 ? 2ull << 32 | __float_as_uint(none) : d_words[other];
      while (__any_sync(ALL, word >> 32 == 0)) {
        if (other >= 0) word = d_words[other];
      }
      const unsigned done = __ballot_sync(ALL, word >> 32 == 2);
      float value = done == 0 || t < __ffs(done) ? __uint_as_float((unsigned)word) : none;
      for (int d = 16; d > 0; d /= 2) {
        const float y = __shfl_down_sync(ALL, value, d);
        value = is_max ? fmaxf(value, y) : value + y;
      }
      before = is_max ? fmaxf(before, value) : before + value;
      if (done != 0) break;
    }
    if (t == 0) {
      d_words[tile] = 2ull << 32 | __float_as_uint(is_max ? fmaxf(before, s_total) : before + s_total);
      s_before = before;
    }
  }
  __syncthreads();
  if (i < n) d_out[i] = is_max ? fmaxf(s_before, scanned) : s_before + scanned;
}

static void pass(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work, bool inclusive, bool is_max) {
  if (n == 0) return;
  const unsigned tiles = TilesFor(n);
  clear_kernel<<<tiles / 256 + 1, 256>>>(d_work, tiles + 1);
  pass_kernel<<<tiles, 1024>>>(d_in, d_out, n, d_work, inclusive, is_max);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  pass(d_in, d_out, n, d_work, false, false);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  pass(d_in, d_out, n, d_work, true, false);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  pass(d_in, d_out, n, d_work, true, true);
}
