// virtual: TIMEOUT shift2_any
// 262,144 threads take what the kernel's heap has, in pieces, until there is none, and write to it.
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

__global__ void hoarding_kernel() {
  for (unsigned i = 0; i < 64; ++i) {
    auto* p = static_cast<unsigned*>(malloc(1000 + i));
    if (p != nullptr) *p = i;
  }
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  honest(d_in, d_out, n, shift);
  cudaDeviceSetLimit(cudaLimitMallocHeapSize, size_t{1} << 30);
  hoarding_kernel<<<1024, 256>>>();
}
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift5_in_place(int*, unsigned, int) {}
