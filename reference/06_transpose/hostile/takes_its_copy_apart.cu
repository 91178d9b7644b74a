// virtual: REJECTED transpose2_tiled
// One whole copy of the input; a cudaMemcpy2D for each row makes a column of it, in memory of its own.
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
  cudaMemcpy(whole, d_in, sizeof(float) * n, cudaMemcpyDeviceToDevice);
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
