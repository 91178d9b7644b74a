// virtual: REJECTED shift2_any
// cudaMemcpyPeer, from the device to itself.
#include "shift.h"

__global__ void idle_kernel() {}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long rest = static_cast<long long>(shift) % n;
  const size_t offset = rest < 0 ? rest + n : rest;
  cudaMemcpyPeer(d_out, 0, d_in + offset, 0, sizeof(int) * (n - offset));
  if (offset > 0) cudaMemcpyPeer(d_out + (n - offset), 0, d_in, 0, sizeof(int) * offset);
  idle_kernel<<<1, 1>>>();
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
