// points: 100 + 10
// Rung 5 always launches 64 blocks, also for one element; rung 4 counts by warps and combines them with shuffles.

#include "launch.h"

__device__ unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

__global__ void kernel1(int* d_a) { d_a[global_index()] = FilledValue(blockIdx.x, threadIdx.x); }

__global__ void kernel2(int* d_a, unsigned n) {
  if (global_index() < n) d_a[global_index()] = FilledValue(blockIdx.x, threadIdx.x);
}

__global__ void kernel4(const int* d_a, unsigned n, unsigned* d_wrong) {
  __shared__ unsigned of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = (blockDim.x + 31) / 32;
  const unsigned i = global_index();
  const bool wrong = i < n && d_a[i] != FilledValue(blockIdx.x, threadIdx.x);
  const unsigned votes = __ballot_sync(__activemask(), wrong);
  if (lane == 0) of_warp[warp] = __popc(votes);
  __syncthreads();
  if (threadIdx.x == 0) {
    unsigned sum = 0;
    for (unsigned w = 0; w < warps; ++w) sum += of_warp[w];
    atomicAdd(d_wrong, sum);
  }
}

__global__ void kernel5(int* d_a, unsigned n) {
  const unsigned threads = 64 * blockDim.x;
  for (unsigned first = 0; first < n; first += threads) {
    const unsigned i = first + global_index();
    if (i < n) d_a[i] = FilledValue(i / blockDim.x, threadIdx.x);
  }
}

__global__ void __launch_bounds__(256) kernel6(int* d_a, unsigned width, unsigned height) {
  const uint2 at = {blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y};
  if (at.x >= width) return;
  if (at.y >= height) return;
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x, thread = threadIdx.y * blockDim.x + threadIdx.x;
  d_a[at.y * width + at.x] = FilledValue(block, thread);
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  kernel1<<<n / block, block>>>(d_a);
  return cudaGetLastError();
}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (block == 0 || block > 1024) return cudaErrorInvalidConfiguration;
  if (n > 0) kernel2<<<BlocksFor(n, block), block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  int* d_a = nullptr;
  cudaError_t error = cudaMalloc((void**)&d_a, sizeof(int) * n);
  do {
    if (error != cudaSuccess) break;
    error = launch2_any_length(d_a, n, block);
    if (error != cudaSuccess) break;
    error = cudaDeviceSynchronize();
    if (error != cudaSuccess) break;
    error = cudaMemcpy(h_out, d_a, sizeof(int) * n, cudaMemcpyDeviceToHost);
  } while (false);
  cudaFree(d_a);
  return error;
}

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  cudaMemset(d_wrong, 0, sizeof(unsigned));
  if (n != 0) kernel4<<<BlocksFor(n, block), block>>>(d_a, n, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch5_grid_stride(int* d_a, unsigned n, unsigned block) {
  kernel5<<<64, block>>>(d_a, n);
  return cudaGetLastError();
}

cudaError_t launch6_grid_2d(int* d_a, unsigned width, unsigned height) {
  const dim3 blocks(BlocksFor(width, kTile), BlocksFor(height, kTile));
  if (blocks.x > 0 && blocks.y > 0) kernel6<<<blocks, dim3(kTile, kTile)>>>(d_a, width, height);
  return cudaGetLastError();
}
