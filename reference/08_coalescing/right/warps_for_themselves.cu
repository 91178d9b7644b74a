// points: 100 + 10
// Rung 8 without a barrier of the block: each warp stages its own 32 structures, and waits with __syncwarp(). Blocks
// have two dimensions: x is the lane, y the warp.
#include <bitset>
#include <cstdint>

#include "coalescing.h"

namespace {

constexpr unsigned kLanes = 32;
constexpr unsigned kRows = 8;

dim3 block() { return dim3(kLanes, kRows); }
unsigned grid(unsigned n) { return (n + kLanes * kRows - 1) / (kLanes * kRows); }

}  // namespace

__device__ unsigned thread_number() { return (blockIdx.x * kRows + threadIdx.y) * kLanes + threadIdx.x; }

__global__ void lanes_in_order(const float* d_in, float* d_out, unsigned n) {
  const unsigned e = thread_number();
  if (e < n) d_out[e] = __ldg(d_in + e) + 1;
}

__global__ void lanes_moved(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = thread_number();
  if (t >= n) return;
  unsigned e = t + kOffset;
  while (e >= n) e -= n;
  d_out[e] = __ldg(d_in + e) + 1;
}

__global__ void lanes_down(const float* d_in, float* d_out, unsigned n, unsigned rows) {
  const unsigned t = thread_number(), row = t % rows, column = t / rows;
  if (column >= kStride) return;
  if (const unsigned e = row * kStride + column; e < n) d_out[e] = __ldg(d_in + e) + 1;
}

__global__ void lanes_swapped(const float* d_in, float* d_out, unsigned n) {
  const unsigned e = thread_number() - threadIdx.x + (threadIdx.x ^ 1);
  if (e < n) d_out[e] = __ldg(d_in + e) + 1;
}

__global__ void lanes_with_structures(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = thread_number();
  if (t >= n) return;
  float v[3];
#pragma unroll
  for (int c = 0; c < 3; ++c) v[c] = __ldg(d_in + 3 * t + c);
#pragma unroll
  for (int c = 0; c < 3; ++c) d_out[3 * t + c] = v[c] + v[c == 2 ? 0 : c + 1];
}

__global__ void lanes_with_arrays(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = thread_number();
  if (t >= n) return;
  float v[3];
#pragma unroll
  for (unsigned c = 0; c < 3; ++c) v[c] = __ldg(d_in + c * n + t);
#pragma unroll
  for (unsigned c = 0; c < 3; ++c) d_out[c * n + t] = v[c] + v[c == 2 ? 0 : c + 1];
}

__global__ void lanes_staged(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_rows[kRows][3 * kLanes];
  float* s_own = s_rows[threadIdx.y];
  const unsigned first = thread_number() - threadIdx.x;
  if (first >= n) return;  // the whole warp
  const unsigned floats = 3 * min(kLanes, n - first);
  for (unsigned i = threadIdx.x; i < floats; i += kLanes) s_own[i] = __ldg(d_in + 3 * first + i);
  __syncwarp();
  float sums[3];
  const bool has_one = 3 * threadIdx.x < floats;
  if (has_one) {
    const float x = s_own[3 * threadIdx.x], y = s_own[3 * threadIdx.x + 1], z = s_own[3 * threadIdx.x + 2];
    sums[0] = x + y, sums[1] = y + z, sums[2] = z + x;
    for (int c = 0; c < 3; ++c) s_own[3 * threadIdx.x + c] = sums[c];
  }
  __syncwarp();
  for (unsigned i = threadIdx.x; i < floats; i += kLanes) d_out[3 * first + i] = s_own[i];
}

int coalesce1_predict(const WarpRequest* request) {
  int sectors = 0;
  for (int t = 31; t >= 0; --t) {
    if (!std::bitset<32>(request->active)[t]) continue;
    const auto sector_of = [&](int k) {
      return (request->first + static_cast<int64_t>(k ^ request->swap) * request->stride) / 32;
    };
    bool last = true;  // of the threads in its sector
    for (int k = t + 1; k < 32; ++k) last = last && !(request->active >> k & 1 && sector_of(k) == sector_of(t));
    if (last) ++sectors;
  }
  return sectors;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) lanes_in_order<<<grid(n), block()>>>(d_in, d_out, n);
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) lanes_moved<<<grid(n), block()>>>(d_in, d_out, n);
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  const unsigned rows = (n + kStride - 1) / kStride;
  if (n > 0) lanes_down<<<grid(rows * kStride), block()>>>(d_in, d_out, n, rows);
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) lanes_swapped<<<grid(n), block()>>>(d_in, d_out, n);  // whole warps: thread n may have an element
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) lanes_with_structures<<<grid(n), block()>>>(d_in, d_out, n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) lanes_with_arrays<<<grid(n), block()>>>(d_in, d_out, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) lanes_staged<<<grid(n), block()>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  const std::bitset<32> active(request->active);
  int count = 0;
  for (int begin : {0, 16}) {
    int threads = 0;
    long long begins_at = 0, unlike = 0;
    for (int k = 0; k < 16; ++k) {
      if (!active[begin + k]) continue;
      const long long own =
          request->first + static_cast<long long>((begin + k) ^ request->swap) * request->stride - k * request->bytes;
      if (threads++ == 0) begins_at = own;
      unlike |= own - begins_at;
    }
    unlike |= begins_at % (16 * request->bytes);
    count += unlike == 0 && threads > 0 ? 1 : threads;
  }
  return count;
}
