// virtual: BOUNDS shift2_any
// The kernel copies to mapped host memory; the host shifts there, and a kernel copies back.
#include "shift.h"

__global__ void copy_kernel(const int* from, int* to, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) to[i] = from[i];
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long rest = static_cast<long long>(shift) % n;
  const unsigned offset = rest < 0 ? rest + n : rest;
  int *from, *to;
  cudaHostAlloc(&from, sizeof(int) * n, cudaHostAllocMapped);
  cudaHostAlloc(&to, sizeof(int) * n, cudaHostAllocMapped);
  copy_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, from, n);
  cudaDeviceSynchronize();
  for (unsigned i = 0; i < n; ++i) to[i] = from[(i + offset) % n];
  copy_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(to, d_out, n);
  cudaDeviceSynchronize();
  cudaFreeHost(from);
  cudaFreeHost(to);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
