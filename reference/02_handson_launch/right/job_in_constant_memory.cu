// points: 100 + 10
// The kernels' parameters are in constant memory.
#include "launch.h"

namespace {

struct Job {
  int* a;
  const int* seen;
  unsigned* wrong;
  unsigned n, width, height;
};
__constant__ Job c_job;

__global__ void fill() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < c_job.n) c_job.a[i] = FilledValue(blockIdx.x, threadIdx.x);
}

__global__ void verify() {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool wrong = i < c_job.n && c_job.seen[i] != FilledValue(blockIdx.x, threadIdx.x);
  const int here = __syncthreads_count(wrong);
  if (threadIdx.x == 0 && here != 0) atomicAdd(c_job.wrong, static_cast<unsigned>(here));
}

__global__ void stride() {
  const unsigned step = gridDim.x;
  for (unsigned block = blockIdx.x;; block += step) {
    const unsigned long long i = static_cast<unsigned long long>(block) * blockDim.x + threadIdx.x;
    if (i >= c_job.n) break;
    c_job.a[i] = FilledValue(block, threadIdx.x);
  }
}

__global__ void plane() {
  const unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= c_job.width || y >= c_job.height) return;
  c_job.a[static_cast<size_t>(y) * c_job.width + x] =
      FilledValue(blockIdx.x + gridDim.x * blockIdx.y, threadIdx.x + blockDim.x * threadIdx.y);
}

cudaError_t run(void (*kernel)(), dim3 grid, dim3 block, const Job& job) {
  const cudaError_t error = cudaMemcpyToSymbol(c_job, &job, sizeof job);
  if (error != cudaSuccess) return error;
  kernel<<<grid, block>>>();
  return cudaGetLastError();
}

Job filling(int* d_a, unsigned n) { return {d_a, nullptr, nullptr, n, 0, 0}; }

}  // namespace

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return run(fill, n / block, block, filling(d_a, n)); }

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  return run(fill, BlocksFor(n, block), block, filling(d_a, n));
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  int* d_a;
  cudaError_t error = cudaMalloc(&d_a, size_t{n} * sizeof *d_a);
  if (error != cudaSuccess) return error;
  error = launch2_any_length(d_a, n, block);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, d_a, size_t{n} * sizeof *d_a, cudaMemcpyDeviceToHost);
  const cudaError_t freed = cudaFree(d_a);
  return error == cudaSuccess ? freed : error;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  const unsigned none = 0;
  const cudaError_t error = cudaMemcpy(d_wrong, &none, sizeof none, cudaMemcpyHostToDevice);
  if (error != cudaSuccess || n == 0) return error;
  return run(verify, BlocksFor(n, block), block, {nullptr, d_a, d_wrong, n, 0, 0});
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = BlocksFor(n, block);
  return run(stride, blocks < kMaxBlocks ? blocks : kMaxBlocks, block, filling(d_a, n));
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return cudaSuccess;
  return run(plane, dim3(BlocksFor(width, kTile), BlocksFor(height, kTile)), dim3(kTile, kTile),
             {d_a, nullptr, nullptr, 0, width, height});
}
