// Grace Hopper. No time left for the bonus.

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

// Rung 3. The first error is kept and what comes after it left out; the buffer is freed on every way.
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  const size_t bytes = size_t{n} * sizeof(int);
  int* a_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, bytes);
  if (error == cudaSuccess) error = launch2_any_length(a_d, n, block);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, a_d, bytes, cudaMemcpyDeviceToHost);
  const cudaError_t freed = cudaFree(a_d);
  return error != cudaSuccess ? error : freed;
}

// Rung 4. The block counts its wrong elements by a barrier that adds up, and one thread adds them to the total.
__global__ void launch4_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  // No thread leaves before the barrier, also not those past the end.
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

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) { return cudaErrorNotReady; }

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) { return cudaErrorNotReady; }
