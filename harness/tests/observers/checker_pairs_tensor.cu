// Products of matrices from tiles in shared memory, with the mistakes that such kernels have.
#include <cuda_fp16.h>
#include <mma.h>

#include "checker_pairs.h"

// Macros, so that findings name the kernel's line.
#define LOAD_TILE_ROWS(fragment, row)                                                       \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"           \
               : "=r"(fragment[0]), "=r"(fragment[1]), "=r"(fragment[2]), "=r"(fragment[3]) \
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(row)))                  \
               : "memory")

#define MULTIPLY_FRAGMENTS(sum, left, low, high)                                               \
  asm volatile(                                                                                \
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, " \
      "{%8, %9}, {%0, %1, %2, %3};"                                                            \
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])                                 \
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(low), "r"(high))

// Each of two warps fills half of the tile, and both read all of it.
// expect: clean
// launch: 1 x 64
extern "C" __global__ void mma_from_ldmatrix_tile(Buffers b) {
  __shared__ __align__(16) half tile[16 * 16];
  const int t = threadIdx.x, lane = t % 32;
  for (int k = 0; k < 4; ++k) tile[4 * t + k] = __int2half_rn(b.in[(4 * t + k) % 16]);
  __syncthreads();
  unsigned left[4];
  float sum[4] = {};
  LOAD_TILE_ROWS(left, &tile[lane % 16 * 16 + lane / 16 * 8]);
  MULTIPLY_FRAGMENTS(sum, left, left[0], left[2]);
  for (int k = 0; k < 4; ++k) b.out[4 * t + k] = static_cast<int>(sum[k]);
}

// expect: race, shared
// launch: 1 x 64
extern "C" __global__ void mma_tile_without_barrier(Buffers b) {
  __shared__ __align__(16) half tile[16 * 16];
  const int t = threadIdx.x, lane = t % 32;
  for (int k = 0; k < 4; ++k) tile[4 * t + k] = __int2half_rn(0);
  __syncthreads();
  for (int k = 0; k < 4; ++k) tile[4 * t + k] = __int2half_rn(b.in[(4 * t + k) % 16]);  // first
  unsigned left[4];
  float sum[4] = {};
  LOAD_TILE_ROWS(left, &tile[lane % 16 * 16 + lane / 16 * 8]);  // second
  MULTIPLY_FRAGMENTS(sum, left, left[0], left[2]);
  for (int k = 0; k < 4; ++k) b.out[4 * t + k] = static_cast<int>(sum[k]);
}

// expect: misaligned address, shared
// launch: 1 x 32
extern "C" __global__ void mma_tile_row_not_aligned(Buffers b) {
  __shared__ __align__(16) half tile[16 * 18];
  const int t = threadIdx.x;
  for (int k = t; k < 16 * 18; k += 32) tile[k] = __int2half_rn(b.in[k % 16]);
  __syncwarp();
  unsigned left[4];
  float sum[4] = {};
  LOAD_TILE_ROWS(left, &tile[t % 16 * 18 + t / 16 * 8]);  // here
  MULTIPLY_FRAGMENTS(sum, left, left[0], left[2]);
  for (int k = 0; k < 4; ++k) b.out[4 * t + k] = static_cast<int>(sum[k]);
}

// expect: uninitialised read, shared
// launch: 1 x 32
extern "C" __global__ void mma_tile_filled_in_half(Buffers b) {
  __shared__ __align__(16) half tile[16 * 16];
  const int t = threadIdx.x;
  for (int k = t; k < 8 * 16; k += 32) tile[k] = __int2half_rn(b.in[k % 16]);
  __syncwarp();
  unsigned left[4];
  float sum[4] = {};
  LOAD_TILE_ROWS(left, &tile[t % 16 * 16 + t / 16 * 8]);  // here
  MULTIPLY_FRAGMENTS(sum, left, left[0], left[2]);
  for (int k = 0; k < 4; ++k) b.out[4 * t + k] = static_cast<int>(sum[k]);
}

// expect: wrong warp mask
// launch: 1 x 48
// says: 16 of the warp's 32 lanes execute
extern "C" __global__ void mma_in_half_a_warp(Buffers b) {
  const int t = threadIdx.x;
  const unsigned left[4] = {1, 2, 3, static_cast<unsigned>(b.in[t])};
  float sum[4] = {};
  MULTIPLY_FRAGMENTS(sum, left, 1, 2);  // here
  for (int k = 0; k < 4; ++k) b.out[4 * t + k] = static_cast<int>(sum[k]);
}

// One product of 16 x 16 x 16 by a warp: each element of the result is a row's sum.
// expect: clean
// launch: 1 x 64
extern "C" __global__ void wmma_product_of_tile(Buffers b) {
  using namespace nvcuda;
  __shared__ __align__(32) half left[256];
  __shared__ __align__(32) float product[256];
  const int t = threadIdx.x;
  for (int k = t; k < 256; k += 64) left[k] = __int2half_rn(k % 7);
  __syncthreads();
  if (t < 32) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> ones;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 1.0f);
    wmma::fill_fragment(ones, __int2half_rn(1));
    wmma::load_matrix_sync(a, left, 16);
    wmma::mma_sync(sums, a, ones, sums);
    wmma::store_matrix_sync(product, sums, 16, wmma::mem_row_major);
  }
  __syncthreads();
  for (int k = t; k < 256; k += 64) b.out[k] = static_cast<int>(product[k]);
}

// expect: race, shared
// launch: 1 x 64
extern "C" __global__ void wmma_product_without_barrier(Buffers b) {
  using namespace nvcuda;
  __shared__ __align__(32) half left[256];
  __shared__ __align__(32) float product[256];
  const int t = threadIdx.x;
  for (int k = t; k < 256; k += 64) left[k] = __int2half_rn(k % 7);  // first
  if (t < 32) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> ones;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
    wmma::fill_fragment(sums, 1.0f);
    wmma::fill_fragment(ones, __int2half_rn(1));
    wmma::load_matrix_sync(a, left, 16);  // second
    wmma::mma_sync(sums, a, ones, sums);
    wmma::store_matrix_sync(product, sums, 16, wmma::mem_row_major);
  }
  __syncthreads();
  for (int k = t; k < 256; k += 64) b.out[k] = static_cast<int>(product[k]);
}
