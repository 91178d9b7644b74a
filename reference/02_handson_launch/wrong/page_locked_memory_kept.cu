// verdict: API launch3_copy_back
// Gives the device's memory back, the page-locked memory not.
#include <algorithm>
#include <cstring>

#include "launch.h"

constexpr unsigned kAdders = 256;

template <bool kGuarded>
__global__ void fill(int* d_a, unsigned n) {
  const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  if (!kGuarded || i < n) d_a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

__global__ void count_blocks(const int* d_a, unsigned n, unsigned* d_counts) {
  const unsigned i = threadIdx.x + blockDim.x * blockIdx.x;
  const int count = __syncthreads_count(i < n ? d_a[i] != FilledValue(blockIdx.x, threadIdx.x) : 0);
  if (threadIdx.x == 0) d_counts[blockIdx.x] = static_cast<unsigned>(count);
}

__global__ void add_counts(const unsigned* d_counts, unsigned n, unsigned* d_sum) {
  __shared__ unsigned sums[kAdders];
  unsigned sum = 0;
  for (unsigned i = threadIdx.x; i < n; i += kAdders) sum += d_counts[i];
  sums[threadIdx.x] = sum;
  for (unsigned step = kAdders / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) sums[threadIdx.x] += sums[threadIdx.x + step];
  }
  if (threadIdx.x == 0) *d_sum = sums[0];
}

__global__ void stride(int* d_a, unsigned n) {
  const unsigned step = blockDim.x * gridDim.x;
  unsigned block = blockIdx.x, i = threadIdx.x + blockDim.x * blockIdx.x;
  while (i < n) {
    d_a[i] = FilledValue(block, threadIdx.x);
    i += step;
    block += gridDim.x;
  }
}

__global__ void plane(int* d_a, unsigned width, unsigned height) {
  const unsigned x = threadIdx.x + kTile * blockIdx.x, y = threadIdx.y + kTile * blockIdx.y;
  if (x >= width || y >= height) return;
  int* const row = d_a + y * width;
  row[x] = FilledValue(blockIdx.x + gridDim.x * blockIdx.y, threadIdx.x + kTile * threadIdx.y);
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  fill<false><<<n / block, block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  fill<true><<<BlocksFor(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  const size_t bytes = n * sizeof(int);
  int *d_a = nullptr, *pinned = nullptr;
  cudaError_t error = cudaMalloc(&d_a, bytes);
  if (error == cudaSuccess) error = cudaMallocHost(&pinned, bytes);
  if (error == cudaSuccess) error = launch2_any_length(d_a, n, block);
  if (error == cudaSuccess) error = cudaMemcpyAsync(pinned, d_a, bytes, cudaMemcpyDeviceToHost);
  if (error == cudaSuccess) error = cudaDeviceSynchronize();
  if (error == cudaSuccess) std::memcpy(h_out, pinned, bytes);
  cudaFree(d_a);
  return error;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  if (n == 0) return cudaMemset(d_wrong, 0, sizeof *d_wrong);
  const unsigned blocks = BlocksFor(n, block);
  unsigned* d_counts = nullptr;
  cudaError_t error = cudaMalloc(&d_counts, blocks * sizeof(unsigned));
  if (error != cudaSuccess) return error;
  count_blocks<<<blocks, block>>>(d_a, n, d_counts);
  error = cudaGetLastError();
  if (error == cudaSuccess) {
    add_counts<<<1, kAdders>>>(d_counts, blocks, d_wrong);
    error = cudaGetLastError();
  }
  cudaFree(d_counts);
  return error;
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  stride<<<std::min(kMaxBlocks, BlocksFor(n, block)), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  const dim3 grid{BlocksFor(width, kTile), BlocksFor(height, kTile), 1}, block{kTile, kTile, 1};
  if (grid.x * grid.y == 0) return cudaSuccess;
  plane<<<grid, block>>>(d_a, width, height);
  return cudaGetLastError();
}
