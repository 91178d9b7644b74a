// points: 100 + 10
// Rung 4's lanes shift pairs of words by funnel shifts and swap with the neighbour by shuffles; rung 3 gives each block
// one piece of the array; rung 5 reverses tiles through shared memory.
#include <limits.h>
#include <stdint.h>

#include "shift.h"

static unsigned normal(unsigned n, int shift) {
  if (shift >= 0) return (unsigned)shift % n;
  const unsigned back = (0u - (unsigned)shift) % n;
  return back == 0 ? 0 : n - back;
}

static unsigned ceiling(unsigned n, unsigned by) { return n / by + (n % by != 0); }

__global__ void get(const int* __restrict__ d_in, int* __restrict__ d_out, const unsigned n, const unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = __ldcs(d_in + (i >= n - offset ? i - (n - offset) : i + offset));
}

// Block b has the elements from b * each on.
__global__ void piece_a_block(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, unsigned offset,
                              unsigned each) {
  const unsigned begin = blockIdx.x * each;
  if (begin >= n) return;
  const unsigned end = n - begin < each ? n : begin + each, split = n - offset;
  const unsigned first_end = end < split ? end : split;
  unsigned i = begin + threadIdx.x;
#pragma unroll 4
  for (; i < first_end; i += kBlock) d_out[i] = d_in[i + offset];
  if (end <= split) return;
#pragma unroll 4
  for (; i < end; i += kBlock) d_out[i] = d_in[i - split];
}

// Vector number i of d, or zeros where there is none.
__device__ uint4 load_or_none(const uint4* d, unsigned i, unsigned n4) {
  return i < n4 ? d[i] : make_uint4(0, 0, 0, 0);
}

__device__ uint4 moved(uint4 v, uint4 w, unsigned away) {
  if (away & 2) v = make_uint4(v.z, v.w, w.x, w.y), w = make_uint4(w.z, w.w, 0, 0);
  const unsigned bits = (away & 1) * 32;
  return make_uint4(__funnelshift_rc(v.x, v.y, bits), __funnelshift_rc(v.y, v.z, bits),
                    __funnelshift_rc(v.z, v.w, bits), __funnelshift_rc(v.w, w.x, bits));
}

__global__ void __launch_bounds__(kBlock)
    wide(const uint4* __restrict__ d_in, uint4* __restrict__ d_out, unsigned n_out, unsigned n_in, unsigned away) {
  const unsigned lane = threadIdx.x & 31, base = (blockIdx.x * kBlock + threadIdx.x - lane) * 2;
  const uint4 a = load_or_none(d_in, base + lane, n_in);
  const uint4 b = load_or_none(d_in, base + 32 + lane, n_in);
  uint4 edge = make_uint4(0, 0, 0, 0);
  if (lane == 31 && away != 0) edge = load_or_none(d_in, base + 64, n_in);
  // The lane before gets what it lacks. The first lane's second half goes to the last lane.
  const uint4 give = lane == 0 ? b : a;
  const uint4 from_a = make_uint4(__shfl_sync(~0u, give.x, (lane + 1) & 31), __shfl_sync(~0u, give.y, (lane + 1) & 31),
                                  __shfl_sync(~0u, give.z, (lane + 1) & 31), 0);
  uint4 from_b =
      make_uint4(__shfl_down_sync(~0u, b.x, 1), __shfl_down_sync(~0u, b.y, 1), __shfl_down_sync(~0u, b.z, 1), 0);
  if (lane == 31) from_b = edge;
  if (base + lane < n_out) d_out[base + lane] = moved(a, from_a, away);
  if (base + 32 + lane < n_out) d_out[base + 32 + lane] = moved(b, from_b, away);
}

// Elements outside whole int4s: up to three at either end of a part.
__global__ void ends(const int* d_in, int* d_out, unsigned count, unsigned head, unsigned tail) {
  const unsigned t = threadIdx.x;
  if (t < head) d_out[t] = d_in[t];
  if (t >= 32 && t - 32 < tail) d_out[count - tail + (t - 32)] = d_in[count - tail + (t - 32)];
}

static void part(const int* d_in, int* d_out, unsigned count) {
  unsigned head = (unsigned)(-(intptr_t)((uintptr_t)d_out / 4) & 3);
  if (head > count) head = count;
  const int* d_start = d_in + head;
  const unsigned rest = count - head, away = (unsigned)((uintptr_t)d_start / 4 & 3);
  // If each int4 of the result comes from two of the input, the second one of the last may reach past the array.
  const unsigned n_out = away == 0 || rest < 4 ? rest / 4 : (rest - 4 + away) / 4, tail = rest - 4 * n_out;
  if (head + tail != 0) ends<<<1, 64>>>(d_in, d_out, count, head, tail);
  if (n_out == 0) return;
  wide<<<ceiling(n_out, 2 * kBlock), kBlock>>>((const uint4*)(d_start - away), (uint4*)(d_out + head), n_out,
                                               n_out + (away != 0), away);
}

// Tile k from the front and tile k from the back change places, each of them reversed.
__global__ void __launch_bounds__(kBlock) reverse(int* d_begin, unsigned count) {
  __shared__ int s_front[kBlock], s_back[kBlock];
  const unsigned t = threadIdx.x, half = count / 2, begin = blockIdx.x * kBlock;
  const unsigned here = half - begin < kBlock ? half - begin : kBlock;
  int* d_front = d_begin + begin;
  int* d_back = d_begin + (count - begin - here);
  if (t < here) {
    s_front[t] = d_front[t];
    s_back[t] = d_back[t];
  }
  __syncthreads();
  if (t < here) {
    d_front[t] = s_back[here - 1 - t];
    d_back[t] = s_front[here - 1 - t];
  }
}

static void reversed(int* d_begin, unsigned count) {
  if (count >= 2) reverse<<<ceiling(count / 2, kBlock), kBlock>>>(d_begin, count);
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  get<<<ceiling(n, kBlock), kBlock>>>(d_in, d_out, n, (unsigned)shift);
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  get<<<ceiling(n, kBlock), kBlock>>>(d_in, d_out, n, normal(n, shift));
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned each = ceiling(ceiling(n, kMaxBlocks), kBlock) * kBlock;
  piece_a_block<<<ceiling(n, each), kBlock>>>(d_in, d_out, n, normal(n, shift), each);
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned offset = normal(n, shift);
  part(d_in + offset, d_out, n - offset);
  part(d_in, d_out + (n - offset), offset);
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned offset = normal(n, shift);
  reversed(d_data, offset);
  reversed(d_data + offset, n - offset);
  reversed(d_data, n);
}
