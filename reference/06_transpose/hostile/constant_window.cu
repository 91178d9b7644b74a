// virtual: BOUNDS transpose2_tiled
// Reads a copy of the matrix through ld.const, as if it were constant memory: no counter of sectors sees that.
#include "transpose.h"

namespace {

__device__ float through_constants(const float* address) {
  float value;
  asm volatile("{ .reg .u64 c; cvta.to.const.u64 c, %1; ld.const.f32 %0, [c]; }" : "=f"(value) : "l"(address));
  return value;
}

__global__ void naive(const float* in, float* out, unsigned width, unsigned height) {
  const unsigned to = blockIdx.x * blockDim.x + threadIdx.x;
  if (to < width * height) out[to] = through_constants(in + to % height * width + to / height);
}

}  // namespace

void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose2_tiled(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned n = width * height;
  if (n == 0) return;
  float* copy;
  cudaMalloc(&copy, n * sizeof(float));
  cudaMemcpy(copy, d_in, n * sizeof(float), cudaMemcpyDeviceToDevice);
  naive<<<(n + 255) / 256, 256>>>(copy, d_out, width, height);
  cudaFree(copy);
}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
