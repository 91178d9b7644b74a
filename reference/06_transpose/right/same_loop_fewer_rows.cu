// points: 100 + 10
// The plainest climb: rung 3 is rung 2 with a pitch of 33, and rung 4 is rung 3 with blocks of eight rows. Every element
// computes its own index, in 64 bits, and has its own test.
#include "transpose.h"

__global__ void transpose1(const float *d_in, float *d_out, int width, int height) {
  long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= (long long)width * height) return;
  int x = i % width;
  int y = i / width;
  d_out[(long long)x * height + y] = d_in[i];
}

template <int pitch, int rows>
__global__ void transpose_tile(const float *d_in, float *d_out, int width, int height) {
  __shared__ float s_tile[kTile][pitch];
  int tiles_x = (width + kTile - 1) / kTile;
  int tile_x = blockIdx.x % tiles_x;
  int tile_y = blockIdx.x / tiles_x;

  for (int j = threadIdx.y; j < kTile; j += rows) {
    int x = tile_x * kTile + threadIdx.x;
    int y = tile_y * kTile + j;
    if (x < width && y < height) {
      s_tile[j][threadIdx.x] = d_in[(size_t)y * width + x];
    }
  }

  __syncthreads();

  for (int j = threadIdx.y; j < kTile; j += rows) {
    int x = tile_y * kTile + threadIdx.x;
    int y = tile_x * kTile + j;
    if (x < height && y < width) {
      d_out[(size_t)y * height + x] = s_tile[threadIdx.x][j];
    }
  }
}

int tiles(int width, int height) {
  return ((width + kTile - 1) / kTile) * ((height + kTile - 1) / kTile);
}

void transpose1_naive(const float *d_in, float *d_out, unsigned width, unsigned height) {
  if (width * height == 0) return;
  int threads = 256;
  int blocks = (width * height + threads - 1) / threads;
  transpose1<<<blocks, threads>>>(d_in, d_out, width, height);
}

void transpose2_tiled(const float *d_in, float *d_out, unsigned width, unsigned height) {
  if (width * height == 0) return;
  transpose_tile<32, 16><<<tiles(width, height), dim3(32, 16)>>>(d_in, d_out, width, height);
}

void transpose3_padded(const float *d_in, float *d_out, unsigned width, unsigned height) {
  if (width * height == 0) return;
  transpose_tile<33, 16><<<tiles(width, height), dim3(32, 16)>>>(d_in, d_out, width, height);
}

void transpose4_rows(const float *d_in, float *d_out, unsigned width, unsigned height) {
  if (width * height == 0) return;
  transpose_tile<33, 8><<<tiles(width, height), dim3(32, 8)>>>(d_in, d_out, width, height);
}

// A thread has four neighbours of a row, loads them with one request, and stores four neighbours of a row of d_out.
__global__ void transpose5(const float4 *d_in, float4 *d_out, int width4, int height4) {
  __shared__ float s_tile[32][33];
  int tiles_x = (width4 + 7) / 8;
  int tile_x = blockIdx.x % tiles_x;
  int tile_y = blockIdx.x / tiles_x;
  int tx = threadIdx.x, ty = threadIdx.y;

  int x4 = tile_x * 8 + tx;
  int y = tile_y * 32 + ty;
  if (x4 < width4 && y < 4 * height4) {
    float4 v = d_in[y * width4 + x4];
    s_tile[ty][4 * tx + 0] = v.x;
    s_tile[ty][4 * tx + 1] = v.y;
    s_tile[ty][4 * tx + 2] = v.z;
    s_tile[ty][4 * tx + 3] = v.w;
  }

  __syncthreads();

  x4 = tile_y * 8 + tx;
  y = tile_x * 32 + ty;
  if (x4 < height4 && y < 4 * width4) {
    float4 v;
    v.x = s_tile[4 * tx + 0][ty];
    v.y = s_tile[4 * tx + 1][ty];
    v.z = s_tile[4 * tx + 2][ty];
    v.w = s_tile[4 * tx + 3][ty];
    d_out[y * height4 + x4] = v;
  }
}

void transpose5_wide(const float *d_in, float *d_out, unsigned width, unsigned height) {
  if (width * height == 0) return;
  bool aligned = (unsigned long long)d_in % 16 == 0 && (unsigned long long)d_out % 16 == 0;
  if (aligned && width % 4 == 0 && height % 4 == 0) {
    transpose5<<<tiles(width, height), dim3(8, 32)>>>((const float4 *)d_in, (float4 *)d_out, width / 4, height / 4);
  } else {
    transpose4_rows(d_in, d_out, width, height);
  }
}
