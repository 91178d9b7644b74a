// verdict: BOUNDS shift4_vectors
// Loads an int4 from where the shift points, which is not a multiple of 16 bytes.
#include "shift.h"

// Serves the rungs that are not the point here: right, and within the budgets of rungs 1 to 3.
unsigned good_offset(unsigned n, int shift) {
  const long long rest = n == 0 ? 0 : shift % static_cast<long long>(n);
  return static_cast<unsigned>(rest < 0 ? rest + n : rest);
}

__global__ void good_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned stride = gridDim.x * blockDim.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  for (; i < n - offset; i += stride) d_out[i] = d_in[i + offset];
  for (; i < n; i += stride) d_out[i] = d_in[i - (n - offset)];
}

unsigned bounded(unsigned blocks) { return blocks < kMaxBlocks ? blocks : kMaxBlocks; }

void good(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  good_kernel<<<bounded((n + kBlock - 1) / kBlock), kBlock>>>(d_in, d_out, n, good_offset(n, shift));
}

__global__ void shift4_vectors_kernel(const int* d_in, int* d_out, unsigned n, unsigned offset) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; 4 * i < n; i += stride) {
    if (4 * i + 4 + offset <= n) {
      reinterpret_cast<int4*>(d_out)[i] = *reinterpret_cast<const int4*>(d_in + 4 * i + offset);
      continue;
    }
    for (unsigned k = 4 * i; k < n && k < 4 * i + 4; ++k) d_out[k] = d_in[k + offset < n ? k + offset : k + offset - n];
  }
}

void shift4_vectors(const int* d_in, int* d_out, unsigned n, int shift) {
  if (n == 0) return;
  shift4_vectors_kernel<<<bounded((n / 4 + kBlock) / kBlock), kBlock>>>(d_in, d_out, n, good_offset(n, shift));
}

void shift1_gather(const int* d_in, int* d_out, unsigned n, int shift) { good(d_in, d_out, n, shift); }
void shift2_any(const int* d_in, int* d_out, unsigned n, int shift) { good(d_in, d_out, n, shift); }
void shift3_grid_stride(const int* d_in, int* d_out, unsigned n, int shift) { good(d_in, d_out, n, shift); }
void shift5_in_place(int*, unsigned, int) {}
