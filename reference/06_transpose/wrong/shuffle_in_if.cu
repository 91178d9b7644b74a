// verdict: BARRIER transpose3_padded
// Only the lanes with a row to store exchange words by shuffles, and read from lanes that hold what is missing.
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

// A warp turns a square of its own, a column in each lane's registers: in round s, squares of 2s x 2s swap two
// quarters.
__global__ void transpose3_padded_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned tiles = (width + kTile - 1) / kTile, lane = threadIdx.x;
  const unsigned x0 = blockIdx.x % tiles * kTile, y0 = blockIdx.x / tiles * kTile;
  const unsigned storing = __ballot_sync(0xffffffff, y0 + lane < height);
  float column[kTile] = {};
#pragma unroll
  for (unsigned row = 0; row < kTile; ++row) {
    if (x0 + lane < width && y0 + row < height) column[row] = d_in[(y0 + row) * width + x0 + lane];
  }
  if (y0 + lane < height) {
#pragma unroll
    for (unsigned s = kTile / 2; s > 0; s /= 2) {
#pragma unroll
      for (unsigned row = 0; row < kTile; ++row) {
        if ((row & s) != 0) continue;
        const bool upper = (lane & s) != 0;
        const float got = __shfl_xor_sync(storing, upper ? column[row] : column[row + s], s);
        (upper ? column[row] : column[row + s]) = got;
      }
    }
#pragma unroll
    for (unsigned row = 0; row < kTile; ++row) {
      if (x0 + row < width) d_out[(x0 + row) * height + y0 + lane] = column[row];
    }
  }
}

void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (tiles_of(width, height) == 0) return;
  transpose3_padded_kernel<<<tiles_of(width, height), kTile>>>(d_in, d_out, width, height);
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  good(d_in, d_out, width, height);
}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
