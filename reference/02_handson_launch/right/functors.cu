// points: 100 + 10
// One kernel template applies a functor to every index; the functors are the rungs.

#include <cstdint>

#include "launch.h"

namespace course {

template <class Function>
__global__ void for_each(std::uint64_t n, Function function) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) function(i);
}

template <class Function>
cudaError_t run(std::uint64_t n, unsigned block, Function function, cudaStream_t stream = nullptr) {
  if (n == 0) return cudaSuccess;
  const auto blocks = static_cast<unsigned>((n + block - 1) / block);
  for_each<<<blocks, block, 0, stream>>>(n, function);
  return cudaGetLastError();
}

struct Fill {
  int* data;
  __device__ void operator()(std::uint64_t i) const { data[i] = FilledValue(blockIdx.x, threadIdx.x); }
};

template <class T>
struct DeviceArray {
  T* data = nullptr;
  cudaError_t error;
  explicit DeviceArray(std::size_t n) { error = cudaMalloc(&data, n * sizeof(T)); }
  ~DeviceArray() { cudaFree(data); }
};

__global__ void count(const int* d_a, unsigned n, unsigned* d_wrong) {
  const unsigned i = blockDim.x * blockIdx.x + threadIdx.x;
  int differs = 0;
  if (i < n) differs = d_a[i] != FilledValue(blockIdx.x, threadIdx.x) ? 1 : 0;
  const int sum = __syncthreads_count(differs);
  if (threadIdx.x == 0) atomicAdd(d_wrong, static_cast<unsigned>(sum));
}

__global__ void stride(int* d_a, unsigned n) {
  const unsigned step = gridDim.x * blockDim.x;
  for (std::uint64_t i = blockDim.x * blockIdx.x + threadIdx.x; i < n; i += step) {
    d_a[i] = FilledValue(static_cast<unsigned>(i / blockDim.x), static_cast<unsigned>(i % blockDim.x));
  }
}

struct Plane {
  int* data;
  unsigned width, height;
  __device__ void operator()(unsigned x, unsigned y) const {
    if (x < width && y < height) {
      data[std::size_t{y} * width + x] =
          FilledValue(blockIdx.x + gridDim.x * blockIdx.y, threadIdx.x + blockDim.x * threadIdx.y);
    }
  }
};

template <class Function>
__global__ void for_each_2d(Function function) {
  function(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
}

}  // namespace course

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) { return course::run(n, block, course::Fill{d_a}); }
cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  return course::run(n, block, course::Fill{d_a});
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  const course::DeviceArray<int> a(n);
  if (a.error != cudaSuccess) return a.error;
  if (const cudaError_t error = course::run(n, block, course::Fill{a.data}); error != cudaSuccess) return error;
  return cudaMemcpy(h_out, a.data, n * sizeof(int), cudaMemcpyDeviceToHost);
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  const unsigned zero = 0;
  if (const cudaError_t error = cudaMemcpy(d_wrong, &zero, sizeof zero, cudaMemcpyHostToDevice); error != cudaSuccess) {
    return error;
  }
  if (n == 0) return cudaSuccess;
  course::count<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  const unsigned blocks = BlocksFor(n, block);
  const unsigned grid = blocks < kMaxBlocks ? blocks : kMaxBlocks;
  course::stride<<<grid, block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  if (size_t{width} * height == 0) return cudaSuccess;
  course::for_each_2d<<<dim3(BlocksFor(width, kTile), BlocksFor(height, kTile)), dim3(kTile, kTile)>>>(
      course::Plane{d_a, width, height});
  return cudaGetLastError();
}
