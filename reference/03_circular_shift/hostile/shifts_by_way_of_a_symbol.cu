// virtual: REJECTED shift2_any
// Copies the input to a __device__ array, from there to the host, and back as kernel parameters.
#include "shift.h"

constexpr unsigned kPart = 512;
__device__ int held[1 << 22];
struct Part {
  int values[kPart];
};
__global__ void store_kernel(Part part, int* d_out, unsigned n) {
  if (threadIdx.x < n) d_out[threadIdx.x] = part.values[threadIdx.x];
}
int host_in[1 << 22];

void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0 || n > 1 << 22) return;
  const long long rest = static_cast<long long>(shift) % n;
  const unsigned offset = rest < 0 ? rest + n : rest;
  cudaMemcpyToSymbol(held, d_in, sizeof(int) * n, 0, cudaMemcpyDeviceToDevice);
  cudaMemcpyFromSymbol(host_in, held, sizeof(int) * n);
  for (unsigned begin = 0; begin < n; begin += kPart) {
    Part part;
    for (unsigned k = 0; k < kPart && begin + k < n; ++k) part.values[k] = host_in[(begin + k + offset) % n];
    store_kernel<<<1, kPart>>>(part, d_out + begin, n - begin);
  }
}

void shift1_gather(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
void shift5_in_place(int*, unsigned, int) {}
