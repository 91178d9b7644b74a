// virtual: API shift2_any
// Frees the judge's input buffer.
#include "shift.h"

// An honest shift.
__global__ void shift_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = d_in[i < n - offset ? i + offset : i - (n - offset)];
}

void honest(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long rest = static_cast<long long>(shift) % n;
  shift_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, rest < 0 ? rest + n : rest);
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  honest(d_in, d_out, n, shift);
  cudaFree(const_cast<int*>(d_in));
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
