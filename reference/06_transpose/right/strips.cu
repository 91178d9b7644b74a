// points: 100 + 10
// The host cuts a matrix that is too tall for a grid of two dimensions into strips, and launches once for each. Every
// rung but the first loads its tile turned: columns are stored where rows were, and read row by row.
#include <algorithm>
#include <cstdint>

#include "transpose.h"

namespace {

// d_in and d_out begin at the strip's first row and column; `rows` is the strip's height.
using Kernel = void (*)(const float* d_in, float* d_out, unsigned width, unsigned height, unsigned rows);

void for_strips(Kernel kernel, dim3 threads, unsigned tile_x, unsigned tile_y, const float* d_in, float* d_out,
                unsigned width, unsigned height) {
  const unsigned most = 65535 * tile_y;
  for (unsigned y = 0; y < height && width > 0; y += most) {
    const unsigned rows = std::min(height - y, most);
    const dim3 blocks((width - 1) / tile_x + 1, (rows - 1) / tile_y + 1);
    kernel<<<blocks, threads>>>(d_in + size_t{y} * width, d_out + y, width, height, rows);
  }
}

__global__ void naive(const float* d_in, float* d_out, unsigned width, unsigned height, unsigned rows) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= rows) return;
  d_out[size_t{x} * height + y] = d_in[size_t{y} * width + x];
}

template <unsigned kPad, unsigned kRows>
__global__ void turned(const float* d_in, float* d_out, unsigned width, unsigned height, unsigned rows) {
  __shared__ float s_turned[kTile][kTile + kPad];
  const unsigned x0 = blockIdx.x * kTile, y0 = blockIdx.y * kTile;
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
  const bool all = x0 + kTile <= width && y0 + kTile <= rows;
  const float* from = d_in + (y0 + ty) * width + (x0 + tx);
  float* to = d_out + (x0 + ty) * height + (y0 + tx);
  if (all) {
#pragma unroll
    for (unsigned k = 0; k < kTile; k += kRows, from += kRows * width) s_turned[tx][ty + k] = *from;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kTile; k += kRows, to += kRows * height) *to = s_turned[ty + k][tx];
  } else {
    for (unsigned k = 0; k < kTile; k += kRows, from += kRows * width) {
      if (x0 + tx < width && y0 + ty + k < rows) s_turned[tx][ty + k] = *from;
    }
    __syncthreads();
    for (unsigned k = 0; k < kTile; k += kRows, to += kRows * height) {
      if (y0 + tx < rows && x0 + ty + k < width) *to = s_turned[ty + k][tx];
    }
  }
}

// Two loads of a float4 a thread, and two stores; the tile is turned when it is filled. Row r of the turned tile begins
// with chunk r / 4 of it, so that the four words that a thread stores, and its neighbours' words, lie in banks of their
// own.
__global__ void wide(const float* d_in, float* d_out, unsigned width, unsigned height, unsigned rows) {
  __shared__ __align__(16) float s_turned[32][33];
  const unsigned x0 = blockIdx.x * 32, y0 = blockIdx.y * 32;
  const unsigned chunk = threadIdx.x % 8 * 4, row = threadIdx.x / 8;
#pragma unroll
  for (unsigned k = 0; k < 32; k += 16) {
    const unsigned x = x0 + chunk, y = y0 + row + k;
    if (x < width && y < rows) {
      const float4 four = *reinterpret_cast<const float4*>(d_in + size_t{y} * width + x);
      s_turned[chunk][row + k] = four.x;
      s_turned[chunk + 1][row + k] = four.y;
      s_turned[chunk + 2][row + k] = four.z;
      s_turned[chunk + 3][row + k] = four.w;
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < 32; k += 16) {
    const unsigned x = y0 + chunk, y = x0 + row + k;
    if (x < y0 + 32 && x < rows && y < width) {
      const float* four = &s_turned[row + k][chunk];
      *reinterpret_cast<float4*>(d_out + size_t{y} * height + x) = make_float4(four[0], four[1], four[2], four[3]);
    }
  }
}

}  // namespace

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  for_strips(naive, dim3(16, 16), 16, 16, d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  for_strips(turned<0, kTileRows>, dim3(kTile, kTileRows), kTile, kTile, d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  for_strips(turned<1, kTileRows>, dim3(kTile, kTileRows), kTile, kTile, d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  for_strips(turned<1, kFewRows>, dim3(kTile, kFewRows), kTile, kTile, d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const bool aligned = ((reinterpret_cast<uintptr_t>(d_in) | reinterpret_cast<uintptr_t>(d_out)) & 15) == 0;
  if (aligned && width % 4 == 0 && height % 4 == 0) {
    for_strips(wide, dim3(128), 32, 32, d_in, d_out, width, height);
  } else {
    transpose4_rows(d_in, d_out, width, height);
  }
}
