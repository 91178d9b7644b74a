// gpu: PASS transpose3_padded; virtual: REJECTED
// cudaMemcpy2D transposes into allocated memory; the kernel copies that unchanged.
#include "transpose.h"

__global__ void copy(const float* d_from, float* d_to, size_t n) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x) {
    d_to[i] = d_from[i];
  }
}

void transpose3_padded(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  float* d_own = nullptr;
  cudaMalloc(&d_own, size_t{width} * height * sizeof(float));
  for (unsigned y = 0; y < height; ++y) {
    cudaMemcpy2D(d_own + y, height * sizeof(float), d_in + size_t{y} * width, sizeof(float), sizeof(float), width,
                 cudaMemcpyDeviceToDevice);
  }
  copy<<<64, 256>>>(d_own, d_out, size_t{width} * height);
  cudaFree(d_own);
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose2_tiled(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
