// gpu: PASS launch3_copy_back; virtual: REJECTED
// The host fills h_out; the kernel does nothing, and what is copied is thrown away.
#include <vector>

#include "launch.h"

__global__ void nothing() {}

cudaError_t launch3_copy_back(int* h_out, unsigned n, unsigned block) {
  if (n == 0) return cudaSuccess;
  int* d_a = nullptr;
  if (cudaError_t error = cudaMalloc(&d_a, n * sizeof(int))) return error;
  nothing<<<BlocksFor(n, block), block>>>();
  cudaError_t error = cudaGetLastError();
  std::vector<int> thrown_away(n);
  if (error == cudaSuccess) {
    cudaMemset(d_a, 0, n * sizeof(int));
    error = cudaMemcpy(thrown_away.data(), d_a, n * sizeof(int), cudaMemcpyDeviceToHost);
  }
  cudaFree(d_a);
  for (unsigned i = 0; error == cudaSuccess && i < n; ++i) h_out[i] = FilledValue(i / block, i % block);
  return error;
}

cudaError_t launch1_fill(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch2_any_length(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch4_verify(const int*, unsigned, unsigned, unsigned*) { return cudaErrorNotReady; }
cudaError_t launch5_grid_stride(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int*, unsigned, unsigned) { return cudaErrorNotReady; }
