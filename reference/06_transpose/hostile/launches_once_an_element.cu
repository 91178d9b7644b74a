// virtual: TIMEOUT transpose2_tiled
// Launches a kernel of one thread for each element.
#include "transpose.h"

__global__ void one_kernel(const float* from, float* to) { *to = *from; }

void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  for (size_t i = 0; i < size_t{width} * height; ++i) {
    one_kernel<<<1, 1>>>(d_in + i, d_out + i % width * height + i / width);
  }
}

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
