// virtual: REJECTED shift2_any
// Copies the whole input, as a launcher that works on a copy may do; two more copies shift the copy.
#include "shift.h"

__global__ void copy_kernel(const int* from, int* to, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long rest = static_cast<long long>(shift) % n;
  const size_t offset = rest < 0 ? rest + n : rest;
  int *whole, *shifted;
  cudaMalloc(&whole, sizeof(int) * n);
  cudaMalloc(&shifted, sizeof(int) * n);
  cudaMemcpy(whole, d_in, sizeof(int) * n, cudaMemcpyDeviceToDevice);
  cudaMemcpy(shifted, whole + offset, sizeof(int) * (n - offset), cudaMemcpyDeviceToDevice);
  if (offset > 0) cudaMemcpy(shifted + (n - offset), whole, sizeof(int) * offset, cudaMemcpyDeviceToDevice);
  copy_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(shifted, d_out, n);
  cudaFree(whole);
  cudaFree(shifted);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
