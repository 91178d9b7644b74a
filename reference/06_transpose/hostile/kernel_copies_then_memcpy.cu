// virtual: REJECTED transpose2_tiled
// A kernel copies the input; cudaMemcpy2D turns the copy, and a kernel copies that to its place.
#include "transpose.h"

__global__ void copy_kernel(const float* from, float* to, size_t n) {
  const size_t i = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  const size_t n = size_t{width} * height;
  float *whole, *turned;
  cudaMalloc(&whole, sizeof(float) * n);
  cudaMalloc(&turned, sizeof(float) * n);
  copy_kernel<<<(n + 255) / 256, 256>>>(d_in, whole, n);
  for (unsigned y = 0; y < height; ++y) {
    cudaMemcpy2D(turned + y, sizeof(float) * height, whole + size_t{y} * width, sizeof(float), sizeof(float), width,
                 cudaMemcpyDeviceToDevice);
  }
  copy_kernel<<<(n + 255) / 256, 256>>>(turned, d_out, n);
  cudaFree(whole);
  cudaFree(turned);
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
