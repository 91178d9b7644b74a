// The coalescing experiment of assignment 08: each of the reference's patterns on 3 M floats, and the course's row with
// idle threads. Prints the names of the patterns in launch order. With --time=N also two times per launch in
// microseconds, medians of N batches: on the same buffers each time, which stay in a cache, and on others each time.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "coalescing.h"

namespace {

constexpr unsigned kFloats = 3u << 20, kStructures = kFloats / 3, kBlock = 256;
constexpr int kBatch = 20;
constexpr int kPairs = 16;  // of buffers: 400 MB, more than any cache holds

__global__ void some_idle_kernel(const float* d_in, float* d_out) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
  if ((t & 7) != 0) d_out[t] = d_in[t] + 1;
}

void some_idle(const float* d_in, float* d_out, unsigned n) { some_idle_kernel<<<n / kBlock, kBlock>>>(d_in, d_out); }

struct Pattern {
  const char* name;
  void (*launch)(const float*, float*, unsigned);
  unsigned n;
};

constexpr Pattern kPatterns[] = {
    {"aligned", coalesce2_aligned, kFloats},
    {"aligned, one thread in eight idle", some_idle, kFloats},
    {"misaligned by one float", coalesce3_misaligned, kFloats},
    {"strided by 32 floats", coalesce4_strided, kFloats},
    {"neighbours swapped", coalesce5_permuted, kFloats},
    {"array of structures", coalesce6_structures, kStructures},
    {"structure of arrays", coalesce7_arrays, kStructures},
    {"array of structures, staged", coalesce8_staged, kStructures},
};

struct Buffers {
  float *in, *out;
};

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

// The median time of one launch.
double MedianMicroseconds(const Pattern& pattern, const std::vector<Buffers>& buffers, int batches) {
  cudaEvent_t begin, end;
  Check(cudaEventCreate(&begin), "cudaEventCreate");
  Check(cudaEventCreate(&end), "cudaEventCreate");
  std::vector<float> times;
  size_t next = 0;
  for (int k = -1; k < batches; ++k) {  // the first warms up
    Check(cudaEventRecord(begin), pattern.name);
    for (int launch = 0; launch < kBatch; ++launch) {
      const Buffers& pair = buffers[next++ % buffers.size()];
      pattern.launch(pair.in, pair.out, pattern.n);
    }
    Check(cudaEventRecord(end), pattern.name);
    Check(cudaEventSynchronize(end), pattern.name);
    float ms = 0;
    Check(cudaEventElapsedTime(&ms, begin, end), pattern.name);
    if (k >= 0) times.push_back(ms / kBatch);
  }
  std::nth_element(times.begin(), times.begin() + batches / 2, times.end());
  return 1e3 * times[batches / 2];
}

}  // namespace

int main(int argc, char** argv) {
  int timed = 0;
  if (argc == 2 && std::sscanf(argv[1], "--time=%d", &timed) != 1) argc = 3;
  if (argc > 2) {
    std::fprintf(stderr, "usage: %s [--time=N]\n", argv[0]);
    return 2;
  }
  std::vector<Buffers> buffers(timed > 0 ? kPairs : 1);
  for (Buffers& pair : buffers) {
    Check(cudaMalloc(&pair.in, kFloats * sizeof(float)), "cudaMalloc");
    Check(cudaMalloc(&pair.out, kFloats * sizeof(float)), "cudaMalloc");
  }
  for (const Pattern& pattern : kPatterns) {
    pattern.launch(buffers[0].in, buffers[0].out, pattern.n);
    Check(cudaGetLastError(), pattern.name);
    Check(cudaDeviceSynchronize(), pattern.name);
    if (timed > 0) {
      const double cached = MedianMicroseconds(pattern, {buffers[0]}, timed);
      std::printf("%s\t%.2f\t%.2f\n", pattern.name, cached, MedianMicroseconds(pattern, buffers, timed));
    } else {
      std::printf("%s\n", pattern.name);
    }
  }
  return 0;
}
