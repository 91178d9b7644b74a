// virtual: REJECTED transpose2_tiled
// The host fetches the matrix, turns it, and uploads it for a kernel to copy.
#include <vector>

#include "transpose.h"

__global__ void copy_kernel(const float* from, float* to, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  const size_t n = size_t{width} * height;
  std::vector<float> in(n), out(n);
  cudaMemcpy(in.data(), d_in, sizeof(float) * n, cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < n; ++i) out[i % width * height + i / width] = in[i];
  float* turned;
  cudaMalloc(&turned, sizeof(float) * n);
  cudaMemcpy(turned, out.data(), sizeof(float) * n, cudaMemcpyHostToDevice);
  copy_kernel<<<(n + 255) / 256, 256>>>(turned, d_out, n);
  cudaFree(turned);
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
