// Launching: every thread finds the element that is its own, and stores where it comes from.
#include <algorithm>

#include "launch.h"

// Rung 1. As many threads as elements: no guard is needed.
__global__ void launch1_fill_kernel(int* d_a) {
  d_a[blockIdx.x * blockDim.x + threadIdx.x] = FilledValue(blockIdx.x, threadIdx.x);
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  launch1_fill_kernel<<<n / block, block>>>(d_a);
  return cudaGetLastError();
}

// Rung 2. The grid is rounded up, and threads past the end do nothing.
__global__ void launch2_any_length_kernel(int* d_a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  launch2_any_length_kernel<<<BlocksFor(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

// Rung 3. After the first error the other calls are skipped; the buffer is freed on every return path.
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  const size_t bytes = size_t{n} * sizeof(int);
  int* a_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, bytes);
  if (error == cudaSuccess) error = launch2_any_length(a_d, n, block);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, a_d, bytes, cudaMemcpyDeviceToHost);
  const cudaError_t freed = cudaFree(a_d);
  return error != cudaSuccess ? error : freed;
}

// Rung 4. A barrier counts the block's wrong elements, and one thread adds them to the total.
__global__ void launch4_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  // No thread returns before the barrier, not even those past the end.
  const bool is_wrong = i < n && d_a[i] != FilledValue(blockIdx.x, threadIdx.x);
  const int wrong_in_block = __syncthreads_count(is_wrong);
  if (threadIdx.x == 0 && wrong_in_block > 0) atomicAdd(d_wrong, wrong_in_block);
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  const cudaError_t cleared = cudaMemsetAsync(d_wrong, 0, sizeof *d_wrong);
  if (cleared != cudaSuccess || n == 0) return cleared;
  launch4_verify_kernel<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

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
