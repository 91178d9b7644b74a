// Alonzo Church. Element i goes to i + shift, of course.
#include "shift.h"

__global__ void scatter_kernel(const int* d_in, int* d_out, unsigned n, unsigned shift) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[(i + shift) % n] = d_in[i];
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) scatter_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, shift);
}

void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
