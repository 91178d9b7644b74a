// points: 100 + 10
// Kernels are launched by cudaLaunchKernel and cudaLaunchKernelEx, which return the error themselves; rung 4's
// grid is as large as the device holds, and its threads count in registers.

#include <cuda_runtime.h>

#include <algorithm>

#include "launch.h"

static __global__ void fill(int* d_a, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

static __global__ void count(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  __shared__ unsigned sums[256];
  unsigned mine = 0;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    mine += d_a[i] != FilledValue(i / block, i % block);
  }
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) atomicAdd(d_wrong, sums[0]);
}

static __global__ void stride(int* d_a, unsigned n) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    d_a[i] = FilledValue(i / blockDim.x, i % blockDim.x);
  }
}

static __global__ void plane(int* d_a, unsigned width, unsigned height) {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    d_a[y * width + x] = FilledValue(blockIdx.y * gridDim.x + blockIdx.x, threadIdx.y * blockDim.x + threadIdx.x);
  }
}

// Clears the launch's error, which cudaGetLastError() would otherwise still return.
static cudaError_t taken(cudaError_t error) {
  if (error != cudaSuccess) cudaGetLastError();
  return error;
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return launch2_any_length(d_a, n, block); }

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  void* arguments[] = {&d_a, &n};
  return taken(
      cudaLaunchKernel(reinterpret_cast<const void*>(fill), BlocksFor(n, block), block, arguments, 0, nullptr));
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  struct Memory {
    int* data = nullptr;
    ~Memory() { cudaFree(data); }
  } a;
  cudaError_t error = cudaMalloc(&a.data, n * sizeof(int));
  if (error == cudaSuccess) error = launch2_any_length(a.data, n, block);
  return error == cudaSuccess ? cudaMemcpy(h_out, a.data, n * sizeof(int), cudaMemcpyDeviceToHost) : error;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  if (block > 1024) return cudaErrorInvalidConfiguration;
  int device = 0, processors = 1;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, device);
  cudaMemsetAsync(d_wrong, 0, sizeof *d_wrong);
  count<<<32 * processors, 256>>>(d_a, n, block, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  cudaLaunchConfig_t config = {};
  config.gridDim = std::min(BlocksFor(n, block), kMaxBlocks);
  config.blockDim = block;
  return taken(cudaLaunchKernelEx(&config, stride, d_a, n));
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return cudaSuccess;
  void* arguments[] = {&d_a, &width, &height};
  return taken(cudaLaunchKernel(reinterpret_cast<const void*>(plane),
                                {BlocksFor(width, kTile), BlocksFor(height, kTile)}, {kTile, kTile}, arguments, 0,
                                nullptr));
}
