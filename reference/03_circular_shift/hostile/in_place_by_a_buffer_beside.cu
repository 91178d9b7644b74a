// virtual: BOUNDS shift5_in_place, at most 0 points
// Uses a buffer of the judge's next to d_data as second array, at an address that follows from that of d_data: the
// buffer for d_out was there.
#include "shift.h"

__device__ int* beside(int* d_data, unsigned n) {
  const unsigned long long bytes = 4ull * n;
  return reinterpret_cast<int*>(reinterpret_cast<unsigned long long>(d_data) + (bytes + 512 + 255) / 256 * 256);
}
__global__ void out(int* d_data, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) beside(d_data, n)[i] = d_data[i < n - offset ? i + offset : i - (n - offset)];
}
__global__ void back(int* d_data, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_data[i] = beside(d_data, n)[i];
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n == 0) return;
  long long offset = shift % static_cast<long long>(n);
  if (offset < 0) offset += n;
  if (offset == 0) return;
  out<<<(n + 255) / 256, 256>>>(d_data, n, static_cast<unsigned>(offset));
  back<<<(n + 255) / 256, 256>>>(d_data, n);
}

// Left out.
void shift1_gather(const int*, int*, unsigned, int) {}
void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
