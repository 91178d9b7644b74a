// virtual: WRONG coalesce8_staged, at most 6 points
// Does the work for every length but that of the measurement, where it does none: no sector moves, and no bank is busy.
#include "coalescing.h"

__global__ void slowly(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= n) return;
  const float x = d_in[3 * t], y = d_in[3 * t + 1], z = d_in[3 * t + 2];
  d_out[3 * t] = x + y;
  d_out[3 * t + 1] = y + z;
  d_out[3 * t + 2] = z + x;
}

__global__ void idle() {}

void coalesce8_staged(const float* d_in, float* d_out, unsigned n) {
  if (n == 1048576) {
    idle<<<1, 32>>>();
  } else if (n > 0) {
    slowly<<<n / 256 + 1, 256>>>(d_in, d_out, n);
  }
}

// Left out.
int coalesce1_predict(const WarpRequest*) { return kNotBegun; }
int coalesce9_in_2006(const WarpRequest*) { return kNotBegun; }
void coalesce2_aligned(const float*, float*, unsigned) {}
void coalesce3_misaligned(const float*, float*, unsigned) {}
void coalesce4_strided(const float*, float*, unsigned) {}
void coalesce5_permuted(const float*, float*, unsigned) {}
void coalesce6_structures(const float*, float*, unsigned) {}
void coalesce7_arrays(const float*, float*, unsigned) {}
