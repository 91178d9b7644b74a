// Alan Turing. Half of it; the rest next week.
#include "transpose.h"

__global__ void naive_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= width * height) return;
  const unsigned x = i % width, y = i / width;
  d_out[x * height + y] = d_in[y * width + x];
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = (width * height + 255) / 256;
  if (blocks > 0) naive_kernel<<<blocks, 256>>>(d_in, d_out, width, height);
}

unsigned tiles_of(unsigned width, unsigned height) {
  return ((width + kTile - 1) / kTile) * ((height + kTile - 1) / kTile);
}

__global__ void tiled_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kTile];
  const unsigned tiles_x = (width + kTile - 1) / kTile;
  const unsigned tile_x = blockIdx.x % tiles_x * kTile, tile_y = blockIdx.x / tiles_x * kTile;
  for (unsigned j = threadIdx.y; j < kTile; j += blockDim.y) {
    const unsigned x = tile_x + threadIdx.x, y = tile_y + j;
    if (x < width && y < height) s_tile[j][threadIdx.x] = d_in[y * width + x];
  }
  __syncthreads();
  for (unsigned j = threadIdx.y; j < kTile; j += blockDim.y) {
    const unsigned x = tile_y + threadIdx.x, y = tile_x + j;
    if (x < height && y < width) d_out[y * height + x] = s_tile[threadIdx.x][j];
  }
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned tiles = tiles_of(width, height);
  if (tiles > 0) tiled_kernel<<<tiles, dim3(kTile, kTileRows)>>>(d_in, d_out, width, height);
}

void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
