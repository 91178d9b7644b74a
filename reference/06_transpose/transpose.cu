// The ladder of transposes: the same elements moved in five ways, each with fewer memory transactions or instructions
// than the one before.
//
// Grids have one dimension: only x counts beyond 65535, and a matrix of one column may have many more rows than that.
// What a thread or a block works on follows from its index by a division.

#include <cstdint>

#include "transpose.h"

// How many pieces of `size` it takes to cover n.
__host__ __device__ constexpr unsigned Pieces(unsigned n, unsigned size) { return n / size + (n % size != 0); }

// Rung 1. One thread an element. A warp reads 32 neighbours, and writes them `height` elements apart.
__global__ void transpose1_naive_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < width * height) d_out[i % width * height + i / width] = d_in[i];
}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  constexpr unsigned kThreads = 256;
  // A grid of no blocks would be an error.
  if (width == 0 || height == 0) return;
  transpose1_naive_kernel<<<Pieces(width * height, kThreads), kThreads>>>(d_in, d_out, width, height);
}

// Launches one block for each tile of kWidth × kHeight elements.
template <unsigned kWidth, unsigned kHeight = kWidth, typename Element>
void launch_tiles(void (*kernel)(const Element*, Element*, unsigned, unsigned), dim3 threads, const Element* d_in,
                  Element* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  kernel<<<Pieces(width, kWidth) * Pieces(height, kHeight), threads>>>(d_in, d_out, width, height);
}

// Where a block's tile begins, in the input's coordinates. Tiles are numbered down the columns, so that blocks that run
// at the same time write neighbouring parts of the same rows of d_out. On an H200 that is up to 9 % faster than to
// number them along the rows, where it is the reads that are neighbours.
struct Tile {
  unsigned x, y;
};

template <unsigned kWidth, unsigned kHeight = kWidth>
__device__ Tile tile_of_block(unsigned height) {
  const unsigned rows = Pieces(height, kHeight);
  return {blockIdx.x / rows * kWidth, blockIdx.x % rows * kHeight};
}

// Rungs 2 and 3. A block's warps read the rows of a tile into shared memory, and write its columns as rows of the
// output. kPitch is how far the tile's rows lie apart: 32 words apart a column's words share one bank, 33 apart each
// has its own.
template <unsigned kPitch>
__device__ void transpose_tile(const float* d_in, float* d_out, unsigned width, unsigned height) {
  __shared__ float s_tile[kTile][kPitch];
  const Tile tile = tile_of_block<kTile>(height);
  const unsigned x = tile.x + threadIdx.x;
  for (unsigned row = threadIdx.y; row < kTile; row += blockDim.y) {
    const unsigned y = tile.y + row;
    if (x < width && y < height) s_tile[row][threadIdx.x] = d_in[y * width + x];
  }
  __syncthreads();
  // The tile's place in the output, and the threads' places in the tile, are swapped.
  const unsigned out_x = tile.y + threadIdx.x;
  for (unsigned row = threadIdx.y; row < kTile; row += blockDim.y) {
    const unsigned out_y = tile.x + row;
    if (out_x < height && out_y < width) d_out[out_y * height + out_x] = s_tile[threadIdx.x][row];
  }
}

__global__ void transpose2_tiled_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose_tile<kTile>(d_in, d_out, width, height);
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  launch_tiles<kTile>(transpose2_tiled_kernel, dim3(kTile, kTileRows), d_in, d_out, width, height);
}

__global__ void transpose3_padded_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transpose_tile<kTile + 1>(d_in, d_out, width, height);
}

void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  launch_tiles<kTile>(transpose3_padded_kernel, dim3(kTile, kTileRows), d_in, d_out, width, height);
}

// Rung 4. Four rows a thread, unrolled: indices are computed once, and advance by a constant; a tile that the matrix
// fills needs no test of each element, and its four loads are in flight at once.
__global__ void transpose4_rows_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  constexpr unsigned kRowsEach = kTile / kFewRows;
  __shared__ float s_tile[kTile][kTile + 1];
  const Tile tile = tile_of_block<kTile>(height);
  const unsigned x = tile.x + threadIdx.x, y = tile.y + threadIdx.y;
  const unsigned out_x = tile.y + threadIdx.x, out_y = tile.x + threadIdx.y;
  const float* in = d_in + (y * width + x);
  float* out = d_out + (out_y * height + out_x);
  if (tile.x + kTile <= width && tile.y + kTile <= height) {
#pragma unroll
    for (unsigned k = 0; k < kRowsEach; ++k) {
      s_tile[threadIdx.y + k * kFewRows][threadIdx.x] = *in;
      in += kFewRows * width;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kRowsEach; ++k) {
      *out = s_tile[threadIdx.x][threadIdx.y + k * kFewRows];
      out += kFewRows * height;
    }
  } else {
    for (unsigned k = 0; k < kRowsEach; ++k) {
      const unsigned row = k * kFewRows;
      if (x < width && y + row < height) s_tile[threadIdx.y + row][threadIdx.x] = in[row * width];
    }
    __syncthreads();
    for (unsigned k = 0; k < kRowsEach; ++k) {
      const unsigned row = k * kFewRows;
      if (out_x < height && out_y + row < width) out[row * height] = s_tile[threadIdx.x][threadIdx.y + row];
    }
  }
}

void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  launch_tiles<kTile>(transpose4_rows_kernel, dim3(kTile, kFewRows), d_in, d_out, width, height);
}

// Rung 5. Four elements a request. A tile of 64 × 64 elements is 64 × 16 chunks of 16 bytes. A thread puts two of them
// into shared memory. Then half of the threads each take a square of 4 × 4 elements out of it, turn the square in
// registers, and store the four chunks that it has become.
constexpr unsigned kWideTile = 64;
constexpr unsigned kChunk = 4;                    // elements
constexpr unsigned kChunks = kWideTile / kChunk;  // chunks of a tile's row
constexpr unsigned kWideThreads = 512;

// Where a chunk of a tile's row lies. Eight threads at a time are served: those that store have neighbouring chunks of
// one row, those that load the same chunk of every fourth row. With each row's chunks permuted like this both meet all
// 32 banks, and no word is wasted on padding.
__device__ unsigned swizzle(unsigned row, unsigned chunk) { return row * kChunks + (chunk ^ (row / kChunk % kChunks)); }

// Both matrices' rows begin at multiples of 16 bytes: a chunk lies inside of the matrix or outside, and so does a
// square. No element is used again: __ldcs and __stcs let its cache lines go first, which gains 1 to 5 % where the
// matrices are not much larger than the L2 cache.
__global__ void __launch_bounds__(kWideThreads)
    transpose5_wide_kernel(const float4* d_in, float4* d_out, unsigned width, unsigned height) {
  __shared__ float4 s_tile[kWideTile * kChunks];
  const Tile tile = tile_of_block<kWideTile>(height);
  const unsigned in_pitch = width / kChunk, out_pitch = height / kChunk;
  constexpr unsigned kRowsAtOnce = kWideThreads / kChunks;
  const unsigned chunk = threadIdx.x % kChunks, first_row = threadIdx.x / kChunks;
  const unsigned in_chunk = tile.x / kChunk + chunk;
  float4 loaded[kWideTile / kRowsAtOnce];  // all under way before the first is stored
#pragma unroll
  for (unsigned k = 0; k < kWideTile / kRowsAtOnce; ++k) {
    const unsigned y = tile.y + first_row + k * kRowsAtOnce;
    loaded[k] = in_chunk < in_pitch && y < height ? __ldcs(d_in + (y * in_pitch + in_chunk)) : float4{};
  }
#pragma unroll
  for (unsigned k = 0; k < kWideTile / kRowsAtOnce; ++k)
    s_tile[swizzle(first_row + k * kRowsAtOnce, chunk)] = loaded[k];
  __syncthreads();
  const unsigned square_x = threadIdx.x / kChunks, square_y = threadIdx.x % kChunks;
  const unsigned out_chunk = tile.y / kChunk + square_y;
  const unsigned out_y = tile.x + square_x * kChunk;
  if (square_x >= kChunks || out_chunk >= out_pitch || out_y >= width) return;
  float4 square[kChunk];
#pragma unroll
  for (unsigned k = 0; k < kChunk; ++k) square[k] = s_tile[swizzle(square_y * kChunk + k, square_x)];
  float4* out = d_out + (out_y * out_pitch + out_chunk);
  __stcs(out, make_float4(square[0].x, square[1].x, square[2].x, square[3].x));
  __stcs(out + out_pitch, make_float4(square[0].y, square[1].y, square[2].y, square[3].y));
  __stcs(out + 2 * out_pitch, make_float4(square[0].z, square[1].z, square[2].z, square[3].z));
  __stcs(out + 3 * out_pitch, make_float4(square[0].w, square[1].w, square[2].w, square[3].w));
}

// All other matrices are moved by single floats. Their rows of d_out may begin anywhere in a sector, the 32-byte unit
// of writes. A block that stored 64 floats of each row would write a part of a sector at both ends, and leave the rest
// to its neighbours. So each row's stretch of 64 floats begins where the sector does in which the tile begins, and the
// block loads the seven rows more that this may take. On an H200 that is 5 % faster than to share sectors.
constexpr unsigned kSector = 8;  // floats
constexpr unsigned kStretch = 64;
constexpr unsigned kColumns = 128;
constexpr unsigned kStretchThreads = 512;

// A load that misses makes the L2 cache fetch 256 bytes, all of which the tile's row needs. Gains 1.5 %.
__device__ float load_ahead(const float* address) {
  float value;
  asm volatile("ld.global.L2::256B.f32 %0, [%1];" : "=f"(value) : "l"(address));
  return value;
}

__global__ void __launch_bounds__(kStretchThreads)
    transpose5_sectors_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  constexpr unsigned kRows = kStretch + kSector;                   // the first kSector of them lie before the tile
  constexpr unsigned kRowsAtOnce = kStretchThreads / kColumns;     // of the tile
  constexpr unsigned kOutRowsAtOnce = kStretchThreads / kStretch;  // of the output
  __shared__ float s_tile[kRows][kColumns + 1];
  const Tile tile = tile_of_block<kColumns, kStretch>(height + kSector);
  const unsigned row = threadIdx.x / kColumns, column = threadIdx.x % kColumns, x = tile.x + column;
  float loaded[kRows / kRowsAtOnce];  // all under way before the first is stored
#pragma unroll
  for (unsigned k = 0; k < kRows / kRowsAtOnce; ++k) {
    const unsigned y = tile.y + row + k * kRowsAtOnce - kSector;  // below 0 wraps to above height
    loaded[k] = x < width && y < height ? load_ahead(d_in + (y * width + x)) : 0;
  }
#pragma unroll
  for (unsigned k = 0; k < kRows / kRowsAtOnce; ++k) s_tile[row + k * kRowsAtOnce][column] = loaded[k];
  __syncthreads();
#pragma unroll
  for (unsigned k = 0; k < kColumns; k += kOutRowsAtOnce) {
    const unsigned out_row = threadIdx.x / kStretch + k;
    const unsigned begin = (tile.x + out_row) * height;
    const unsigned back = begin % kSector;  // how far a sector reaches back before the tile
    const unsigned from = kSector - back + threadIdx.x % kStretch, y = tile.y + from - kSector;
    if (tile.x + out_row < width && y < height) d_out[begin + y] = s_tile[from][out_row];
  }
}

void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  const uintptr_t addresses = reinterpret_cast<uintptr_t>(d_in) | reinterpret_cast<uintptr_t>(d_out);
  if (addresses % sizeof(float4) == 0 && width % kSector == 0 && height % kSector == 0) {
    launch_tiles<kWideTile>(transpose5_wide_kernel, kWideThreads, reinterpret_cast<const float4*>(d_in),
                            reinterpret_cast<float4*>(d_out), width, height);
  } else {
    const unsigned tiles = Pieces(width, kColumns) * Pieces(height + kSector, kStretch);
    transpose5_sectors_kernel<<<tiles, kStretchThreads>>>(d_in, d_out, width, height);
  }
}
