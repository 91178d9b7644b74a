// points: 100 + 10
// Work goes to a stream that is waited for; a block's count is kept in shared memory, by atomic operations there.

#include <iostream>

#include "launch.h"

#define CHECKED(call)                                                      \
  if (const cudaError_t status = (call); status != cudaSuccess) {          \
    std::cerr << #call << ": " << cudaGetErrorString(status) << std::endl; \
    return status;                                                         \
  }

__global__ void fill_kernel(int* __restrict__ a, unsigned n) {
  unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx >= n) return;
  a[idx] = 1000 * blockIdx.x + threadIdx.x;
}

__global__ void verify_kernel(const int* __restrict__ a, unsigned n, unsigned* wrong) {
  __shared__ unsigned count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  unsigned idx = blockIdx.x * blockDim.x + threadIdx.x;
  if (idx < n && a[idx] != static_cast<int>(1000 * blockIdx.x + threadIdx.x)) atomicAdd(&count, 1);
  __syncthreads();
  if (threadIdx.x == 0 && count != 0) atomicAdd(wrong, count);
}

__global__ void stride_kernel(int* a, unsigned n) {
  for (unsigned block = blockIdx.x; block * blockDim.x < n; block += gridDim.x) {
    const unsigned idx = block * blockDim.x + threadIdx.x;
    if (idx < n) a[idx] = FilledValue(block, threadIdx.x);
  }
}

__global__ void grid_kernel(int* a, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x;
  int y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height)
    a[y * width + x] = 1000 * (blockIdx.y * gridDim.x + blockIdx.x) + threadIdx.y * 16 + threadIdx.x;
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  fill_kernel<<<n / block, block>>>(d_a, n);
  CHECKED(cudaGetLastError());
  CHECKED(cudaDeviceSynchronize());
  return cudaSuccess;
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  fill_kernel<<<(n - 1) / block + 1, block>>>(d_a, n);
  CHECKED(cudaGetLastError());
  return cudaDeviceSynchronize();
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  cudaStream_t stream;
  CHECKED(cudaStreamCreate(&stream));
  int* a = nullptr;
  cudaError_t error = cudaMallocAsync((void**)&a, n * sizeof(int), stream);
  if (error == cudaSuccess) {
    fill_kernel<<<(n - 1) / block + 1, block, 0, stream>>>(a, n);
    error = cudaGetLastError();
    if (error == cudaSuccess) error = cudaMemcpyAsync(h_out, a, n * sizeof(int), cudaMemcpyDeviceToHost, stream);
    cudaFreeAsync(a, stream);
  }
  const cudaError_t waited = cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  return error != cudaSuccess ? error : waited;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  CHECKED(cudaMemset(d_wrong, 0, 4));
  if (n == 0) return cudaSuccess;
  verify_kernel<<<(n - 1) / block + 1, block>>>(d_a, n, d_wrong);
  CHECKED(cudaGetLastError());
  return cudaDeviceSynchronize();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  const unsigned needed = (n - 1) / block + 1;
  stride_kernel<<<needed > 64 ? 64 : needed, block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  if (!width || !height) return cudaSuccess;
  dim3 threads(16, 16), blocks((width + 15) / 16, (height + 15) / 16);
  grid_kernel<<<blocks, threads>>>(d_a, static_cast<int>(width), static_cast<int>(height));
  return cudaGetLastError();
}

int main() {
  int a[1000];
  const cudaError_t error = launch3_copy_back(a, 1000, 128);
  std::cout << cudaGetErrorName(error) << " " << a[999] << std::endl;
}
