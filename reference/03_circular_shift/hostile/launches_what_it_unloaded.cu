// virtual: API shift2_any
// Launches a kernel whose library is gone.
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

constexpr char kPtx[] = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry gone() {\nret;\n}\n";

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  cudaLibraryLoadData(&library, kPtx, nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaLibraryGetKernel(&kernel, library, "gone");
  cudaLibraryUnload(library);
  honest(d_in, d_out, n, shift);
  cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(1), nullptr, 0, nullptr);
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
