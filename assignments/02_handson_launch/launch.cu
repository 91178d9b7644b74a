// Assignment 02: launching kernels. Fill in the TODOs, one rung at a time; README.md has the task and the budgets.
// launch.h says what the launchers are given.

#include "launch.h"

// Rung 1: one thread per element.
// Goal    thread t of block b stores FilledValue(b, t) in its own element.
// How     Its element is blockIdx.x * blockDim.x + threadIdx.x. Launch with kernel<<<blocks, threads>>>(...).
// Given   n is a multiple of block: the grid fits exactly.
// Budget  one launch; as many threads as elements; no copy.
__global__ void launch1_fill_kernel(int* d_a) {
  // TODO(launch1): store the value.
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  // TODO(launch1): launch n / block blocks; return what cudaGetLastError() says.
  return cudaErrorNotReady;
}

// Rung 2: any length.
// Goal    the same for any n: the grid is rounded up, and the threads past the end do nothing.
// Mind    n = 0: a grid of 0 blocks can't be launched, and there is nothing to do. A block of more than 1024 threads
//         can't be launched either: cudaGetLastError() says so, and the launcher returns it.
// Budget  fewer than one block of surplus threads.
__global__ void launch2_any_length_kernel(int* d_a, unsigned n) {
  // TODO(launch2): rung 1 with a guard.
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  // TODO(launch2): launch BlocksFor(n, block) blocks, if any.
  return cudaErrorNotReady;
}

// Rung 3: the whole task.
// Goal    h_out, in host memory, holds what rung 2's kernel stored.
// How     cudaMalloc, the kernel, cudaMemcpy to the host (it waits for the kernel), cudaFree.
// Mind    every return path must free what was allocated. After an error, h_out must be unchanged.
// Budget  one allocation, one copy of n ints.
cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  // TODO(launch3): rung 2 with a buffer of your own.
  return cudaErrorNotReady;
}

// Rung 4: verifying on the device.
// Goal    *d_wrong is the number of elements that differ from what rung 2 stores there.
// How     Set *d_wrong to 0 first (cudaMemset). Many threads may find a wrong element at once: atomicAdd.
// Budget  at most one atomic instruction per block: __syncthreads_count(predicate) counts the threads of a block for
//         which the predicate holds, and tells each of them.
__global__ void launch4_verify_kernel(const int* d_a, unsigned n, unsigned* d_wrong) {
  // TODO(launch4): compare, count.
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  // TODO(launch4): clear *d_wrong, launch.
  return cudaErrorNotReady;
}

// Rung 5, bonus: a grid of bounded size.
// Goal    what rung 2 stores, with at most kMaxBlocks blocks.
// How     A thread starts at its own element and steps by the number of threads in the grid until it is past n.
// Mind    store the value of the element's block and thread in rung 2, not that of the thread that stores it.
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
// Budget  contiguous stores of 64 bytes: no more than 2 sectors if width is a multiple of 16.
__global__ void launch6_grid_2d_kernel(int* d_a, unsigned width, unsigned height) {
  // TODO(launch6): two indices, two guards.
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  // TODO(launch6): round both sides of the grid up.
  return cudaErrorNotReady;
}
