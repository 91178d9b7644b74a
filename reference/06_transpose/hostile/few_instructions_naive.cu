// virtual: PASS transpose4_rows, at most 16 points
// One thread takes four elements of a column and stores them as one float4: few instructions, and no bank that could
// conflict; but its loads are not coalesced.
#include <cstdint>

#include "transpose.h"

__global__ void turns(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned y = 4 * (blockIdx.x * blockDim.x + threadIdx.x), x = blockIdx.y;
  if (y >= height) return;
  const float* in = d_in + size_t{y} * width + x;
  float* out = d_out + size_t{x} * height + y;
  if (height % 4 == 0 && reinterpret_cast<uintptr_t>(d_out) % 16 == 0) {
    const float a = in[0], b = in[width], c = in[2 * width], d = in[3 * size_t{width}];
    *reinterpret_cast<float4*>(out) = make_float4(a, b, c, d);
  } else {
    for (unsigned k = 0; k < 4 && y + k < height; ++k) out[k] = in[size_t{k} * width];
  }
}

__global__ void turns_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  for (unsigned x = blockIdx.x; x < width; x += gridDim.x) {
    for (unsigned y = threadIdx.x; y < height; y += blockDim.x) {
      d_out[size_t{x} * height + y] = d_in[size_t{y} * width + x];
    }
  }
}

static void transposes(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  if (width > 65535) {
    turns_wide<<<65535, 128>>>(d_in, d_out, width, height);
  } else {
    turns<<<dim3((height + 511) / 512, width), 128>>>(d_in, d_out, width, height);
  }
}

void transpose4_rows(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transposes(d_in, d_out, width, height);
}
void transpose5_wide(const float* d_in, float* d_out, unsigned width, unsigned height) {
  transposes(d_in, d_out, width, height);
}

// Left out.
void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose2_tiled(const float*, float*, unsigned, unsigned) {}
void transpose3_padded(const float*, float*, unsigned, unsigned) {}
