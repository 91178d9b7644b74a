// points: 100 + 10
// C with printf: errors are printed, the kernel computes its value anew, and one warp's lanes share out the count.

#include <stdio.h>
#include <stdlib.h>

#include "launch.h"

#define BLOCKS(n, block) (((n) + (block)-1) / (block))

static int failed(cudaError_t error, int line) {
  if (error == cudaSuccess) return 0;
  fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(error));
  return 1;
}

__global__ void k1(int* a_d) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  a_d[idx] = 1000 * blockIdx.x + threadIdx.x;
}

__global__ void k2(int* a_d, int n) {
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < n) {
    a_d[idx] = 1000 * blockIdx.x + threadIdx.x;
  }
}

__global__ void k4(const int* a_d, int n, unsigned* wrong_d) {
  extern __shared__ unsigned flags[];
  int idx = blockIdx.x * blockDim.x + threadIdx.x;
  flags[threadIdx.x] = 0;
  if (idx < n && a_d[idx] != (int)(1000 * blockIdx.x + threadIdx.x)) flags[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned count = 0;
    for (unsigned t = 0; t < blockDim.x; t++) count += flags[t];
    if (count) atomicAdd(wrong_d, count);
  }
}

__global__ void k5(int* a_d, int n) {
  int step = gridDim.x * blockDim.x;
  for (int idx = blockIdx.x * blockDim.x + threadIdx.x; idx < n; idx += step) {
    a_d[idx] = 1000 * (idx / blockDim.x) + idx % blockDim.x;
  }
}

__global__ void k6(int* a_d, int width, int height) {
  int column = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  int block = blockIdx.y * gridDim.x + blockIdx.x;
  if (row < height && column < width) a_d[row * width + column] = 1000 * block + threadIdx.y * blockDim.x + threadIdx.x;
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  k1<<<n / block, block>>>(d_a);
  return cudaGetLastError();
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  k2<<<BLOCKS(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  int *a_d = NULL, *a_h = NULL;
  cudaError_t error = cudaSuccess;
  a_h = (int*)malloc(n * sizeof(int));
  error = cudaMalloc((void**)&a_d, n * sizeof(int));
  if (!failed(error, __LINE__)) error = launch2_any_length(a_d, n, block);
  if (!failed(error, __LINE__)) error = cudaMemcpy(a_h, a_d, n * sizeof(int), cudaMemcpyDeviceToHost);
  if (!failed(error, __LINE__)) {
    for (unsigned i = 0; i < n; i++) h_out[i] = a_h[i];
  }
  cudaFree(a_d);
  free(a_h);
  return error;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  cudaError_t error = cudaMemset(d_wrong, 0, sizeof(unsigned));
  if (failed(error, __LINE__) || n == 0) return error;
  k4<<<BLOCKS(n, block), block, block * sizeof(unsigned)>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  unsigned blocks = BLOCKS(n, block);
  if (blocks > kMaxBlocks) blocks = kMaxBlocks;
  if (blocks == 0) return cudaSuccess;
  k5<<<blocks, block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  dim3 threads(kTile, kTile);
  dim3 blocks(BLOCKS(width, kTile), BLOCKS(height, kTile));
  if (width == 0 || height == 0) return cudaSuccess;
  k6<<<blocks, threads>>>(d_a, width, height);
  return cudaGetLastError();
}
