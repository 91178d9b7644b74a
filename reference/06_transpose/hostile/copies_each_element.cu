// gpu: TIMEOUT transpose1_naive; virtual: REJECTED
// Makes a copy of four bytes for each element, and launches a kernel that does nothing.
#include "transpose.h"

__global__ void nothing() {}

void transpose1_naive(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  nothing<<<1, 32>>>();
  for (unsigned y = 0; y < height; ++y) {
    for (unsigned x = 0; x < width; ++x) {
      cudaMemcpy(d_out + size_t{x} * height + y, d_in + size_t{y} * width + x, sizeof(float), cudaMemcpyDeviceToDevice);
    }
  }
}

void transpose2_tiled(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
