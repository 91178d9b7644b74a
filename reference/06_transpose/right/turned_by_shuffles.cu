// points: 100 + 10
// cudaLaunchKernelEx with dynamic shared memory; the tile is transposed as it is filled, its pitch is an argument.
// On rung 5 four lanes turn a square of 4 × 4 by shuffles, and a warp needs no barrier of the block.
#include <cuda_runtime.h>

#include "transpose.h"

typedef unsigned u32;
extern __shared__ u32 s_words[];

__global__ void plain(const u32* __restrict__ d_in, u32* __restrict__ d_out, u32 width, u32 height) {
  const unsigned long long i = blockIdx.x * 256ull + threadIdx.x;
  if (i >= (unsigned long long)width * height) return;
  // Neighbouring threads are neighbours in d_out: the reads are scattered, not the writes.
  const u32 x = (u32)(i / height), y = (u32)(i % height);
  d_out[i] = d_in[(size_t)y * width + x];
}

__global__ void tile(const u32* __restrict__ d_in, u32* __restrict__ d_out, u32 width, u32 height, u32 columns,
                     u32 pitch) {
  const u32 x0 = blockIdx.x % columns * kTile, y0 = blockIdx.x / columns * kTile;
  const u32 wide = width - x0 < kTile ? width - x0 : kTile, high = height - y0 < kTile ? height - y0 : kTile;
  d_in += (size_t)y0 * width + x0;
  d_out += (size_t)x0 * height + y0;
  if (threadIdx.x < wide) {
    for (u32 r = threadIdx.y; r < high; r += blockDim.y)
      s_words[threadIdx.x * pitch + r] = d_in[(size_t)r * width + threadIdx.x];
  }
  __syncthreads();
  if (threadIdx.x < high) {
    for (u32 c = threadIdx.y; c < wide; c += blockDim.y)
      d_out[(size_t)c * height + threadIdx.x] = s_words[c * pitch + threadIdx.x];
  }
}

// The same, unrolled where no test is needed: most tiles are full.
__global__ void __launch_bounds__(kTile* kFewRows)
    full_tile(const u32* __restrict__ d_in, u32* __restrict__ d_out, u32 width, u32 height, u32 columns) {
  __shared__ u32 s[kTile][kTile + 1];
  const u32 x0 = blockIdx.x % columns * kTile, y0 = blockIdx.x / columns * kTile, a = threadIdx.x, b = threadIdx.y;
  const bool full = x0 + kTile <= width && y0 + kTile <= height;
  const u32* from = d_in + ((size_t)(y0 + b) * width + x0 + a);
  u32* to = d_out + ((size_t)(x0 + b) * height + y0 + a);
  const size_t down = (size_t)kFewRows * width, on = (size_t)kFewRows * height;
  if (full) {
    s[a][b] = from[0], s[a][b + 8] = from[down], s[a][b + 16] = from[2 * down], s[a][b + 24] = from[3 * down];
  } else if (x0 + a < width) {
    for (u32 k = 0; k < kTile; k += kFewRows)
      if (y0 + b + k < height) s[a][b + k] = from[k / kFewRows * down];
  }
  __syncthreads();
  if (full) {
    to[0] = s[b][a], to[on] = s[b + 8][a], to[2 * on] = s[b + 16][a], to[3 * on] = s[b + 24][a];
  } else if (y0 + a < height) {
    for (u32 k = 0; k < kTile; k += kFewRows)
      if (x0 + b + k < width) to[k / kFewRows * on] = s[b + k][a];
  }
}

__device__ u32& part(uint4& v, u32 i) { return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w; }

// Lane 4 j + i has row i of a square, and gets its column i. In round d lanes i and i ^ d exchange an element.
__device__ uint4 turned(uint4 v, u32 i) {
  uint4 w = v;
#pragma unroll
  for (u32 d = 1; d < 4; ++d) {
    u32 give = 0;
#pragma unroll
    for (u32 k = 0; k < 4; ++k)
      if (k == (i ^ d)) give = part(v, k);
    const u32 got = __shfl_xor_sync(0xffffffffu, give, d);
#pragma unroll
    for (u32 k = 0; k < 4; ++k)
      if (k == (i ^ d)) part(w, k) = got;
  }
  return w;
}

// A warp turns 32 rows of 32 elements. In round k it loads four rows, each of them as eight uint4s.
__global__ void __launch_bounds__(256)
    squares(const u32* __restrict__ d_in, u32* __restrict__ d_out, u32 width, u32 height, u32 columns, u32 tiles) {
  __shared__ uint4 s_all[8][kTile * kTile / 4];
  const u32 t = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, i = lane % 4, j = lane / 4;
  if (t >= tiles) return;
  uint4* s = s_all[threadIdx.x / 32];
  const u32 x0 = t % columns * kTile, y0 = t / columns * kTile;
#pragma unroll
  for (u32 k = 0; k < 8; ++k) {
    const u32 x = x0 + 4 * j, y = y0 + 4 * k + i;
    uint4 v = make_uint4(0, 0, 0, 0);
    if (x < width && y < height) v = *(const uint4*)(d_in + (size_t)y * width + x);
    // Column 4 j + i of the tile, rows 4 k to 4 k + 3.
    s[(4 * j + i) * 8 + (k ^ (4 * j + i) % 8)] = turned(v, i);
  }
  __syncwarp();
#pragma unroll
  for (u32 k = 0; k < 8; ++k) {
    const u32 c = 4 * k + lane / 8, q = lane % 8, x = x0 + c, y = y0 + 4 * q;
    if (x < width && y < height) *(uint4*)(d_out + (size_t)x * height + y) = s[c * 8 + (q ^ c % 8)];
  }
}

static u32 tiles_of(u32 side) { return side / kTile + (side % kTile ? 1 : 0); }

static void launch(const float* d_in, float* d_out, u32 width, u32 height, u32 rows, u32 pitch) {
  cudaLaunchConfig_t config = {};
  const u32 columns = tiles_of(width);
  config.gridDim = dim3(columns * tiles_of(height));
  config.blockDim = dim3(kTile, rows);
  config.dynamicSmemBytes = kTile * pitch * sizeof(u32);
  if (config.gridDim.x == 0) return;
  cudaLaunchKernelEx(&config, tile, (const u32*)d_in, (u32*)d_out, width, height, columns, pitch);
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned long long n = (unsigned long long)width * height;
  if (n != 0) plain<<<(unsigned)((n + 255) / 256), 256>>>((const u32*)d_in, (u32*)d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  launch(d_in, d_out, width, height, kTileRows, kTile);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  launch(d_in, d_out, width, height, kTileRows, kTile + 1);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const u32 columns = tiles_of(width), blocks = columns * tiles_of(height);
  if (blocks == 0) return;
  full_tile<<<blocks, dim3(kTile, kFewRows)>>>((const u32*)d_in, (u32*)d_out, width, height, columns);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const bool aligned = ((size_t)d_in | (size_t)d_out) % 16 == 0;
  if (!aligned || width % 4 != 0 || height % 4 != 0) {
    transpose4_rows(d_in, d_out, width, height);
    return;
  }
  const u32 columns = tiles_of(width), tiles = columns * tiles_of(height);
  if (tiles != 0) squares<<<(tiles + 7) / 8, 256>>>((const u32*)d_in, (u32*)d_out, width, height, columns, tiles);
}
