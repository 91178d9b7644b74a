// verdict: RACE copy4_pinned
// Clears the buffer while an asynchronous copy may still have to read it.
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

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  const size_t bytes = n * sizeof(int);
  int *a_d = nullptr, *b_d = nullptr, *staging = nullptr;
  cudaStream_t first = nullptr, second = nullptr;
  cudaError_t error = cudaMalloc(&a_d, bytes);
  if (error == cudaSuccess) error = cudaMalloc(&b_d, bytes);
  if (error == cudaSuccess) error = cudaMallocHost(&staging, bytes);
  if (error == cudaSuccess) error = cudaStreamCreate(&first);
  if (error == cudaSuccess) error = cudaStreamCreate(&second);
  if (error == cudaSuccess) {
    std::copy_n(h_in, n, staging);
    error = cudaMemcpyAsync(a_d, staging, bytes, cudaMemcpyHostToDevice, first);
    // So that nothing is left over from before.
    std::fill_n(staging, n, 0);
  }
  if (error == cudaSuccess) error = cudaMemcpyAsync(b_d, a_d, bytes, cudaMemcpyDeviceToDevice, first);
  if (error == cudaSuccess) error = cudaMemcpyAsync(staging, b_d, bytes, cudaMemcpyDeviceToHost, first);
  if (error == cudaSuccess) error = cudaStreamSynchronize(first);
  if (error == cudaSuccess) std::copy_n(staging, n, h_out);
  if (first != nullptr) cudaStreamDestroy(first);
  if (second != nullptr) cudaStreamDestroy(second);
  cudaFreeHost(staging);
  cudaFree(b_d);
  cudaFree(a_d);
  return error;
}

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return good(h_in, h_out, n); }
