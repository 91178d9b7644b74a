// gpu: TIMEOUT transpose2_tiled; virtual: REJECTED
// cudaMemcpy2D copies each row to a column; a kernel reads everything and stores nothing.
#include "transpose.h"

__global__ void reads(const float* d_in, size_t n, float* d_spare) {
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < n; i += size_t{gridDim.x} * blockDim.x) {
    if (d_in[i] == 1.25e-33f && d_spare != nullptr) *d_spare = 0;
  }
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  reads<<<64, 256>>>(d_in, size_t{width} * height, nullptr);
  for (unsigned y = 0; y < height; ++y) {
    cudaMemcpy2D(d_out + y, height * sizeof(float), d_in + size_t{y} * width, sizeof(float), sizeof(float), width,
                 cudaMemcpyDeviceToDevice);
  }
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
