// points: 100 + 10
// Everything is counted in size_t, indices come from a helper with divisions, and every call is waited for.

#include "launch.h"

struct Position {
  size_t element, block, thread;
};

__device__ Position position() {
  const size_t block = blockIdx.x, thread = threadIdx.x, width = blockDim.x;
  return {block * width + thread, block, thread};
}

__device__ Position position_of(size_t element) { return {element, element / blockDim.x, element % blockDim.x}; }

__device__ int value_at(const Position& p) {
  return FilledValue(static_cast<unsigned>(p.block), static_cast<unsigned>(p.thread));
}

__global__ void write_all(int* d_a, size_t n) {
  const Position p = position();
  if (p.element < n) d_a[p.element] = value_at(p);
}

__global__ void compare_all(const int* d_a, size_t n, unsigned* d_wrong) {
  const Position p = position();
  bool wrong = false;
  if (p.element < n) wrong = d_a[p.element] != value_at(p);
  const unsigned sum = __syncthreads_count(wrong);
  if (p.thread == 0 && sum > 0) atomicAdd(d_wrong, sum);
}

__global__ void write_strided(int* d_a, size_t n) {
  const size_t threads = size_t{gridDim.x} * blockDim.x;
  for (size_t i = position().element; i < n; i += threads) d_a[i] = value_at(position_of(i));
}

__global__ void write_plane(int* d_a, size_t width, size_t height) {
  const size_t x = size_t{blockIdx.x} * blockDim.x + threadIdx.x, y = size_t{blockIdx.y} * blockDim.y + threadIdx.y;
  if (x < width && y < height) {
    const Position p = {y * width + x, size_t{blockIdx.y} * gridDim.x + blockIdx.x,
                        size_t{threadIdx.y} * blockDim.x + threadIdx.x};
    d_a[p.element] = value_at(p);
  }
}

static cudaError_t finished() {
  const cudaError_t launched = cudaGetLastError();
  return launched != cudaSuccess ? launched : cudaDeviceSynchronize();
}

static unsigned blocks_for(size_t n, size_t block) { return static_cast<unsigned>((n + block - 1) / block); }

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  write_all<<<blocks_for(n, block), block>>>(d_a, n);
  return finished();
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  write_all<<<blocks_for(n, block), block>>>(d_a, n);
  return finished();
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  int* d_a = nullptr;
  const size_t bytes = n * sizeof(int);
  if (const cudaError_t error = cudaMalloc(&d_a, bytes)) return error;
  if (const cudaError_t error = launch2_any_length(d_a, n, block)) return cudaFree(d_a), error;
  if (const cudaError_t error = cudaMemcpy(h_out, d_a, bytes, cudaMemcpyDeviceToHost)) return cudaFree(d_a), error;
  return cudaFree(d_a);
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  if (const cudaError_t error = cudaMemset(d_wrong, 0, sizeof *d_wrong)) return error;
  if (n == 0) return cudaSuccess;
  compare_all<<<blocks_for(n, block), block>>>(d_a, n, d_wrong);
  return finished();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = blocks_for(n, block);
  write_strided<<<blocks > kMaxBlocks ? kMaxBlocks : blocks, block>>>(d_a, n);
  return finished();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return cudaSuccess;
  write_plane<<<dim3(blocks_for(width, kTile), blocks_for(height, kTile)), dim3(kTile, kTile)>>>(d_a, width, height);
  return finished();
}
