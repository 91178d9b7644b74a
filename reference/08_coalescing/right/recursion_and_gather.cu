// points: 100 + 10
// Predictions by recursion. Rung 8 gathers: each thread makes three floats of the result, a block's width apart, from a
// piece of floats that begins at a sector; the piece's size has nothing to do with the structures'.
#include "coalescing.h"

namespace {

constexpr unsigned kBlockOf = 288;

// Sectors of threads t to 31 that no thread from `first` to t - 1 has.
int sectors_from(const WarpRequest& r, int t) {
  if (t == 32) return 0;
  const auto sector = [&](int k) { return (r.first + (long long)r.stride * (k ^ r.swap)) / kSectorBytes; };
  int mine = r.active >> t & 1;
  for (int k = 0; k < t && mine; ++k) mine = !(r.active >> k & 1) || sector(k) != sector(t);
  return mine + sectors_from(r, t + 1);
}

// Whether threads k to 15 of a half-warp have their words of the segment at `base`.
bool in_order(const WarpRequest& r, int begin, int k, long long base) {
  if (k == 16) return true;
  const long long address = r.first + (long long)r.stride * ((begin + k) ^ r.swap);
  const bool idle = !(r.active >> (begin + k) & 1);
  return (idle || address == base + k * r.bytes) && in_order(r, begin, k + 1, base);
}

int half_warp(const WarpRequest& r, int begin) {
  const unsigned active = r.active >> begin & 0xffff;
  if (active == 0) return 0;
  const int first = __builtin_ctz(active);
  const long long base = r.first + (long long)r.stride * ((begin + first) ^ r.swap) - first * r.bytes;
  return base % (16 * r.bytes) == 0 && in_order(r, begin, first, base) ? 1 : __builtin_popcount(active);
}

unsigned needed(unsigned threads) { return threads / kBlockOf + 1; }

}  // namespace

__global__ void plain(const float* a, float* b, unsigned n) {
  unsigned e = blockIdx.x * kBlockOf + threadIdx.x;
  if (e < n) b[e] = 1 + a[e];
}

__global__ void behind(const float* a, float* b, unsigned n) {
  unsigned t = blockIdx.x * kBlockOf + threadIdx.x;
  if (t < n) {
    unsigned e = t + kOffset;
    e = e >= n ? e - n : e;
    b[e] = 1 + a[e];
  }
}

__global__ void columns(const float* a, float* b, unsigned n, unsigned rows) {
  unsigned t = blockIdx.x * kBlockOf + threadIdx.x;
  unsigned row = t % rows, column = t / rows;
  unsigned length = row + 1 < rows ? kStride : n - (rows - 1) * kStride;
  if (column < length) b[row * kStride + column] = 1 + a[row * kStride + column];
}

__global__ void pairs(const float* a, float* b, unsigned n) {
  unsigned t = blockIdx.x * kBlockOf + threadIdx.x;
  unsigned e = t + (t % 2 ? -1 : 1);
  if (e < n) b[e] = 1 + a[e];
}

__global__ void triples(const float* a, float* b, unsigned n, unsigned each, unsigned apart) {
  unsigned t = blockIdx.x * kBlockOf + threadIdx.x;
  if (t >= n) return;
  a += each * t;
  b += each * t;
  float x = a[0], y = a[apart], z = a[2 * apart];
  b[0] = x + y;
  b[apart] = y + z;
  b[2 * apart] = z + x;
}

// Floats begin to begin + 863 of the result. Two floats before them and two after may be partners.
__global__ void gathered(const float* a, float* b, unsigned count) {
  constexpr unsigned kFloats = 3 * kBlockOf;
  __shared__ float s[kFloats];
  const unsigned begin = blockIdx.x * kFloats;
  float own[3];
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned i = k * kBlockOf + threadIdx.x;
    if (begin + i < count) s[i] = own[k] = a[begin + i];
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned i = k * kBlockOf + threadIdx.x;
    if (begin + i < count) b[begin + i] = own[k] + s[(i + 1) % 3 == 0 ? i - 2 : i + 1];
  }
}

int coalesce1_predict(const WarpRequest* request) { return sectors_from(*request, 0); }
void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n) plain<<<needed(n), kBlockOf>>>(d_in, d_out, n);
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n) behind<<<needed(n), kBlockOf>>>(d_in, d_out, n);
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  if (n) columns<<<needed(n + kStride), kBlockOf>>>(d_in, d_out, n, (n + kStride - 1) / kStride);
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n) pairs<<<needed(n), kBlockOf>>>(d_in, d_out, n);
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n) triples<<<needed(n), kBlockOf>>>(d_in, d_out, n, 3, 1);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n) triples<<<needed(n), kBlockOf>>>(d_in, d_out, n, 1, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n) gathered<<<needed(n), kBlockOf>>>(d_in, d_out, 3 * n);
}
int coalesce9_in_2006(const WarpRequest* request) { return half_warp(*request, 0) + half_warp(*request, 16); }
