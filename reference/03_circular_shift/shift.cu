// The circular shift in five ways: for simple shifts, for every shift, with a bounded grid, at a copy's speed, and in
// place.

#include <algorithm>
#include <cstdint>

#include "shift.h"

// How many blocks it takes to have a thread for each of n items.
constexpr unsigned BlocksFor(unsigned n) { return n / kBlock + (n % kBlock != 0); }

// Rung 1. One thread an element fetches it from where it is.
__global__ void shift1_gather_kernel(const int* d_in, int* d_out, unsigned n, unsigned shift) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned from = i + shift;
  d_out[i] = d_in[from < n ? from : from - n];
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  // A grid of no blocks would be an error.
  if (n == 0) return;
  shift1_gather_kernel<<<BlocksFor(n), kBlock>>>(d_in, d_out, n, static_cast<unsigned>(shift));
}

// The equivalent shift from 0 to n - 1. 64 bits hold both n and every shift; the remainder has the sign of the
// shift.
unsigned offset_of(unsigned n, int shift) {
  if (n == 0) return 0;
  const int64_t rest = int64_t{shift} % int64_t{n};
  return static_cast<unsigned>(rest < 0 ? rest + n : rest);
}

// Rung 2. Any shift: the division is done once, on the host.
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  shift1_gather_kernel<<<BlocksFor(n), kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

// Rung 3. Many elements a thread. Past the place where d_in wraps around, a second loop continues, so no element needs
// a test.
__global__ void shift3_grid_stride_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned stride = gridDim.x * blockDim.x;
  const unsigned wrap = n - offset;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < wrap; i += stride) d_out[i] = d_in[i + offset];
  for (; i < n; i += stride) d_out[i] = d_in[i - wrap];
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned blocks = std::min(BlocksFor(n), kMaxBlocks);
  shift3_grid_stride_kernel<<<blocks, kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

// Rung 4. A warp moves 32 int4s, one a lane: as many as one request takes.
constexpr unsigned kVector = 4;  // ints of an int4
constexpr unsigned kWarpShare = 32 * kVector;

// Four neighbouring ints, of which the first is number `phase` of a; b follows a. Every index is known at compile time,
// so the array is in registers.
__device__ int4 join(int4 a, int4 b, unsigned phase) {
  int e[7] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z};
#pragma unroll
  for (int i = 0; i < 6; ++i) e[i] = phase & 1 ? e[i + 1] : e[i];
#pragma unroll
  for (int i = 0; i < 4; ++i) e[i] = phase & 2 ? e[i + 2] : e[i];
  return make_int4(e[0], e[1], e[2], e[3]);
}

// Each int4 of d_out comes from the int4 of d_in that holds its first element and, unless both begin together, from the
// next one. The next lane has loaded that: only the last lane loads both. A warp at the array's end, or whose share of
// d_in is in two parts, moves single elements.
__global__ void shift4_vectors_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned lane = threadIdx.x % 32;
  const unsigned begin = (blockIdx.x * blockDim.x + threadIdx.x - lane) * kVector;
  const unsigned wrap = n - offset;
  const unsigned from = begin < wrap ? begin + offset : begin - wrap;
  const unsigned phase = from % kVector;
  // All int4s that may be loaded end before d_in does; then the share does not wrap around either.
  if (begin + kWarpShare <= n && from - phase + kWarpShare + kVector <= n) {
    const int4* in = reinterpret_cast<const int4*>(d_in) + from / kVector;
    const int4 a = in[lane];
    int4 b{};
    if (phase != 0 && lane == 31) b = in[32];
    const int x = __shfl_down_sync(0xffffffff, a.x, 1);
    const int y = __shfl_down_sync(0xffffffff, a.y, 1);
    const int z = __shfl_down_sync(0xffffffff, a.z, 1);
    if (lane < 31) b = make_int4(x, y, z, 0);
    reinterpret_cast<int4*>(d_out)[begin / kVector + lane] = join(a, b, phase);
  } else {
    for (unsigned i = begin + lane; i < min(begin + kWarpShare, n); i += 32) {
      d_out[i] = d_in[i < wrap ? i + offset : i - wrap];
    }
  }
}

// One int4 a thread, and as many blocks as it takes: as fast as a copy on an H200. With two to eight int4s a thread it
// is 1 to 3 % slower, with a bounded grid 6 to 9 %.
void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned vectors = n / kVector + (n % kVector != 0);
  shift4_vectors_kernel<<<BlocksFor(vectors), kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

// Rung 5. In place: reverses d_data[begin..end). Each thread swaps two elements at a time.
__global__ void shift5_reverse_kernel(int* d_data, unsigned begin, unsigned end) {
  const unsigned pairs = (end - begin) / 2;
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < pairs; i += stride) {
    const int front = d_data[begin + i];
    d_data[begin + i] = d_data[end - 1 - i];
    d_data[end - 1 - i] = front;
  }
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  const unsigned offset = offset_of(n, shift);
  const auto reverse = [d_data](unsigned begin, unsigned end) {
    const unsigned blocks = std::min(BlocksFor((end - begin) / 2), kMaxBlocks);
    if (blocks > 0) shift5_reverse_kernel<<<blocks, kBlock>>>(d_data, begin, end);
  };
  if (offset == 0) return;
  reverse(0, offset);
  reverse(offset, n);
  reverse(0, n);
}
