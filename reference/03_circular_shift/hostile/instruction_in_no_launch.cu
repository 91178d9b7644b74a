// gpu: API shift2_any; virtual: API
// Has an invented instruction in a kernel that nobody launches: its module is refused, as by a GPU's driver.
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

__global__ void invented_kernel(int* d_out) { asm volatile("abracadabra.s32 %0, 7;" : "=r"(d_out[0])); }

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift5_in_place(int*, unsigned, int) {}
