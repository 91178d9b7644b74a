// points: 100 + 10
// C with a label: every way out passes the calls that free.

#include <string.h>

#include "copy.h"

#define TRY(call)                       \
  do {                                  \
    error = (call);                     \
    if (error != cudaSuccess) goto out; \
  } while (0)

cudaError_t copy1_round_trip(const int* h_in, int* h_out, size_t n) {
  cudaError_t error;
  int* a_d = NULL;
  TRY(cudaMalloc((void**)&a_d, n * sizeof *a_d));
  TRY(cudaMemcpy(a_d, h_in, n * sizeof *a_d, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(h_out, a_d, n * sizeof *a_d, cudaMemcpyDeviceToHost));
out:
  cudaFree(a_d);
  return error;
}

cudaError_t copy2_two_buffers(const int* h_in, int* h_out, size_t n) {
  cudaError_t error;
  int *a_d = NULL, *b_d = NULL;
  TRY(cudaMalloc((void**)&a_d, n * sizeof *a_d));
  TRY(cudaMalloc((void**)&b_d, n * sizeof *b_d));
  TRY(cudaMemcpy(a_d, h_in, n * sizeof *a_d, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(b_d, a_d, n * sizeof *a_d, cudaMemcpyDeviceToDevice));
  TRY(cudaMemcpy(h_out, b_d, n * sizeof *a_d, cudaMemcpyDeviceToHost));
out:
  cudaFree(a_d);
  cudaFree(b_d);
  return error;
}

cudaError_t copy3_checked(const int* h_in, int* h_out, size_t n) { return copy2_two_buffers(h_in, h_out, n); }

cudaError_t copy4_pinned(const int* h_in, int* h_out, size_t n) {
  cudaError_t error;
  int *a_d = NULL, *b_d = NULL, *in_h = NULL, *out_h = NULL;
  const size_t bytes = n * sizeof(int);
  TRY(cudaMallocHost((void**)&in_h, bytes));
  TRY(cudaMallocHost((void**)&out_h, bytes));
  TRY(cudaMalloc((void**)&a_d, bytes));
  TRY(cudaMalloc((void**)&b_d, bytes));
  memcpy(in_h, h_in, bytes);
  TRY(cudaMemcpy(a_d, in_h, bytes, cudaMemcpyHostToDevice));
  TRY(cudaMemcpy(b_d, a_d, bytes, cudaMemcpyDeviceToDevice));
  TRY(cudaMemcpy(out_h, b_d, bytes, cudaMemcpyDeviceToHost));
  memcpy(h_out, out_h, bytes);
out:
  cudaFree(a_d);
  cudaFree(b_d);
  cudaFreeHost(in_h);
  cudaFreeHost(out_h);
  return error;
}
