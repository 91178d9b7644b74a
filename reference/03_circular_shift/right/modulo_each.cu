// points: 100 + 10
// Rungs 1 and 2 divide in 64 bits for each element, rung 3 goes by tiles, rung 4 stages int4s in shared memory, and
// rung 5 reverses the whole first.

#include "shift.h"

__global__ void by_modulo(const int* d_in, int* d_out, unsigned n, long long shift) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= n) return;
  long long from = (i + shift) % n;
  if (from < 0) from += n;
  d_out[i] = d_in[from];
}

static unsigned normal(unsigned n, int shift) {
  long long rest = shift % static_cast<long long>(n);
  return static_cast<unsigned>((rest + n) % n);
}

// Two pieces, each a plain copy.
__device__ void copy_piece(const int* from, int* to, unsigned count) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
}

__global__ void by_pieces(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  copy_piece(d_in + offset, d_out, n - offset);
  copy_piece(d_in, d_out + (n - offset), offset);
}

constexpr unsigned kShare = 4 * kBlock;  // ints of d_out that a block makes

// A block loads the int4s that its share of d_in touches, and stores int4s from anywhere among them.
__global__ void by_tiles(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  __shared__ int4 tile[kBlock + 1];
  const unsigned begin = blockIdx.x * kShare, wrap = n - offset;
  const unsigned from = begin < wrap ? begin + offset : begin - wrap;
  const unsigned phase = from % 4;
  const bool whole = begin + kShare <= n && from - phase + kShare + 4 <= n;
  if (whole) {
    const int4* source = reinterpret_cast<const int4*>(d_in + (from - phase));
    tile[threadIdx.x] = source[threadIdx.x];
    if (threadIdx.x == 0 && phase != 0) tile[kBlock] = source[kBlock];
    __syncthreads();
    const int* ints = reinterpret_cast<const int*>(tile) + phase + 4 * threadIdx.x;
    reinterpret_cast<int4*>(d_out + begin)[threadIdx.x] = make_int4(ints[0], ints[1], ints[2], ints[3]);
  } else {
    for (unsigned i = begin + threadIdx.x; i < n && i < begin + kShare; i += kBlock) {
      d_out[i] = d_in[i < wrap ? i + offset : i - wrap];
    }
  }
}

__global__ void reverse(int* data, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 2) return;
  const int last = data[n - 1 - i];
  data[n - 1 - i] = data[i];
  data[i] = last;
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { shift2_any(d_in, d_out, n, shift); }

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  by_modulo<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, shift);
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned blocks = (n + kBlock - 1) / kBlock;
  const unsigned grid = blocks < kMaxBlocks ? blocks : kMaxBlocks;
  by_pieces<<<grid, kBlock>>>(d_in, d_out, n, normal(n, shift));
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  by_tiles<<<(n + kShare - 1) / kShare, kBlock>>>(d_in, d_out, n, normal(n, shift));
}

static void reverse_part(int* data, unsigned n) {
  if (n > 1) reverse<<<(n / 2 + kBlock - 1) / kBlock, kBlock>>>(data, n);
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n < 2) return;
  const unsigned offset = normal(n, shift);
  reverse_part(d_data, n);
  reverse_part(d_data, n - offset);
  reverse_part(d_data + (n - offset), offset);
}
