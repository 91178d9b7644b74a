// points: 100 + 10
// Rung 4 loads with __ldg and takes the neighbour's words by a rotation of registers; rung 3 keeps a pointer and an
// end.

#include "shift.h"

struct Parts {
  unsigned offset, wrap;
};

static Parts parts_of(unsigned n, int shift) {
  double turns = static_cast<double>(shift) / n;
  long long whole = static_cast<long long>(turns);
  long long rest = shift - whole * n;
  while (rest < 0) rest += n;
  while (rest >= n) rest -= n;
  return {static_cast<unsigned>(rest), n - static_cast<unsigned>(rest)};
}

__global__ void direct(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, Parts parts) {
  const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i < n) d_out[i] = __ldg(d_in + (i < parts.wrap ? i + parts.offset : i - parts.wrap));
}

__global__ void walking(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, Parts parts) {
  const unsigned start = blockDim.x * blockIdx.x + threadIdx.x, step = blockDim.x * gridDim.x;
  const int* const wrap = d_out + parts.wrap;
  const int* const end = d_out + n;
  int* to = d_out + start;
  const int* from = d_in + start + parts.offset;
  for (; to < wrap; to += step, from += step) *to = *from;
  from -= n;
  for (; to < end; to += step, from += step) *to = *from;
}

__global__ void wide(const int* __restrict__ d_in, int* __restrict__ d_out, unsigned n, Parts parts) {
  const unsigned lane = threadIdx.x & 31;
  const unsigned first = (blockDim.x * blockIdx.x + (threadIdx.x & ~31u)) * 4;
  const unsigned from = first < parts.wrap ? first + parts.offset : first - parts.wrap;
  const unsigned phase = from & 3;
  if (first + 128 > n || (from & ~3u) + 132 > n) {
    for (unsigned i = first + lane; i < n && i < first + 128; i += 32) {
      d_out[i] = d_in[i < parts.wrap ? i + parts.offset : i - parts.wrap];
    }
    return;
  }
  const int4* const in = reinterpret_cast<const int4*>(d_in) + (from >> 2);
  int4 mine = __ldg(in + lane);
  int4 extra = mine;
  if (lane == 31 && phase != 0) extra = __ldg(in + 32);
  // Rotated so that the words that a lane gives away come first; lane 31 loads its own.
  for (unsigned k = 0; k < phase; ++k) {
    int next = __shfl_down_sync(0xffffffffu, mine.x, 1);
    if (lane == 31) next = k == 0 ? extra.x : k == 1 ? extra.y : extra.z;
    mine = make_int4(mine.y, mine.z, mine.w, next);
  }
  reinterpret_cast<int4*>(d_out)[(first >> 2) + lane] = mine;
}

__global__ void flip(int* first, unsigned n) {
  const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
  if (2 * i + 1 >= n) return;
  int* const last = first + (n - 1 - i);
  const int a = first[i];
  first[i] = *last;
  *last = a;
}

static dim3 grid_of(unsigned threads) { return dim3((threads + kBlock - 1) / kBlock); }

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n != 0) direct<<<grid_of(n), kBlock>>>(d_in, d_out, n, {static_cast<unsigned>(shift), n - shift});
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n != 0) direct<<<grid_of(n), kBlock>>>(d_in, d_out, n, parts_of(n, shift));
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  dim3 grid = grid_of(n);
  if (grid.x > kMaxBlocks) grid.x = kMaxBlocks;
  walking<<<grid, kBlock>>>(d_in, d_out, n, parts_of(n, shift));
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n != 0) wide<<<grid_of((n + 3) / 4), kBlock>>>(d_in, d_out, n, parts_of(n, shift));
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n < 2) return;
  const Parts parts = parts_of(n, shift);
  if (parts.offset > 1) flip<<<grid_of(parts.offset / 2), kBlock>>>(d_data, parts.offset);
  if (parts.wrap > 1) flip<<<grid_of(parts.wrap / 2), kBlock>>>(d_data + parts.offset, parts.wrap);
  flip<<<grid_of(n / 2), kBlock>>>(d_data, n);
}
