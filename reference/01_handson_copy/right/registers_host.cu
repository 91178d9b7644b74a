// points: 100 + 10
// Rung 4 page-locks a vector instead of allocating page-locked memory; if n is 0, nothing is done.

#include <vector>

#include "copy.h"

namespace mine {
cudaError_t round(const int* from, int* to, size_t n) {
  const size_t bytes = n * sizeof(int);
  int* a_d = nullptr;
  int* b_d = nullptr;
  cudaError_t error;
  if ((error = cudaMalloc(&a_d, bytes)) == cudaSuccess) {
    if ((error = cudaMalloc(&b_d, bytes)) == cudaSuccess) {
      if ((error = cudaMemcpy(a_d, from, bytes, cudaMemcpyHostToDevice)) == cudaSuccess) {
        if ((error = cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice)) == cudaSuccess) {
          error = cudaMemcpy(to, b_d, bytes, cudaMemcpyDeviceToHost);
        }
      }
      cudaFree(b_d);
    }
    cudaFree(a_d);
  }
  return error;
}
}  // namespace mine

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  if (n == 0) return cudaSuccess;
  int* a_d = nullptr;
  cudaError_t error = cudaMalloc(&a_d, n * sizeof(int));
  if (error != cudaSuccess) return error;
  error = cudaMemcpy(a_d, h_in, n * sizeof(int), cudaMemcpyHostToDevice);
  if (error == cudaSuccess) error = cudaMemcpy(h_out, a_d, n * sizeof(int), cudaMemcpyDeviceToHost);
  const cudaError_t freed = cudaFree(a_d);
  return error == cudaSuccess ? freed : error;
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  return n == 0 ? cudaSuccess : mine::round(h_in, h_out, n);
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return copy2_two_buffers(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  if (n == 0) return cudaSuccess;
  std::vector<int> staging(h_in, h_in + n);
  cudaError_t error = cudaHostRegister(staging.data(), n * sizeof(int), cudaHostRegisterDefault);
  if (error != cudaSuccess) return error;
  error = mine::round(staging.data(), staging.data(), n);
  cudaHostUnregister(staging.data());
  if (error == cudaSuccess) std::copy(staging.begin(), staging.end(), h_out);
  return error;
}
