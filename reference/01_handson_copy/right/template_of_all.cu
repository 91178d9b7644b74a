// points: 100 + 10
// One template serves all four rungs: with or without a second buffer, with or without page-locked memory.

#include <cstring>

#include "copy.h"

template <bool kTwo, bool kPinned>
static cudaError_t copy(const int* h_in, int* h_out, const size_t n) {
  const size_t bytes = n * sizeof(int);
  int *pinned = nullptr, *d[2] = {nullptr, nullptr};
  const auto finish = [&](cudaError_t error) {
    for (int* p : d) cudaFree(p);
    if (kPinned) cudaFreeHost(pinned);
    return error;
  };
  cudaError_t error;
  if (kPinned) {
    if ((error = cudaMallocHost(&pinned, bytes)) != cudaSuccess) return finish(error);
    std::memcpy(pinned, h_in, bytes);
  }
  for (int i = 0; i < (kTwo ? 2 : 1); ++i) {
    if ((error = cudaMalloc(&d[i], bytes)) != cudaSuccess) return finish(error);
  }
  error = cudaMemcpy(d[0], kPinned ? pinned : h_in, bytes, cudaMemcpyHostToDevice);
  if (error != cudaSuccess) return finish(error);
  if (kTwo) {
    error = cudaMemcpy(d[1], d[0], bytes, cudaMemcpyDeviceToDevice);
    if (error != cudaSuccess) return finish(error);
  }
  error = cudaMemcpy(kPinned ? pinned : h_out, d[kTwo], bytes, cudaMemcpyDeviceToHost);
  if (error == cudaSuccess && kPinned) std::memcpy(h_out, pinned, bytes);
  return finish(error);
}

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) { return copy<false, false>(h_in, h_out, n); }
cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) { return copy<true, false>(h_in, h_out, n); }
cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return copy<true, false>(h_in, h_out, n); }
cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) { return copy<true, true>(h_in, h_out, n); }
