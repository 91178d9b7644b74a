// points: 100 + 10
// Cooperative groups: a tile of the block's threads is a warp, and a warp moves a row. Rung 3 and up copy into shared
// memory asynchronously, and wait before the barrier.
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include "transpose.h"

namespace cg = cooperative_groups;

struct Place {
  unsigned x, y;
};

template <unsigned kSide>
__device__ Place place_of_block(unsigned width) {
  const unsigned columns = (width + kSide - 1) / kSide;
  return {blockIdx.x % columns * kSide, blockIdx.x / columns * kSide};
}

template <unsigned kSide>
static unsigned tiles(unsigned width, unsigned height) {
  return ((width + kSide - 1) / kSide) * ((height + kSide - 1) / kSide);
}

__global__ void naive_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned long long i = grid.thread_rank();
  if (i < 1ull * width * height) d_out[i % width * height + i / width] = d_in[i];
}

__global__ void tiled_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kTile];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const unsigned lane = warp.thread_rank();
  const Place place = place_of_block<kTile>(width);
  for (unsigned row = warp.meta_group_rank(); row < kTile; row += warp.meta_group_size()) {
    if (place.x + lane < width && place.y + row < height) {
      s_tile[row][lane] = d_in[(place.y + row) * width + place.x + lane];
    }
  }
  block.sync();
  for (unsigned row = warp.meta_group_rank(); row < kTile; row += warp.meta_group_size()) {
    if (place.y + lane < height && place.x + row < width) {
      d_out[(place.x + row) * height + place.y + lane] = s_tile[lane][row];
    }
  }
}

template <unsigned kRows>
__global__ void copied_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kTile + 1];
  const cg::thread_block block = cg::this_thread_block();
  const Place place = place_of_block<kTile>(width);
  const unsigned lane = threadIdx.x, first = threadIdx.y;
  const float* in = d_in + (place.y + first) * width + place.x + lane;
  const unsigned rows_in = place.x + lane < width ? min(kTile, height - place.y) : 0;
#pragma unroll
  for (unsigned row = 0; row < kTile; row += kRows) {
    if (first + row < rows_in) __pipeline_memcpy_async(&s_tile[first + row][lane], in + row * width, sizeof(float));
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  block.sync();
  float* out = d_out + (place.x + first) * height + place.y + lane;
  const unsigned rows_out = place.y + lane < height ? min(kTile, width - place.x) : 0;
#pragma unroll
  for (unsigned row = 0; row < kTile; row += kRows) {
    if (first + row < rows_out) out[row * height] = s_tile[lane][first + row];
  }
}

// Chunks of 16 bytes go to shared memory as they are; chunk c of row r lies at c ^ (r / 4).
__global__ void wide_kernel(const float4* d_in, float4* d_out, unsigned width, unsigned height) {
  __shared__ float4 s_tile[64][16];
  const cg::thread_block block = cg::this_thread_block();
  const Place place = place_of_block<64>(width);
  const unsigned in_pitch = width / 4, out_pitch = height / 4;
  const unsigned c = threadIdx.x, x = place.x / 4 + c;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const unsigned r = threadIdx.y + 16 * k;
    if (x < in_pitch && place.y + r < height) {
      __pipeline_memcpy_async(&s_tile[r][c ^ (r / 4)], &d_in[(place.y + r) * in_pitch + x], sizeof(float4));
    }
  }
  __pipeline_commit();
  __pipeline_wait_prior(0);
  block.sync();
  const unsigned row = place.x + 4 * threadIdx.y, chunk = place.y / 4 + threadIdx.x;
  if (row >= width || chunk >= out_pitch) return;
  float square[4][4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    const float4 four = s_tile[4 * threadIdx.x + k][threadIdx.y ^ threadIdx.x];
    square[0][k] = four.x;
    square[1][k] = four.y;
    square[2][k] = four.z;
    square[3][k] = four.w;
  }
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    d_out[(row + k) * out_pitch + chunk] = make_float4(square[k][0], square[k][1], square[k][2], square[k][3]);
  }
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned long long elements = 1ull * width * height;
  if (elements > 0) naive_kernel<<<(elements + 511) / 512, 512>>>(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = tiles<kTile>(width, height);
  if (blocks > 0) tiled_kernel<<<blocks, kTile * kTileRows>>>(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = tiles<kTile>(width, height);
  if (blocks > 0) copied_kernel<16><<<blocks, dim3(kTile, 16)>>>(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = tiles<kTile>(width, height);
  if (blocks > 0) copied_kernel<8><<<blocks, dim3(kTile, 8)>>>(d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const auto fits = [](const void* pointer) { return reinterpret_cast<size_t>(pointer) % 16 == 0; };
  if (width % 4 != 0 || height % 4 != 0 || !fits(d_in) || !fits(d_out)) {
    transpose4_rows(d_in, d_out, width, height);
    return;
  }
  const unsigned blocks = tiles<64>(width, height);
  if (blocks > 0) {
    wide_kernel<<<blocks, dim3(16, 16)>>>(reinterpret_cast<const float4*>(d_in), reinterpret_cast<float4*>(d_out),
                                          width, height);
  }
}
