// virtual: REJECTED copy1_round_trip
// cudaMemcpy from host to host, which no device sees.
#include "copy.h"

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  return cudaMemcpy(h_out, h_in, sizeof(int) * n, cudaMemcpyHostToHost);
}

cudaError_t copy2_two_buffers(const int*, int*, size_t) { return cudaErrorNotReady; }
cudaError_t copy3_checked(const int*, int*, size_t) { return cudaErrorNotReady; }
cudaError_t copy4_pinned(const int*, int*, size_t) { return cudaErrorNotReady; }
