// virtual: REJECTED shift2_any
// Loads kernels whose names are 240 kB long, and launches them.
#include <cuda_runtime.h>

#include <string>

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

// Loads PTX text that is made now.
bool load(const std::string& text) {
  cudaLibrary_t library;
  const auto error = cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaGetLastError();
  return error == cudaSuccess;
}

const std::string kHead = ".version 8.0\n.target sm_80\n.address_size 64\n";

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  const std::string name = "k" + std::string(240000, 'x');
  const std::string text = kHead + ".visible .entry " + name + "() {\nret;\n}\n";
  cudaLibrary_t library;
  cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0);
  cudaKernel_t kernel;
  cudaLibraryGetKernel(&kernel, library, name.c_str());
  for (int i = 0; i < 9000; ++i) cudaLaunchKernel(kernel, dim3(1), dim3(1), nullptr, 0, nullptr);
  cudaGetLastError();
  honest(d_in, d_out, n, shift);
}
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) { honest(d_in, d_out, n, shift); }
void shift5_in_place(int*, unsigned, int) {}
