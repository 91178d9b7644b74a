// verdict: CRASH copy1_round_trip
// Frees its copy on the host twice.
#include <algorithm>

#include "copy.h"

// Serves the rungs that are not the point here: right, checked, and with nothing left behind.
cudaError_t good(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  int *a_d = nullptr, *b_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&b_d, bytes);
  if (error == cudaSuccess) error = cudaMemcpy(a_d, h_in, bytes, cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, b_d, bytes, cudaMemcpyDeviceToHost);
  cudaFree(b_d);
  cudaFree(a_d);
  return error;
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  int* copy = new int[n];
  std::copy_n(h_in, n, copy);
  std::copy_n(copy, n, h_out);
  delete[] copy;
  delete[] copy;
  return good(h_in, h_out, n);
}
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) { return cudaErrorNotReady; }
