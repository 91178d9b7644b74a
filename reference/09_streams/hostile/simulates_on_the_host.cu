// gpu: PASS streams1_pinned; virtual: REJECTED
// The host simulates; the kernel passes on what it finds.
#include <cmath>

#include "streams.h"

namespace {

struct Memory {
  float *up, *down, *in, *out;
  explicit Memory(size_t n) {
    cudaMallocHost(&up, n * sizeof(float));
    cudaMallocHost(&down, n * sizeof(float));
    cudaMalloc(&in, n * sizeof(float));
    cudaMalloc(&out, n * sizeof(float));
  }
  ~Memory() {
    cudaFree(in);
    cudaFree(out);
    cudaFreeHost(up);
    cudaFreeHost(down);
  }
};

__global__ void pass_on(const float* in, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
}

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  Memory m(n);
  for (size_t i = 0; i < n; ++i) {
    double x = h_in[i];
    for (int step = 0; step < kSteps; ++step) x = 3.99 * std::fma(-x, x, x);
    m.up[i] = static_cast<float>(x);
  }
  cudaMemcpy(m.in, m.up, n * sizeof(float), cudaMemcpyHostToDevice);
  pass_on<<<(n + 255) / 256, 256>>>(m.in, m.out, n);
  cudaMemcpy(m.down, m.out, n * sizeof(float), cudaMemcpyDeviceToHost);
  for (size_t i = 0; i < n; ++i) h_out[i] = m.down[i];
}

void streams2_chunks(const float*, float*, size_t, int) {}

void streams3_one_engine(const float*, float*, size_t) {}
void streams4_events(const float*, float*, size_t) {}
