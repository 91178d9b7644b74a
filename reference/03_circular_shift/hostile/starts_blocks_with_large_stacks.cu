// virtual: TIMEOUT shift2_any
// Each of a million threads gets 100 KB of local memory, and uses a byte of it.
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

__global__ void wide_kernel(int* d_out, unsigned n) {
  volatile char wide[100 << 10];
  wide[threadIdx.x] = 1;
  if (n == 0) d_out[0] = wide[threadIdx.x / 2];
}

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  honest(d_in, d_out, n, shift);
  wide_kernel<<<2'000'000, 1024>>>(d_out, n == 0 ? 1 : n);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
