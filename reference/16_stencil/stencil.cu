// Convolutions in four steps, and a stencil: each loads less, or multiplies less often, for the same pixels.
//
// Grids have one dimension, and a block's tile follows from its index by a division: an image of one column may have
// 2^20 rows, more tiles than a grid has blocks in y.

#include "stencil.h"

namespace {

constexpr int kWidth = 32, kRows = 8;  // of a block's threads
constexpr int kTile = 32;              // rows of a tile, which is as wide as a block
constexpr int kMaxSide = 2 * kMaxRadius + 1, kHaloTile = kTile + 2 * kMaxRadius;

__host__ __device__ constexpr int pieces(int n, int size) { return n / size + (n % size != 0); }

// Launches a block for each tile with this number of rows.
template <typename Kernel, typename... Arrays>
void launch_tiles(Kernel kernel, int rows, int width, int height, int reach, Arrays... arrays) {
  const int blocks = pieces(width, kWidth) * pieces(height, rows);
  if (blocks == 0) return;  // such a grid would be an error
  kernel<<<blocks, dim3(kWidth, kRows)>>>(arrays..., width, height, reach);
}

// Where a block's tile begins.
__device__ int2 tile_of_block(int width, int rows) {
  const int across = pieces(width, kWidth), block = blockIdx.x;
  return {block % across * kWidth, block / across * rows};
}

__device__ int clamped(int i, int n) { return min(max(i, 0), n - 1); }

// Adds up a thread's pixel from global memory; weight(k) is the filter's k-th.
template <typename Weight>
__device__ void filter_pixel(const float* d_in, float* d_out, int width, int height, int radius, Weight weight) {
  const int2 tile = tile_of_block(width, kRows);
  const int x = tile.x + threadIdx.x, y = tile.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  int k = 0;
  for (int j = -radius; j <= radius; ++j) {
    const float* const d_row = d_in + clamped(y + j, height) * width;
    for (int i = -radius; i <= radius; ++i) sum += weight(k++) * d_row[clamped(x + i, width)];
  }
  d_out[y * width + x] = sum;
}

// Fills a tile and the halo around it; past the image with the nearest pixel of its edge.
__device__ void load_tile(float (&s_in)[kHaloTile][kHaloTile], const float* d_in, int2 tile, int width, int height,
                          int halo) {
  for (int row = threadIdx.y; row < kTile + 2 * halo; row += kRows) {
    const int y = clamped(tile.y + row - halo, height);
    for (int column = threadIdx.x; column < kWidth + 2 * halo; column += kWidth) {
      s_in[row][column] = d_in[y * width + clamped(tile.x + column - halo, width)];
    }
  }
  __syncthreads();
}

// All lanes want the same weight, which constant memory delivers to all at once.
__constant__ float c_filter[kMaxSide * kMaxSide], c_row[kMaxSide], c_column[kMaxSide];

void set_filter(const float* d_filter, int radius) {
  const int side = 2 * radius + 1;
  cudaMemcpyToSymbolAsync(c_filter, d_filter, side * side * sizeof(float), 0, cudaMemcpyDeviceToDevice);
}

}  // namespace

// Rung 1.
__global__ void convolve1_naive_kernel(const float* d_in, const float* d_filter, float* d_out, int width, int height,
                                       int radius) {
  filter_pixel(d_in, d_out, width, height, radius, [=](int k) { return d_filter[k]; });
}

void convolve1_naive(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius) {
  launch_tiles(convolve1_naive_kernel, kRows, width, height, radius, d_in, d_filter, d_out);
}

// Rung 2.
__global__ void convolve2_constant_kernel(const float* d_in, float* d_out, int width, int height, int radius) {
  filter_pixel(d_in, d_out, width, height, radius, [](int k) { return c_filter[k]; });
}

void convolve2_constant(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius) {
  set_filter(d_filter, radius);
  launch_tiles(convolve2_constant_kernel, kRows, width, height, radius, d_in, d_out);
}

// Rung 3. A block has a tile of 32 rows, four for each of its own.
__global__ void convolve3_tiled_kernel(const float* d_in, float* d_out, int width, int height, int radius) {
  __shared__ float s_in[kHaloTile][kHaloTile];
  const int2 tile = tile_of_block(width, kTile);
  load_tile(s_in, d_in, tile, width, height, radius);
  const int x = tile.x + threadIdx.x, side = 2 * radius + 1;
  for (int row = threadIdx.y; row < kTile && tile.y + row < height; row += kRows) {
    float sum = 0;
    for (int j = 0; j < side; ++j) {
      for (int i = 0; i < side; ++i) sum += c_filter[j * side + i] * s_in[row + j][threadIdx.x + i];
    }
    if (x < width) d_out[(tile.y + row) * width + x] = sum;
  }
}

void convolve3_tiled(const float* d_in, const float* d_filter, float* d_out, int width, int height, int radius) {
  set_filter(d_filter, radius);
  launch_tiles(convolve3_tiled_kernel, kTile, width, height, radius, d_in, d_out);
}

// Rung 4. The sums along the rows stay in shared memory, those of the halo's rows included.
__global__ void convolve4_separable_kernel(const float* d_in, float* d_out, int width, int height, int radius) {
  __shared__ float s_in[kHaloTile][kHaloTile], s_sums[kHaloTile][kWidth];
  const int2 tile = tile_of_block(width, kTile);
  load_tile(s_in, d_in, tile, width, height, radius);
  const int x = tile.x + threadIdx.x, side = 2 * radius + 1;
  for (int row = threadIdx.y; row < kTile + 2 * radius; row += kRows) {
    float sum = 0;
    for (int i = 0; i < side; ++i) sum += c_row[i] * s_in[row][threadIdx.x + i];
    s_sums[row][threadIdx.x] = sum;
  }
  __syncthreads();
  for (int row = threadIdx.y; row < kTile && tile.y + row < height; row += kRows) {
    float sum = 0;
    for (int j = 0; j < side; ++j) sum += c_column[j] * s_sums[row + j][threadIdx.x];
    if (x < width) d_out[(tile.y + row) * width + x] = sum;
  }
}

void convolve4_separable(const float* d_in, const float* d_row, const float* d_column, float* d_out, int width,
                         int height, int radius) {
  const size_t bytes = (2 * radius + 1) * sizeof(float);
  cudaMemcpyToSymbolAsync(c_row, d_row, bytes, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyToSymbolAsync(c_column, d_column, bytes, 0, cudaMemcpyDeviceToDevice);
  launch_tiles(convolve4_separable_kernel, kTile, width, height, radius, d_in, d_out);
}

// Rung 5. All steps in one launch: with each step the part of the tile that is right shrinks by a pixel on each side.
__global__ void stencil5_steps_kernel(const float* d_in, float* d_out, int width, int height, int steps) {
  __shared__ float s_tile[2][kHaloTile][kHaloTile];
  const int2 tile = tile_of_block(width, kTile);
  load_tile(s_tile[0], d_in, tile, width, height, steps);
  // Places in the tile of the image's first and last rows and columns.
  const int left = steps - tile.x, top = steps - tile.y, right = left + width - 1, bottom = top + height - 1;
  for (int step = 1; step <= steps; ++step) {
    const auto& from = s_tile[(step - 1) % 2];
    auto& to = s_tile[step % 2];
    const int last = kTile + 2 * steps - 1 - step;
    for (int row = max(top, step) + threadIdx.y; row <= min(bottom, last); row += kRows) {
      for (int column = max(left, step) + threadIdx.x; column <= min(right, last); column += kWidth) {
        to[row][column] = 0.25f * (from[max(row - 1, top)][column] + from[min(row + 1, bottom)][column] +
                                   from[row][max(column - 1, left)] + from[row][min(column + 1, right)]);
      }
    }
    __syncthreads();
  }
  const int x = tile.x + threadIdx.x;
  for (int row = threadIdx.y; row < kTile && tile.y + row < height; row += kRows) {
    if (x < width) d_out[(tile.y + row) * width + x] = s_tile[steps % 2][row + steps][threadIdx.x + steps];
  }
}

void stencil5_steps(const float* d_in, float* d_out, int width, int height, int steps) {
  launch_tiles(stencil5_steps_kernel, kTile, width, height, steps, d_in, d_out);
}
