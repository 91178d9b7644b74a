// Margaret Hamilton. Two rungs so far.

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

// Rung 3: the whole task.
// Goal    h_out, in host memory, holds what rung 2's kernel stored.
// How     cudaMalloc, the kernel, cudaMemcpy to the host (it waits for the kernel), cudaFree.
// Mind    every way out frees what was allocated. After an error h_out is as it was.
// Budget  one allocation, one copy of n ints.
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  // TODO(launch3): rung 2 with a buffer of your own.
  return cudaErrorNotReady;
}

// Rung 4: verifying on the device.
// Goal    *d_wrong is the number of elements that are not what rung 2 stores there.
// How     Set *d_wrong to 0 first (cudaMemset). Many threads may find a wrong element at once: atomicAdd.
// Budget  no more than one atomic instruction a block: __syncthreads_count(predicate) counts the threads of a block for
//         which the predicate holds, and tells each of them.
__global__ void launch4_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  // TODO(launch4): compare, count.
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  // TODO(launch4): clear *d_wrong, launch.
  return cudaErrorNotReady;
}

// Rung 5, bonus: a grid that does not grow.
// Goal    what rung 2 stores, with at most kMaxBlocks blocks.
// How     A thread begins at its own element and moves on by the number of threads in the grid until it is past n.
// Mind    the value is that of the element's own block and thread in rung 2, not that of the thread which stores it.
__global__ void launch5_grid_stride_kernel(int* d_a, unsigned n) {
  // TODO(launch5): a loop.
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  // TODO(launch5): as rung 2, with fewer blocks.
  return cudaErrorNotReady;
}

// Rung 6, bonus: two dimensions.
// Goal    a 2-D grid of blocks of kTile by kTile threads over an array of `height` rows of `width` ints.
// How     dim3 grid(...), threads(kTile, kTile). x runs along a row: neighbouring threads store neighbouring ints.
// Budget  stores of 64 bytes that lie together: no more than 2 sectors where width is a multiple of 16.
__global__ void launch6_grid_2d_kernel(int* d_a, unsigned width, unsigned height) {
  // TODO(launch6): two indices, two guards.
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  // TODO(launch6): round both sides of the grid up.
  return cudaErrorNotReady;
}
