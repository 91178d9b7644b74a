// The matrix product in five steps: each reads less, or with fewer instructions, for the same products.
//
// Grids have one dimension, and a block's tile follows from its index by a division: a product of one column may have
// 2^19 rows, more tiles than a grid has blocks in y.

#include <mma.h>

#include <cstdint>

#include "matmul.h"

namespace {

// How many pieces of `size` it takes to cover n.
__host__ __device__ constexpr unsigned Pieces(unsigned n, unsigned size) { return n / size + (n % size != 0); }

// Where a block's tile of d_c begins.
struct Tile {
  unsigned row, column;
};

template <unsigned kRows, unsigned kColumns>
__device__ Tile tile_of_block(unsigned columns) {
  const unsigned across = Pieces(columns, kColumns);
  return {blockIdx.x / across * kRows, blockIdx.x % across * kColumns};
}

// Launches a block for each tile of kRows × kColumns elements of d_c.
template <unsigned kRows, unsigned kColumns, typename Element>
void launch_tiles(void (*kernel)(const Element*, const Element*, float*, unsigned, unsigned, unsigned), dim3 threads,
                  const Element* d_a, const Element* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  // A grid of no blocks would be an error.
  if (rows == 0 || columns == 0) return;
  kernel<<<Pieces(rows, kRows) * Pieces(columns, kColumns), threads>>>(d_a, d_b, d_c, rows, columns, depth);
}

bool aligned_to_16(const void* a, const void* b, const void* c) {
  return ((reinterpret_cast<uintptr_t>(a) | reinterpret_cast<uintptr_t>(b) | reinterpret_cast<uintptr_t>(c)) & 15) == 0;
}

}  // namespace

// Rung 1. A warp has 32 neighbours of one row of d_c: it reads a row of d_b, and one element of d_a for all.
constexpr unsigned kNaiveRows = 8;

__global__ void matmul1_naive_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                                     unsigned depth) {
  const Tile tile = tile_of_block<kNaiveRows, kTile>(columns);
  const unsigned row = tile.row + threadIdx.y, column = tile.column + threadIdx.x;
  if (row >= rows || column >= columns) return;
  float sum = 0;
  for (unsigned k = 0; k < depth; ++k) sum += d_a[row * depth + k] * d_b[k * columns + column];
  d_c[row * columns + column] = sum;
}

void matmul1_naive(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  launch_tiles<kNaiveRows, kTile>(matmul1_naive_kernel, dim3(kTile, kNaiveRows), d_a, d_b, d_c, rows, columns, depth);
}

// Rung 2. What lies past an edge is 0 in the tiles, so that no product needs a test.
__global__ void matmul2_tiled_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                                     unsigned depth) {
  __shared__ float s_a[kTile][kTile], s_b[kTile][kTile];
  const Tile tile = tile_of_block<kTile, kTile>(columns);
  const unsigned row = tile.row + threadIdx.y, column = tile.column + threadIdx.x;
  float sum = 0;
  for (unsigned begin = 0; begin < depth; begin += kTile) {
    const unsigned a_column = begin + threadIdx.x, b_row = begin + threadIdx.y;
    s_a[threadIdx.y][threadIdx.x] = row < rows && a_column < depth ? d_a[row * depth + a_column] : 0;
    s_b[threadIdx.y][threadIdx.x] = b_row < depth && column < columns ? d_b[b_row * columns + column] : 0;
    __syncthreads();
    for (unsigned k = 0; k < kTile; ++k) sum += s_a[threadIdx.y][k] * s_b[k][threadIdx.x];
    __syncthreads();
  }
  if (row < rows && column < columns) d_c[row * columns + column] = sum;
}

void matmul2_tiled(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  launch_tiles<kTile, kTile>(matmul2_tiled_kernel, dim3(kTile, kTile), d_a, d_b, d_c, rows, columns, depth);
}

// Rung 3. A thread's elements lie kSide rows and columns apart, so that neighbouring threads read neighbouring words.
__global__ void matmul3_registers_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows,
                                         unsigned columns, unsigned depth) {
  __shared__ float s_a[kBlockTile][kStep], s_b[kStep][kBlockTile];
  const Tile tile = tile_of_block<kBlockTile, kBlockTile>(columns);
  const unsigned thread = threadIdx.y * kSide + threadIdx.x;
  float sum[kEach][kEach] = {};
  for (unsigned begin = 0; begin < depth; begin += kStep) {
#pragma unroll
    for (unsigned i = thread; i < kBlockTile * kStep; i += kSide * kSide) {
      const unsigned a_row = tile.row + i / kStep, a_column = begin + i % kStep;
      const unsigned b_row = begin + i / kBlockTile, b_column = tile.column + i % kBlockTile;
      s_a[i / kStep][i % kStep] = a_row < rows && a_column < depth ? d_a[a_row * depth + a_column] : 0;
      s_b[i / kBlockTile][i % kBlockTile] = b_row < depth && b_column < columns ? d_b[b_row * columns + b_column] : 0;
    }
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kStep; ++k) {
      float a[kEach], b[kEach];
      for (unsigned i = 0; i < kEach; ++i) a[i] = s_a[threadIdx.y + i * kSide][k];
      for (unsigned j = 0; j < kEach; ++j) b[j] = s_b[k][threadIdx.x + j * kSide];
      for (unsigned i = 0; i < kEach; ++i) {
        for (unsigned j = 0; j < kEach; ++j) sum[i][j] += a[i] * b[j];
      }
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < kEach; ++i) {
    for (unsigned j = 0; j < kEach; ++j) {
      const unsigned row = tile.row + threadIdx.y + i * kSide, column = tile.column + threadIdx.x + j * kSide;
      if (row < rows && column < columns) d_c[row * columns + column] = sum[i][j];
    }
  }
}

void matmul3_registers(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                       unsigned depth) {
  launch_tiles<kBlockTile, kBlockTile>(matmul3_registers_kernel, dim3(kSide, kSide), d_a, d_b, d_c, rows, columns,
                                       depth);
}

// Rung 4. Rows begin at multiples of 16 bytes, so four neighbours are all inside a matrix or all outside. A thread has
// four neighbouring columns, and multiplies four elements of a row of d_a at a time.
constexpr unsigned kVector = 4;

__global__ void matmul4_vectors_kernel(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns,
                                       unsigned depth) {
  __shared__ float4 s_a[kBlockTile][kStep / kVector], s_b[kStep][kBlockTile / kVector];
  const Tile tile = tile_of_block<kBlockTile, kBlockTile>(columns);
  const unsigned thread = threadIdx.y * kSide + threadIdx.x;
  const unsigned a_y = thread / (kStep / kVector), a_x = thread % (kStep / kVector);
  const unsigned a_row = tile.row + a_y, column = tile.column + threadIdx.x * kVector;
  const float4 zeros = make_float4(0, 0, 0, 0);
  float sum[kEach][kVector] = {};
  for (unsigned begin = 0; begin < depth; begin += kStep) {
    const unsigned a_column = begin + a_x * kVector, b_row = begin + threadIdx.y;
    s_a[a_y][a_x] =
        a_row < rows && a_column < depth ? *reinterpret_cast<const float4*>(d_a + (a_row * depth + a_column)) : zeros;
    s_b[threadIdx.y][threadIdx.x] =
        b_row < depth && column < columns ? *reinterpret_cast<const float4*>(d_b + (b_row * columns + column)) : zeros;
    __syncthreads();
#pragma unroll
    for (unsigned k = 0; k < kStep; k += kVector) {
      float4 b[kVector];
      for (unsigned i = 0; i < kVector; ++i) b[i] = s_b[k + i][threadIdx.x];
      for (unsigned i = 0; i < kEach; ++i) {
        const float4 a = s_a[threadIdx.y + i * kSide][k / kVector];
        sum[i][0] += a.x * b[0].x + a.y * b[1].x + a.z * b[2].x + a.w * b[3].x;
        sum[i][1] += a.x * b[0].y + a.y * b[1].y + a.z * b[2].y + a.w * b[3].y;
        sum[i][2] += a.x * b[0].z + a.y * b[1].z + a.z * b[2].z + a.w * b[3].z;
        sum[i][3] += a.x * b[0].w + a.y * b[1].w + a.z * b[2].w + a.w * b[3].w;
      }
    }
    __syncthreads();
  }
  if (column >= columns) return;
  for (unsigned i = 0; i < kEach; ++i) {
    const unsigned row = tile.row + threadIdx.y + i * kSide;
    if (row >= rows) break;
    *reinterpret_cast<float4*>(d_c + (row * columns + column)) =
        make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
  }
}

void matmul4_vectors(const float* d_a, const float* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  const bool whole = aligned_to_16(d_a, d_b, d_c) && depth % kVector == 0 && columns % kVector == 0;
  launch_tiles<kBlockTile, kBlockTile>(whole ? matmul4_vectors_kernel : matmul3_registers_kernel, dim3(kSide, kSide),
                                       d_a, d_b, d_c, rows, columns, depth);
}

// Rung 5. Four warps, each with 32 × 32 elements of d_c: 2 × 2 fragments. Tiles go through shared memory, where their
// edges are filled with zeros and every row begins where a fragment may; eight halves per request where the matrices'
// rows allow it. d_c goes by shared memory too: a fragment knows no edges, and d_c no alignment.
constexpr unsigned kFragment = 16;
constexpr unsigned kTensorStep = 32;
constexpr unsigned kTensorThreads = 128;
constexpr unsigned kHalves = 8;                      // of 16 bytes
constexpr unsigned kAPitch = kTensorStep + kHalves;  // rows in other banks
constexpr unsigned kBPitch = kBlockTile + kHalves;

// Fills a tile of kRows × kColumns halves from a matrix of height × width, beginning at (row, column).
template <unsigned kRows, unsigned kColumns, unsigned kPitch, bool kWhole>
__device__ void load_tile(__half (&tile)[kRows][kPitch], const __half* matrix, unsigned row, unsigned column,
                          unsigned height, unsigned width) {
  constexpr unsigned kAtOnce = kWhole ? kHalves : 1;
  for (unsigned i = threadIdx.x * kAtOnce; i < kRows * kColumns; i += kTensorThreads * kAtOnce) {
    const unsigned y = i / kColumns, x = i % kColumns;
    const bool inside = row + y < height && column + x < width;
    const __half* from = matrix + ((row + y) * width + column + x);
    if constexpr (kWhole) {
      *reinterpret_cast<uint4*>(&tile[y][x]) = inside ? *reinterpret_cast<const uint4*>(from) : uint4{};
    } else {
      tile[y][x] = inside ? *from : __half(0.0f);
    }
  }
}

template <bool kWhole>
__global__ void matmul5_tensor_kernel(const __half* d_a, const __half* d_b, float* d_c, unsigned rows, unsigned columns,
                                      unsigned depth) {
  using namespace nvcuda;
  __shared__ __align__(32) __half s_a[kBlockTile][kAPitch];
  __shared__ __align__(32) __half s_b[kTensorStep][kBPitch];
  __shared__ __align__(32) float s_c[kBlockTile][kBlockTile];
  const Tile tile = tile_of_block<kBlockTile, kBlockTile>(columns);
  const unsigned warp = threadIdx.x / 32, y = warp / 2 * 2 * kFragment, x = warp % 2 * 2 * kFragment;
  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> sum[2][2];
  for (auto& row : sum) {
    for (auto& one : row) wmma::fill_fragment(one, 0.0f);
  }
  for (unsigned begin = 0; begin < depth; begin += kTensorStep) {
    load_tile<kBlockTile, kTensorStep, kAPitch, kWhole>(s_a, d_a, tile.row, begin, rows, depth);
    load_tile<kTensorStep, kBlockTile, kBPitch, kWhole>(s_b, d_b, begin, tile.column, depth, columns);
    __syncthreads();
    for (unsigned k = 0; k < kTensorStep; k += kFragment) {
      wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, __half, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, __half, wmma::row_major> b[2];
      for (unsigned i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], &s_a[y + i * kFragment][k], kAPitch);
        wmma::load_matrix_sync(b[i], &s_b[k][x + i * kFragment], kBPitch);
      }
      for (unsigned i = 0; i < 2; ++i) {
        for (unsigned j = 0; j < 2; ++j) wmma::mma_sync(sum[i][j], a[i], b[j], sum[i][j]);
      }
    }
    __syncthreads();
  }
  for (unsigned i = 0; i < 2; ++i) {
    for (unsigned j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(&s_c[y + i * kFragment][x + j * kFragment], sum[i][j], kBlockTile, wmma::mem_row_major);
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kBlockTile * kBlockTile; i += kTensorThreads) {
    const unsigned row = tile.row + i / kBlockTile, column = tile.column + i % kBlockTile;
    if (row < rows && column < columns) d_c[row * columns + column] = s_c[i / kBlockTile][i % kBlockTile];
  }
}

void matmul5_tensor(const __half* d_a, const __half* d_b, float* d_c, unsigned rows, unsigned columns, unsigned depth) {
  const bool whole = aligned_to_16(d_a, d_b, d_a) && depth % kHalves == 0 && columns % kHalves == 0;
  launch_tiles<kBlockTile, kBlockTile>(whole ? matmul5_tensor_kernel<true> : matmul5_tensor_kernel<false>,
                                       kTensorThreads, d_a, d_b, d_c, rows, columns, depth);
}
