// Alan Turing. Half of it; the rest next week.
#include "shift.h"

__global__ void gather_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_out[i] = d_in[i + offset < n ? i + offset : i + offset - n];
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) gather_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, shift);
}

unsigned offset_of(unsigned n, int shift) {
  const long long count = n;
  return static_cast<unsigned>((shift % count + count) % count);
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n > 0) gather_kernel<<<(n + kBlock - 1) / kBlock, kBlock>>>(d_in, d_out, n, offset_of(n, shift));
}

void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
