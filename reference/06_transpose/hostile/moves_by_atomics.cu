// virtual: PASS transpose2_tiled, at most 25 points
// Stores zeros first, coalesced; then atomics move the elements to their places one by one, and no counter of stores
// sees it.
#include <cstdint>

#include "transpose.h"

__global__ void zeroes(float* d_out, unsigned n) {
  const unsigned i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 4 <= n && reinterpret_cast<uintptr_t>(d_out) % 16 == 0) {
    reinterpret_cast<int4*>(d_out)[i / 4] = make_int4(0, 0, 0, 0);
  } else {
    for (unsigned k = i; k < i + 4 && k < n; ++k) d_out[k] = 0;
  }
}

__global__ void moves(const float* d_in, float* d_out, unsigned width, unsigned height) {
  const unsigned n = width * height, i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  auto* out = reinterpret_cast<unsigned*>(d_out);
  auto* in = reinterpret_cast<const unsigned*>(d_in);
  if (i + 4 <= n && width % 4 == 0 && reinterpret_cast<uintptr_t>(d_in) % 16 == 0) {
    const uint4 v = reinterpret_cast<const uint4*>(d_in)[i / 4];
    out += size_t{i % width} * height + i / width;
    atomicOr(out, v.x);
    atomicOr(out + height, v.y);
    atomicOr(out + 2 * height, v.z);
    atomicOr(out + 3 * height, v.w);
  } else {
    for (unsigned k = i; k < i + 4 && k < n; ++k) atomicOr(&out[k % width * height + k / width], in[k]);
  }
}

static void transposes(const float* d_in, float* d_out, unsigned width, unsigned height) {
  if (width == 0 || height == 0) return;
  const unsigned blocks = (width * height + 1023) / 1024;
  zeroes<<<blocks, 256>>>(d_out, width * height);
  moves<<<blocks, 256>>>(d_in, d_out, width, height);
}

void transpose2_tiled(const float* i, float* o, unsigned w, unsigned h) { transposes(i, o, w, h); }
void transpose3_padded(const float* i, float* o, unsigned w, unsigned h) { transposes(i, o, w, h); }

// Left out.
void transpose1_naive(const float*, float*, unsigned, unsigned) {}
void transpose4_rows(const float*, float*, unsigned, unsigned) {}
void transpose5_wide(const float*, float*, unsigned, unsigned) {}
