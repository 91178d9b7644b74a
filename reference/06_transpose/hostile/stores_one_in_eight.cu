// virtual: WRONG transpose2_tiled
// Stores one element of each sector, and leaves the rest as it was.
#include "transpose.h"

__global__ void some_kernel(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const size_t i = (size_t{blockIdx.x} * blockDim.x + threadIdx.x) * 8, n = size_t{width} * height;
  if (i < n) d_out[i] = d_in[i % height * width + i / height];
}

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  some_kernel<<<(size_t{width} * height + 2047) / 2048, 256>>>(d_in, d_out, width, height);
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
