// verdict: BOUNDS transpose5_wide
// Looks where d_out begins, and not where d_in does.
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

constexpr unsigned kSide = 64, kChunks = kSide / 4;

__device__ unsigned place(unsigned row, unsigned chunk) { return row * kChunks + (chunk ^ (row / 4 % kChunks)); }

__global__ void transpose5_wide_kernel(const float4* d_in, float4* d_out, unsigned width, unsigned height) {
  __shared__ float4 s_tile[kSide * kChunks];
  const unsigned tiles = width / kSide;
  const unsigned x0 = blockIdx.x % tiles * kSide, y0 = blockIdx.x / tiles * kSide;
  const unsigned tx = threadIdx.x, ty = threadIdx.y;
#pragma unroll
  for (unsigned row = 0; row < kSide; row += kChunks) {
    s_tile[place(ty + row, tx)] = d_in[(y0 + ty + row) * (width / 4) + x0 / 4 + tx];
  }
  __syncthreads();
  float4 v[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) v[k] = s_tile[place(tx * 4 + k, ty)];
  float4* out = d_out + ((x0 + ty * 4) * (height / 4) + y0 / 4 + tx);
  out[0] = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
  out[height / 4] = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
  out[height / 4 * 2] = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
  out[height / 4 * 3] = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);
}


void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (reinterpret_cast<size_t>(d_out) % 16 != 0 || width % kSide != 0 || height % kSide != 0) {
    good(d_in, d_out, width, height);
    return;
  }
  const unsigned blocks = width / kSide * (height / kSide);
  if (blocks == 0) return;
  transpose5_wide_kernel<<<blocks, dim3(kChunks, kChunks)>>>(reinterpret_cast<const float4*>(d_in),
                                                             reinterpret_cast<float4*>(d_out), width, height);
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
