// points: 100 + 10
// Rung 5: tiles of 64 × 64, moved as uint4s; each thread turns a square of 4 × 4 in its registers. Rungs 2 to 4: blocks
// take their tiles in diagonal order.
#include <cstdint>

#include "transpose.h"

namespace {

struct Sides {
  unsigned width, height;
  __host__ __device__ unsigned columns(unsigned tile) const { return width / tile + (width % tile != 0); }
  __host__ __device__ unsigned rows(unsigned tile) const { return height / tile + (height % tile != 0); }
};

using Bits = const uint32_t*;

__global__ void each(Bits in, uint32_t* out, Sides m) {
  const unsigned columns = m.columns(32);
  const unsigned x = blockIdx.x % columns * 32 + threadIdx.x, y = blockIdx.x / columns * 8 + threadIdx.y;
  if (x < m.width && y < m.height) out[size_t{x} * m.height + y] = in[size_t{y} * m.width + x];
}

// The k-th tile, counted down the diagonals of the grid.
__device__ uint2 tile_of(unsigned k, Sides m) {
  const unsigned columns = m.columns(kTile), row = k / columns;
  return make_uint2((k % columns + row % columns) % columns, row);
}

template <unsigned kPitch, unsigned kRows>
__global__ void __launch_bounds__(kTile* kRows) diagonal(Bits in, uint32_t* out, Sides m) {
  __shared__ uint32_t s[kTile * kPitch];
  const uint2 tile = tile_of(blockIdx.x, m);
  const unsigned a = threadIdx.x, b = threadIdx.y;
  const unsigned x = tile.x * kTile + a, y = tile.y * kTile + b;
  Bits from = in + (size_t{y} * m.width + x);
#pragma unroll
  for (unsigned k = 0; k < kTile; k += kRows, from += size_t{kRows} * m.width) {
    if (x < m.width && y + k < m.height) s[(b + k) * kPitch + a] = *from;
  }
  __syncthreads();
  const unsigned u = tile.y * kTile + a, v = tile.x * kTile + b;
  uint32_t* to = out + (size_t{v} * m.height + u);
#pragma unroll
  for (unsigned k = 0; k < kTile; k += kRows, to += size_t{kRows} * m.height) {
    if (u < m.height && v + k < m.width) *to = s[a * kPitch + b + k];
  }
}

constexpr unsigned kSide = 64, kLanes = 16, kHigh = 16;

// Four by four elements a thread. Word w of row r of the tile is at r * 64 + (w ^ 4 * (r / 4 % 16)): uint4s stay whole.
__device__ unsigned place(unsigned r, unsigned w) { return r * kSide + (w ^ (r / 4 % 16 * 4)); }

__device__ uint4 whole_or_parts(Bits p, unsigned left, bool aligned) {
  if (aligned && left >= 4) return *reinterpret_cast<const uint4*>(p);
  uint4 v{};
  if (left > 0) v.x = p[0];
  if (left > 1) v.y = p[1];
  if (left > 2) v.z = p[2];
  if (left > 3) v.w = p[3];
  return v;
}

__device__ void put(uint32_t* p, const uint4& v, unsigned left, bool aligned) {
  if (aligned && left >= 4) {
    *reinterpret_cast<uint4*>(p) = v;
    return;
  }
  if (left > 0) p[0] = v.x;
  if (left > 1) p[1] = v.y;
  if (left > 2) p[2] = v.z;
  if (left > 3) p[3] = v.w;
}

__global__ void __launch_bounds__(kLanes* kHigh) squares(Bits in, uint32_t* out, Sides m, bool wide_in, bool wide_out) {
  __shared__ uint4 s[kSide * kSide / 4];
  const unsigned columns = m.columns(kSide), x0 = blockIdx.x % columns * kSide, y0 = blockIdx.x / columns * kSide;
  const unsigned a = threadIdx.x % kLanes, b = threadIdx.x / kLanes;
  const unsigned x = x0 + 4 * a, left = x < m.width ? m.width - x : 0;
  uint4 v[4];
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned y = y0 + 4 * b + k;
    v[k] = y < m.height ? whole_or_parts(in + size_t{y} * m.width + x, left, wide_in) : uint4{};
  }
  // The square of 4 × 4 is turned in registers: row 4 a + k of the turned tile has four elements of this thread's.
  s[place(4 * a + 0, 4 * b) / 4] = make_uint4(v[0].x, v[1].x, v[2].x, v[3].x);
  s[place(4 * a + 1, 4 * b) / 4] = make_uint4(v[0].y, v[1].y, v[2].y, v[3].y);
  s[place(4 * a + 2, 4 * b) / 4] = make_uint4(v[0].z, v[1].z, v[2].z, v[3].z);
  s[place(4 * a + 3, 4 * b) / 4] = make_uint4(v[0].w, v[1].w, v[2].w, v[3].w);
  __syncthreads();
  const unsigned u = y0 + 4 * a, room = u < m.height ? m.height - u : 0;
  for (unsigned r = b; r < kSide; r += kHigh) {
    if (x0 + r < m.width) put(out + size_t{x0 + r} * m.height + u, s[place(r, 4 * a) / 4], room, wide_out);
  }
}

bool fits_16(const void* p, unsigned side) { return reinterpret_cast<uintptr_t>(p) % 16 == 0 && side % 4 == 0; }

template <class Kernel>
void by_tiles(Kernel* kernel, unsigned rows, const float* d_in, float* d_out, Sides m) {
  if (m.width == 0 || m.height == 0) return;
  kernel<<<m.columns(kTile) * m.rows(kTile), dim3(kTile, rows)>>>(reinterpret_cast<Bits>(d_in),
                                                                  reinterpret_cast<uint32_t*>(d_out), m);
}

}  // namespace

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Sides m{width, height};
  if (width == 0 || height == 0) return;
  each<<<m.columns(32) * m.rows(8), dim3(32, 8)>>>(reinterpret_cast<Bits>(d_in), reinterpret_cast<uint32_t*>(d_out), m);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  by_tiles(diagonal<kTile, kTileRows>, kTileRows, d_in, d_out, {width, height});
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  by_tiles(diagonal<kTile + 1, kTileRows>, kTileRows, d_in, d_out, {width, height});
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  by_tiles(diagonal<kTile + 1, kFewRows>, kFewRows, d_in, d_out, {width, height});
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const Sides m{width, height};
  if (width == 0 || height == 0) return;
  squares<<<m.columns(kSide) * m.rows(kSide), kLanes * kHigh>>>(reinterpret_cast<Bits>(d_in),
                                                                reinterpret_cast<uint32_t*>(d_out), m,
                                                                fits_16(d_in, width), fits_16(d_out, height));
}
