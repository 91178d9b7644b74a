// Grace Hopper. Rungs 1 to 4; no time for the bonus.
#include <algorithm>

#include "shift.h"

__global__ void gather_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = d_in[i + offset < n ? i + offset : i + offset - n];
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) gather_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, shift);
}

unsigned offset_of(unsigned n, int shift) {
  const long long count = n;
  return static_cast<unsigned>((shift % count + count) % count);
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) gather_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

__global__ void stride_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned threads = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n - offset; i += threads) d_out[i] = d_in[i + offset];
  for (; i < n; i += threads) d_out[i] = d_in[i + offset - n];
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned blocks = std::min((n + kBlock - 1) / kBlock, kMaxBlocks);
  stride_kernel<<<blocks, kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

struct Piece {
  int begin, end, distance;
};

constexpr int kVector = 4;  // ints of an int4

// Four neighbouring ints, the first of them number kPhase of a; b is what follows a.
template <int kPhase>
__device__ int4 join(int4 a, int4 b) {
  if constexpr (kPhase == 1) return make_int4(a.y, a.z, a.w, b.x);
  if constexpr (kPhase == 2) return make_int4(a.z, a.w, b.x, b.y);
  if constexpr (kPhase == 3) return make_int4(a.w, b.x, b.y, b.z);
  return a;
}

// Moves `count` int4s, a multiple of a warp's 32, from the threads' places on. Each comes from the int4 of d_in that
// its first element lies in and, but for kPhase 0, the next. That one the next lane has loaded too: only a warp's last
// lane loads both. All threads of a warp stay together: the shuffles name them all.
template <int kPhase>
__device__ void move_vectors(const int4* in, int4* out, int count) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int stride = gridDim.x * blockDim.x;
  const bool last_lane = threadIdx.x % 32 == 31;
  for (int k = thread; k < count; k += stride) {
    const int4 a = in[k];
    int4 b{};
    if constexpr (kPhase != 0) {
      if (last_lane) b = in[k + 1];
      const int x = __shfl_down_sync(0xffffffff, a.x, 1);
      const int y = kPhase >= 2 ? __shfl_down_sync(0xffffffff, a.y, 1) : 0;
      const int z = kPhase == 3 ? __shfl_down_sync(0xffffffff, a.z, 1) : 0;
      if (!last_lane) b = make_int4(x, y, z, 0);
    }
    out[k] = join<kPhase>(a, b);
  }
}

// Moves a piece: whole int4s of d_out whose elements lie in whole int4s of d_in, a warp's at a time; and what is left
// at the ends, not 140 elements, one by one.
__device__ void move_piece(const int* d_in, int* d_out, int n, Piece piece) {
  // Of `distance`, what is not in whole int4s, and what is; for a negative one too.
  const int phase = piece.distance & (kVector - 1);
  const int further = (piece.distance - phase) / kVector;
  const int first = (piece.begin + kVector - 1) / kVector;
  const int last = min(piece.end / kVector, n / kVector - further - (phase != 0));
  const int count = max(last - first, 0) / 32 * 32;
  const int4* in = reinterpret_cast<const int4*>(d_in) + (first + further);
  int4* out = reinterpret_cast<int4*>(d_out) + first;
  if (phase == 0) move_vectors<0>(in, out, count);
  if (phase == 1) move_vectors<1>(in, out, count);
  if (phase == 2) move_vectors<2>(in, out, count);
  if (phase == 3) move_vectors<3>(in, out, count);
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  const int head = piece.begin + thread;
  if (head < min(first * kVector, piece.end)) d_out[head] = d_in[head + piece.distance];
  const int tail = (first + count) * kVector + thread;
  if (tail < piece.end) d_out[tail] = d_in[tail + piece.distance];
}

__global__ void shift4_vectors_kernel(const int* d_in, int* d_out, int n, int offset) {
  const int wrap = n - offset;
  move_piece(d_in, d_out, n, {0, wrap, offset});
  move_piece(d_in, d_out, n, {wrap, n, -wrap});
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const unsigned blocks = std::min(n / kVector / kBlock + 1, kMaxBlocks);
  shift4_vectors_kernel<<<blocks, kBlock>>>(d_in, d_out, static_cast<int>(n), static_cast<int>(offset_of(n, shift)));
}

void shift5_in_place(int*, unsigned, int) {}
