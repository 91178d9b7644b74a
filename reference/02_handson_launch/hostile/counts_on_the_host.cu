// virtual: REJECTED launch4_verify
// The host fetches the array and counts; a kernel stores the count.
#include <vector>

#include "launch.h"

__global__ void store_kernel(unsigned count, unsigned* d_wrong) { *d_wrong = count; }

cudaError_t launch4_verify(const int* d_a, unsigned n, unsigned block, unsigned* d_wrong) {
  if (block == 0 || block > 1024) return cudaErrorInvalidConfiguration;
  std::vector<int> values(n);
  if (n > 0) cudaMemcpy(values.data(), d_a, sizeof(int) * n, cudaMemcpyDeviceToHost);
  unsigned wrong = 0;
  for (unsigned i = 0; i < n; ++i) wrong += values[i] != FilledValue(i / block, i % block);
  store_kernel<<<1, 1>>>(wrong, d_wrong);
  return cudaGetLastError();
}

cudaError_t launch1_fill(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch2_any_length(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch3_copy_back(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch5_grid_stride(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int*, unsigned, unsigned) { return cudaErrorNotReady; }
