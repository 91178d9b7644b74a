// points: 0 + 10
// Tensor cores alone: a warp has one fragment of 32 × 8 sums, eight warps a block of 64 × 32, with tiles in steps of 16.
#include <mma.h>

#include "matmul.h"

namespace {

using namespace nvcuda::wmma;

__global__ void fragments(const __half* d_a, const __half* d_b, float* d_c, unsigned rows, unsigned columns,
                          unsigned depth) {
  __shared__ __align__(32) __half s_a[64][24], s_b[16][40];
  __shared__ __align__(32) float s_c[64][32];
  const unsigned across = (columns + 31) / 32, row = blockIdx.x / across * 64, column = blockIdx.x % across * 32;
  const unsigned y = threadIdx.x / 128 * 32, x = threadIdx.x / 32 % 4 * 8;
  fragment<accumulator, 32, 8, 16, float> sum;
  fill_fragment(sum, 0);
  for (unsigned begin = 0; begin < depth; begin += 16) {
    for (unsigned i = threadIdx.x; i < 64 * 16; i += 256) {
      const unsigned r = row + i / 16, c = begin + i % 16;
      s_a[i / 16][i % 16] = r < rows && c < depth ? d_a[r * depth + c] : __float2half(0);
    }
    for (unsigned i = threadIdx.x; i < 16 * 32; i += 256) {
      const unsigned r = begin + i / 32, c = column + i % 32;
      s_b[i / 32][i % 32] = r < depth && c < columns ? d_b[r * columns + c] : __float2half(0);
    }
    __syncthreads();
    fragment<matrix_a, 32, 8, 16, __half, row_major> a;
    fragment<matrix_b, 32, 8, 16, __half, row_major> b;
    load_matrix_sync(a, &s_a[y][0], 24);
    load_matrix_sync(b, &s_b[0][x], 40);
    mma_sync(sum, a, b, sum);
    __syncthreads();
  }
  store_matrix_sync(&s_c[y][x], sum, 32, mem_row_major);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 64 * 32; i += 256) {
    const unsigned r = row + i / 32, c = column + i % 32;
    if (r < rows && c < columns) d_c[r * columns + c] = s_c[i / 32][i % 32];
  }
}

}  // namespace

void matmul1_naive(const float*, const float*, float*, unsigned, unsigned, unsigned) {}
void matmul2_tiled(const float*, const float*, float*, unsigned, unsigned, unsigned) {}
void matmul3_registers(const float*, const float*, float*, unsigned, unsigned, unsigned) {}
void matmul4_vectors(const float*, const float*, float*, unsigned, unsigned, unsigned) {}
void matmul5_tensor(const __half* d_a, const __half* d_b, float* d_c, unsigned rows, unsigned columns,
                    unsigned depth) {
  const unsigned blocks = (rows + 63) / 64 * ((columns + 31) / 32);
  if (blocks) fragments<<<blocks, 256>>>(d_a, d_b, d_c, rows, columns, depth);
}
