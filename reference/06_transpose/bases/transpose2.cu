// Right on rung 2; one kernel serves the others. Wrong solutions are edits of it.
#include "transpose.h"

// Serves the rungs that are not the point here: right, and within every budget.
__global__ void good_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kTile + 1];
  const unsigned tiles = (width + kTile - 1) / kTile;
  const unsigned x0 = blockIdx.x % tiles * kTile, y0 = blockIdx.x / tiles * kTile;
  const float* in = d_in + ((y0 + threadIdx.y) * width + x0 + threadIdx.x);
  float* out = d_out + ((x0 + threadIdx.y) * height + y0 + threadIdx.x);
  const bool whole = x0 + kTile <= width && y0 + kTile <= height;
#pragma unroll
  for (unsigned row = 0; row < kTile; row += kFewRows, in += kFewRows * width) {
    if (whole || (x0 + threadIdx.x < width && y0 + threadIdx.y + row < height)) {
      s_tile[threadIdx.y + row][threadIdx.x] = *in;
    }
  }
  __syncthreads();
#pragma unroll
  for (unsigned row = 0; row < kTile; row += kFewRows, out += kFewRows * height) {
    if (whole || (y0 + threadIdx.x < height && x0 + threadIdx.y + row < width)) {
      *out = s_tile[threadIdx.x][threadIdx.y + row];
    }
  }
}

unsigned tiles_of(unsigned width, unsigned height) {
  return ((width + kTile - 1) / kTile) * ((height + kTile - 1) / kTile);
}

void good(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (tiles_of(width, height) == 0) return;
  good_kernel<<<tiles_of(width, height), dim3(kTile, kFewRows)>>>(d_in, d_out, width, height);
}

__global__ void transpose2_tiled_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kTile];
  const unsigned tiles = (width + kTile - 1) / kTile;
  const unsigned x0 = blockIdx.x % tiles * kTile, y0 = blockIdx.x / tiles * kTile;
  const unsigned x = x0 + threadIdx.x;
  for (unsigned row = threadIdx.y; row < kTile; row += blockDim.y) {
    const unsigned y = y0 + row;
    if (x < width && y < height) s_tile[row][threadIdx.x] = d_in[y * width + x];
  }
  __syncthreads();
  const unsigned out_x = y0 + threadIdx.x;
  for (unsigned row = threadIdx.y; row < kTile; row += blockDim.y) {
    const unsigned out_y = x0 + row;
    if (out_x < height && out_y < width) d_out[out_y * height + out_x] = s_tile[threadIdx.x][row];
  }
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (tiles_of(width, height) == 0) return;
  transpose2_tiled_kernel<<<tiles_of(width, height), dim3(kTile, kTileRows)>>>(d_in, d_out, width, height);
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
