// virtual: PASS libraries4_transpose, at most 17 points
// The library's loop runs a functor that transposes tiles in shared memory, with the block's barriers.
#include <cub/device/device_for.cuh>

#include "libraries.h"

// 256 threads move a tile of 32 x 32, eight rows at a time.
struct Transpose {
  const float* d_in;
  float* d_out;
  unsigned rows, columns, across;
  __device__ void operator()(unsigned thread) const {
    __shared__ float s_tile[32][33];
    const unsigned tile = thread / 256, x = threadIdx.x % 32, y = threadIdx.x / 32 % 8;
    const unsigned row = tile / across * 32, column = tile % across * 32;
    for (unsigned k = y; k < 32; k += 8) {
      if (row + k < rows && column + x < columns) s_tile[k][x] = d_in[(row + k) * columns + column + x];
    }
    __syncthreads();
    for (unsigned k = y; k < 32; k += 8) {
      if (row + x < rows && column + k < columns) d_out[(column + k) * rows + row + x] = s_tile[x][k];
    }
    __syncthreads();
  }
};

void libraries4_transpose(const float* d_in, float* d_out, unsigned rows, unsigned columns) {
  const unsigned across = (columns + 31) / 32, down = (rows + 31) / 32;
  cub::DeviceFor::Bulk(across * down * 256, Transpose{d_in, d_out, rows, columns, across});
}

int libraries1_sum(const int*, unsigned) { return 0; }
float libraries2_norm(const float*, unsigned) { return 0; }
void libraries3_scan(const int*, int*, unsigned) {}
void libraries5_filter(const float*, const float*, float*, unsigned) {}
void libraries6_filter_many(const float*, const float*, float*, unsigned, unsigned) {}
