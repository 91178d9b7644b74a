// verdict: BARRIER coalesce8_staged
// Only the lanes that have a float to store come to the shuffle, whose mask names all 32.
#include <cstdint>

#include "coalescing.h"

namespace {

constexpr unsigned kThreads = 256;
constexpr unsigned kWarps = kThreads / 32;

unsigned blocks_of(unsigned warps) { return (warps + kWarps - 1) / kWarps; }
unsigned warps_of(unsigned threads) { return (threads + 31) / 32; }

}  // namespace

__device__ unsigned lane_id() { return threadIdx.x % 32; }
__device__ unsigned warp_id() { return blockIdx.x * kWarps + threadIdx.x / 32; }

__global__ void warps_increment(const float* d_in, float* d_out, unsigned n, unsigned offset, unsigned flip) {
  unsigned e = (32 * warp_id() + lane_id()) ^ flip;
  if (e >= n) return;
  e += offset;
  if (e >= n) e -= n;
  d_out[e] = d_in[e] + 1;
}

// A warp goes down 32 rows of a column.
__global__ void warps_go_down(const float* d_in, float* d_out, unsigned n) {
  const unsigned rows = (n + kStride - 1) / kStride, strips = (rows + 31) / 32;
  const unsigned column = warp_id() / strips, row = warp_id() % strips * 32 + lane_id();
  const unsigned e = row * kStride + column;
  if (column < kStride && e < n) d_out[e] = d_in[e] + 1;
}

__global__ void warps_of_structures(const float3* d_in, float3* d_out, unsigned n) {
  const unsigned t = 32 * warp_id() + lane_id();
  if (t >= n) return;
  const float3 a = d_in[t];
  d_out[t] = make_float3(a.x + a.y, a.y + a.z, a.z + a.x);
}

__global__ void warps_of_arrays(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = 32 * warp_id() + lane_id();
  if (t >= n) return;
  const float3 a = {d_in[t], d_in[t + n], d_in[t + 2 * n]};
  d_out[t] = a.x + a.y;
  d_out[t + n] = a.y + a.z;
  d_out[t + 2 * n] = a.z + a.x;
}

// Float 32 * k + lane of the warp's 96 is in loaded[k]. Its partner is one further on, or two back.
__global__ void warps_pass_on(const float* d_in, float* d_out, unsigned n) {
  const unsigned first = 96 * warp_id(), count = 3 * n, lane = lane_id();
  float loaded[3];
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned i = first + 32 * k + lane;
    loaded[k] = i < count ? d_in[i] : 0.0f;
  }
#pragma unroll
  for (unsigned k = 0; k < 3; ++k) {
    const unsigned i = 32 * k + lane;
    const unsigned partner = i % 3 == 2 ? i - 2 : i + 1;
    float other = 0;
#pragma unroll
    for (unsigned from = 0; from < 3; ++from) {
      const float offered = first + i < count ? __shfl_sync(0xffffffffu, loaded[from], partner % 32) : 0;
      if (partner / 32 == from) other = offered;
    }
    if (first + i < count) d_out[first + i] = loaded[k] + other;
  }
}

int coalesce1_predict(const WarpRequest* request) {
  // Sectors relative to the lowest; those within 64 as bits, the others one by one.
  long long sector[32];
  int used = 0;
  for (int lane = 0; lane < 32; ++lane) {
    if (!(request->active >> lane & 1)) continue;
    const long long own = (request->first + static_cast<long long>(request->stride) * (lane ^ request->swap)) >> 5;
    int k = 0;
    while (k < used && sector[k] != own) ++k;
    if (k == used) sector[used++] = own;
  }
  return used;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) warps_increment<<<blocks_of(warps_of(n)), kThreads>>>(d_in, d_out, n, 0, 0);
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) warps_increment<<<blocks_of(warps_of(n)), kThreads>>>(d_in, d_out, n, kOffset, 0);
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  const unsigned rows = warps_of(n);
  if (n > 0) warps_go_down<<<blocks_of(kStride * warps_of(rows)), kThreads>>>(d_in, d_out, n);
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) warps_increment<<<blocks_of(warps_of(n)), kThreads>>>(d_in, d_out, n, 0, 1);
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  warps_of_structures<<<blocks_of(warps_of(n)), kThreads>>>(reinterpret_cast<const float3*>(d_in),
                                                            reinterpret_cast<float3*>(d_out), n);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) warps_of_arrays<<<blocks_of(warps_of(n)), kThreads>>>(d_in, d_out, n);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) warps_pass_on<<<blocks_of(warps_of(n)), kThreads>>>(d_in, d_out, n);
}

int coalesce9_in_2006(const WarpRequest* request) {
  int transactions[2] = {};
  bool strict[2] = {true, true};
  long long base[2] = {-1, -1};
  for (int lane = 0; lane < 32; ++lane) {
    if (!(request->active >> lane & 1)) continue;
    const int half = lane / 16;
    const long long address = request->first + static_cast<long long>(request->stride) * (lane ^ request->swap);
    const long long own = address - (lane & 15) * request->bytes;
    if (transactions[half]++ == 0) base[half] = own;
    if (own != base[half] || own & (16 * request->bytes - 1)) strict[half] = false;
  }
  for (int half = 0; half < 2; ++half) {
    if (strict[half] && transactions[half] > 0) transactions[half] = 1;
  }
  return transactions[0] + transactions[1];
}
