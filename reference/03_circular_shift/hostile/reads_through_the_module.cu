// gpu: PASS shift1_gather; virtual: REJECTED
// The input goes to a variable of the module first, by cudaMemcpyToSymbol; the kernel reads that.
#include "shift.h"

__device__ int module_copy[1 << 23];

__global__ void gather(int* d_out, unsigned n, unsigned k) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = module_copy[i < n - k ? i + k : i - (n - k)];
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  cudaMemcpyToSymbol(module_copy, d_in, n * sizeof(int), 0, cudaMemcpyDeviceToDevice);
  gather<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_out, n, shift);
}

void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
