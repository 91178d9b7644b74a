// virtual: REJECTED launch3_copy_back
// The kernel fills a __device__ array instead of allocated memory.
#include "launch.h"

__device__ int held[1 << 25];
__global__ void fill_kernel(unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) held[i] = FilledValue(blockIdx.x, threadIdx.x);
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  fill_kernel<<<BlocksFor(n, block), block>>>(n);
  if (const cudaError_t error = cudaGetLastError()) return error;
  return cudaMemcpyFromSymbol(h_out, held, sizeof(int) * n);
}

cudaError_t launch1_fill(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch2_any_length(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch4_verify(const int*, unsigned, unsigned, unsigned*) { return cudaErrorNotReady; }
cudaError_t launch5_grid_stride(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int*, unsigned, unsigned) { return cudaErrorNotReady; }
