// gpu: PASS shift2_any; virtual: REJECTED
// cudaMemcpy shifts the input into allocated memory; a kernel copies that unchanged.
#include "shift.h"

__global__ void copy(const int* d_from, int* d_to, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_to[i] = d_from[i];
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long turned = shift % static_cast<long long>(n);
  const size_t k = turned < 0 ? turned + n : turned;
  int* d_own = nullptr;
  cudaMalloc(&d_own, n * sizeof(int));
  cudaMemcpy(d_own, d_in + k, (n - k) * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaMemcpy(d_own + (n - k), d_in, k * sizeof(int), cudaMemcpyDeviceToDevice);
  copy<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_own, d_out, n);
  cudaFree(d_own);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
