// points: 100 + 10
// Each thread has several elements, a block's width apart, all loaded before the first is stored. On rung 8 a block of
// 128 threads has 512 structures.
#include <cstdint>
#include <list>

#include "coalescing.h"

namespace {

constexpr unsigned kWidth = 128;
constexpr unsigned kEach = 4;
constexpr unsigned kTile = kWidth * kEach;

struct Order {
  enum Kind { kPlain, kNext, kDown, kSwap } kind;
  unsigned n;
};

unsigned tiles(unsigned n) { return (n + kTile - 1) / kTile; }

}  // namespace

__device__ unsigned element_of(Order order, unsigned t) {
  if (order.kind == Order::kNext) return t < order.n ? (t + 1 == order.n ? 0 : t + 1) : order.n;
  if (order.kind == Order::kSwap) return t ^ 1;
  if (order.kind == Order::kDown) {
    const unsigned rows = (order.n + kStride - 1) / kStride;
    return t < rows * kStride ? t % rows * kStride + t / rows : order.n;
  }
  return t;
}

__global__ void tile_increment(const float* d_in, float* d_out, Order order) {
  unsigned e[kEach];
  float value[kEach];
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    e[k] = element_of(order, blockIdx.x * kTile + k * kWidth + threadIdx.x);
    value[k] = e[k] < order.n ? d_in[e[k]] : 0;
  }
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    if (e[k] < order.n) d_out[e[k]] = value[k] + 1;
  }
}

__global__ void tile_structures(const float* d_in, float* d_out, unsigned n, bool apart) {
  const unsigned step = apart ? 1 : 3, next = apart ? n : 1;
  float x[kEach], y[kEach], z[kEach];
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned t = blockIdx.x * kTile + k * kWidth + threadIdx.x;
    if (t >= n) continue;
    x[k] = d_in[step * t];
    y[k] = d_in[step * t + next];
    z[k] = d_in[step * t + 2 * next];
  }
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned t = blockIdx.x * kTile + k * kWidth + threadIdx.x;
    if (t >= n) continue;
    d_out[step * t] = x[k] + y[k];
    d_out[step * t + next] = y[k] + z[k];
    d_out[step * t + 2 * next] = z[k] + x[k];
  }
}

__global__ void tile_staged(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_tile[3 * kTile];
  const unsigned first = blockIdx.x * kTile;
  const unsigned structures = min(kTile, n - first), floats = 3 * structures;
  float held[3 * kEach];
#pragma unroll
  for (unsigned k = 0; k < 3 * kEach; ++k) {
    const unsigned i = k * kWidth + threadIdx.x;
    if (i < floats) held[k] = d_in[3 * first + i];
  }
#pragma unroll
  for (unsigned k = 0; k < 3 * kEach; ++k) {
    const unsigned i = k * kWidth + threadIdx.x;
    if (i < floats) s_tile[i] = held[k];
  }
  __syncthreads();
  for (unsigned s = threadIdx.x; s < structures; s += kWidth) {
    const float x = s_tile[3 * s];
    s_tile[3 * s] = x + s_tile[3 * s + 1];
    s_tile[3 * s + 1] += s_tile[3 * s + 2];
    s_tile[3 * s + 2] += x;
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 3 * kEach; ++k) {
    const unsigned i = k * kWidth + threadIdx.x;
    if (i < floats) d_out[3 * first + i] = s_tile[i];
  }
}

int coalesce1_predict(const WarpRequest* request) {
  std::list<int64_t> sectors;
  for (unsigned t = 0, left = request->active; left != 0; ++t, left >>= 1) {
    const int64_t address = request->first + int64_t{request->stride} * static_cast<int>(t ^ request->swap);
    if (left & 1) sectors.push_back(address >> 5);
  }
  sectors.sort();
  sectors.unique();
  return static_cast<int>(sectors.size());
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_increment<<<tiles(n), kWidth>>>(d_in, d_out, {Order::kPlain, n});
}
void coalesce3_misaligned(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_increment<<<tiles(n), kWidth>>>(d_in, d_out, {Order::kNext, n});
}
void coalesce4_strided(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_increment<<<tiles(n + kStride - 1), kWidth>>>(d_in, d_out, {Order::kDown, n});
}
void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_increment<<<tiles(n), kWidth>>>(d_in, d_out, {Order::kSwap, n});  // tiles are even
}
void coalesce6_structures(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_structures<<<tiles(n), kWidth>>>(d_in, d_out, n, false);
}
void coalesce7_arrays(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_structures<<<tiles(n), kWidth>>>(d_in, d_out, n, true);
}
void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n > 0) tile_staged<<<tiles(n), kWidth>>>(d_in, d_out, n);
}

static int transactions_of(const WarpRequest& request, unsigned begin) {
  std::list<int64_t> segments;
  for (unsigned k = 0; k < 16; ++k) {
    if (!(request.active >> (begin + k) & 1)) continue;
    const int64_t address = request.first + int64_t{request.stride} * static_cast<int>((begin + k) ^ request.swap);
    segments.push_back(address - int64_t{k} * request.bytes);
  }
  const int active = static_cast<int>(segments.size());
  segments.unique();
  if (segments.size() != 1) return active;
  return segments.front() & (16 * request.bytes - 1) ? active : 1;
}

int coalesce9_in_2006(const WarpRequest* request) {
  return transactions_of(*request, 0) + transactions_of(*request, 16);
}
