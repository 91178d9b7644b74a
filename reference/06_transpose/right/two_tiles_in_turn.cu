// points: 100 + 10
// A block walks down a column of tiles, loads one while it stores the one before, and so needs a barrier a tile: two
// tiles are used in turn. What a thread does with each element of its tile is a lambda.
#include "transpose.h"

namespace {

constexpr unsigned kTilesEach = 4;  // a block

unsigned Cover(unsigned n, unsigned size) { return n / size + (n % size > 0); }

__global__ void EachElement(const float* d_in, float* d_out, unsigned width, unsigned height) {
  // A warp has 32 columns of one row; the block 32 rows of them.
  const unsigned strips = (width + 31) / 32;
  const unsigned x = blockIdx.x % strips * 32 + threadIdx.x % 32;
  const unsigned first = blockIdx.x / strips * 32 + threadIdx.x / 32;
  if (x >= width) return;
  for (unsigned y = first; y < first + 32 && y < height; y += blockDim.x / 32) d_out[x * height + y] = d_in[y * width + x];
}

// Calls visit(row, k) for the rows of a tile that this thread has; k counts them.
template <unsigned kRows, class Visit>
__device__ void ForRows(Visit visit) {
#pragma unroll
  for (unsigned k = 0; k < kTile / kRows; ++k) visit(threadIdx.y + k * kRows, k);
}

template <unsigned kPitch, unsigned kRows>
__global__ void Columns(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tiles[2][kTile][kPitch];
  const unsigned across = (width + kTile - 1) / kTile;
  const unsigned x0 = blockIdx.x % across * kTile, first = blockIdx.x / across * kTilesEach * kTile;
  const unsigned tx = threadIdx.x;
  for (unsigned n = 0; n < kTilesEach; ++n) {
    const unsigned y0 = first + n * kTile;
    if (y0 >= height) break;
    float(*tile)[kPitch] = s_tiles[n % 2];
    const bool whole = x0 + kTile <= width && y0 + kTile <= height;
    const float* in = d_in + (y0 + threadIdx.y) * width + x0 + tx;
    float* out = d_out + (x0 + threadIdx.y) * height + y0 + tx;
    if (whole) {
      ForRows<kRows>([&](unsigned row, unsigned k) { tile[row][tx] = in[k * kRows * width]; });
    } else {
      ForRows<kRows>([&](unsigned row, unsigned k) {
        if (x0 + tx < width && y0 + row < height) tile[row][tx] = in[k * kRows * width];
      });
    }
    // Whoever stores this tile has left the other one, which is filled next.
    __syncthreads();
    if (whole) {
      ForRows<kRows>([&](unsigned row, unsigned k) { out[k * kRows * height] = tile[tx][row]; });
    } else {
      ForRows<kRows>([&](unsigned row, unsigned k) {
        if (y0 + tx < height && x0 + row < width) out[k * kRows * height] = tile[tx][row];
      });
    }
  }
}

template <unsigned kPitch, unsigned kRows>
void Launch(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = Cover(width, kTile) * Cover(height, kTile * kTilesEach);
  if (blocks > 0) Columns<kPitch, kRows><<<blocks, dim3(kTile, kRows)>>>(d_in, d_out, width, height);
}

// Eight lanes load a row of 32 words by float4, and put them where lane and row say: row r is turned by r / 4 chunks.
__global__ void Fours(const float4* d_in, float4* d_out, unsigned width, unsigned height) {
  __shared__ float4 s_chunks[64][16];
  const unsigned across = (width + 63) / 64, w4 = width / 4, h4 = height / 4;
  const unsigned x0 = blockIdx.x % across * 64, y0 = blockIdx.x / across * 64;
  const unsigned c = threadIdx.x % 16, g = threadIdx.x / 16;  // a chunk, a group of four rows
#pragma unroll
  for (unsigned k = 0; k < 64; k += 16) {
    const unsigned row = g + k;
    if (x0 + 4 * c < width && y0 + row < height) s_chunks[row][(c + row / 4) & 15] = d_in[(y0 + row) * w4 + x0 / 4 + c];
  }
  __syncthreads();
  if (y0 + 4 * c >= height || x0 + 4 * g >= width) return;
  float4 four[4];
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) four[k] = s_chunks[4 * c + k][(g + c) & 15];
  const float* words = &four[0].x;
#pragma unroll
  for (unsigned k = 0; k < 4; ++k) {
    d_out[(x0 + 4 * g + k) * h4 + y0 / 4 + c] = make_float4(words[k], words[4 + k], words[8 + k], words[12 + k]);
  }
}

}  // namespace

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned blocks = Cover(width, 32) * Cover(height, 32);
  if (blocks > 0) EachElement<<<blocks, 256>>>(d_in, d_out, width, height);
}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  Launch<kTile, kTileRows>(d_in, d_out, width, height);
}
void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  Launch<kTile + 1, kTileRows>(d_in, d_out, width, height);
}
void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  Launch<kTile + 1, kFewRows>(d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const auto is_wide = [](auto address) { return reinterpret_cast<size_t>(address) % alignof(float4) == 0; };
  if (width % 4 == 0 && height % 4 == 0 && is_wide(d_in) && is_wide(d_out)) {
    const unsigned blocks = Cover(width, 64) * Cover(height, 64);
    if (blocks > 0) {
      Fours<<<blocks, 256>>>(reinterpret_cast<const float4*>(d_in), reinterpret_cast<float4*>(d_out), width, height);
    }
  } else {
    transpose4_rows(d_in, d_out, width, height);
  }
}
