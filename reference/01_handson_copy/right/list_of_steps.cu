// points: 100 + 10
// The work is a list of steps; the first that fails ends it. Buffers are freed from another list.

#include <cstring>
#include <functional>
#include <vector>

#include "copy.h"

using Step = std::function<cudaError_t()>;

static cudaError_t run(const std::vector<Step>& steps) {
  for (const Step& step : steps) {
    if (const cudaError_t error = step(); error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

struct Arena {
  std::vector<int*> device, host;
  ~Arena() {
    for (int* p : device) cudaFree(p);
    for (int* p : host) cudaFreeHost(p);
  }
  cudaError_t allocate(int** p, size_t n) {
    const cudaError_t error = cudaMalloc(p, n * sizeof(int));
    if (error == cudaSuccess) device.push_back(*p);
    return error;
  }
  cudaError_t lock(int** p, size_t n) {
    const cudaError_t error = cudaMallocHost(p, n * sizeof(int));
    if (error == cudaSuccess) host.push_back(*p);
    return error;
  }
};

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  Arena arena;
  int* a = nullptr;
  return run({[&] { return arena.allocate(&a, n); },
              [&] { return cudaMemcpy(a, h_in, n * sizeof(int), cudaMemcpyHostToDevice); },
              [&] { return cudaMemcpy(h_out, a, n * sizeof(int), cudaMemcpyDeviceToHost); }});
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  Arena arena;
  int *a = nullptr, *b = nullptr;
  return run({[&] { return arena.allocate(&a, n); }, [&] { return arena.allocate(&b, n); },
              [&] { return cudaMemcpy(a, h_in, n * sizeof(int), cudaMemcpyHostToDevice); },
              [&] { return cudaMemcpy(b, a, n * sizeof(int), cudaMemcpyDeviceToDevice); },
              [&] { return cudaMemcpy(h_out, b, n * sizeof(int), cudaMemcpyDeviceToHost); }});
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return copy2_two_buffers(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  Arena arena;
  int *first = nullptr, *last = nullptr;
  return run({[&] { return arena.lock(&first, n); }, [&] { return arena.lock(&last, n); },
              [&] { return std::memcpy(first, h_in, n * sizeof(int)), copy3_checked(first, last, n); },
              [&] { return std::memcpy(h_out, last, n * sizeof(int)), cudaSuccess; }});
}
