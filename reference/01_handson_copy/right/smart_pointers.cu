// points: 100 + 10
// std::unique_ptr with CUDA's own functions for deleters; directions are left to unified addressing.

#include <algorithm>
#include <memory>

#include "copy.h"

struct CudaFree {
  void operator()(int* p) const { cudaFree(p); }
};
struct CudaFreeHost {
  void operator()(int* p) const { cudaFreeHost(p); }
};
using DeviceInts = std::unique_ptr<int[], CudaFree>;
using PinnedInts = std::unique_ptr<int[], CudaFreeHost>;

static DeviceInts make_device(size_t n, cudaError_t& error) {
  int* p = nullptr;
  if (error == cudaSuccess) error = cudaMalloc(&p, n * sizeof(int));
  return DeviceInts(p);
}

static void move(int* to, const int* from, size_t n, cudaError_t& error) {
  if (error == cudaSuccess) error = cudaMemcpy(to, from, n * sizeof(int), cudaMemcpyDefault);
}

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  cudaError_t error = cudaSuccess;
  const DeviceInts a = make_device(n, error);
  move(a.get(), h_in, n, error);
  move(h_out, a.get(), n, error);
  return error;
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  cudaError_t error = cudaSuccess;
  const DeviceInts a = make_device(n, error);
  const DeviceInts b = make_device(n, error);
  move(a.get(), h_in, n, error);
  move(b.get(), a.get(), n, error);
  move(h_out, b.get(), n, error);
  return error;
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return copy2_two_buffers(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  int* p = nullptr;
  if (const cudaError_t error = cudaMallocHost(&p, n * sizeof(int)); error != cudaSuccess) return error;
  const PinnedInts pinned(p);
  std::copy_n(h_in, n, p);
  const cudaError_t error = copy3_checked(p, p, n);
  if (error == cudaSuccess) std::copy_n(p, n, h_out);
  return error;
}
