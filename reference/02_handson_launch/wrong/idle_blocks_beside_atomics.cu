// verdict: SLOW launch4_verify
// Adds each wrong element by itself, with 15 blocks more for each one that has elements: atomics a block are a
// sixteenth.
#include <algorithm>

#include "launch.h"

// Serves the rungs that are not the point here: right, and within every budget.
__global__ void good_kernel(int* d_a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

cudaError_t good(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  good_kernel<<<BlocksFor(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t good_copy_back(int* h_out, unsigned n, unsigned block) {
  int* a_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, n * sizeof(int));
  if (error == cudaSuccess) error = good(a_d, n, block);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, a_d, n * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(a_d);
  return error;
}

__global__ void good_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const int wrong = __syncthreads_count(i < n && d_a[i] != FilledValue(blockIdx.x, threadIdx.x));
  if (threadIdx.x == 0 && wrong > 0) atomicAdd(d_wrong, wrong);
}

cudaError_t good_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  cudaMemset(d_wrong, 0, sizeof *d_wrong);
  if (n > 0) good_verify_kernel<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

__global__ void launch4_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && d_a[i] != FilledValue(blockIdx.x, threadIdx.x)) atomicAdd(d_wrong, 1);
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  cudaMemset(d_wrong, 0, sizeof *d_wrong);
  if (n > 0) launch4_verify_kernel<<<16 * BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return good(d_a, n, block); }
cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) { return good(d_a, n, block); }
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) { return good_copy_back(h_out, n, block); }

// Rung 5. The grid strides over the array. A stride is a whole number of blocks, so that a thread keeps its index and
// the number of the block that would have stored the element grows by the same step each time.
__global__ void launch5_grid_stride_kernel(int* d_a, unsigned n) {
  unsigned virtual_block = blockIdx.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    d_a[i] = FilledValue(virtual_block, threadIdx.x);
    virtual_block += gridDim.x;
  }
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  launch5_grid_stride_kernel<<<std::min(BlocksFor(n, block), kMaxBlocks), block>>>(d_a, n);
  return cudaGetLastError();
}

// Rung 6. x along a row, y down the rows; a guard for each.
__global__ void launch6_grid_2d_kernel(int* d_a, unsigned width, unsigned height) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  d_a[row * width + column] = FilledValue(blockIdx.y * gridDim.x + blockIdx.x, threadIdx.y * blockDim.x + threadIdx.x);
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return cudaSuccess;
  const dim3 block(kTile, kTile);
  const dim3 grid(BlocksFor(width, kTile), BlocksFor(height, kTile));
  launch6_grid_2d_kernel<<<grid, block>>>(d_a, width, height);
  return cudaGetLastError();
}
