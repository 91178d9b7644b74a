// virtual: REJECTED shift5_in_place, at most 5 points
// "No other memory" but what a kernel takes with malloc().
#include "shift.h"

__device__ int* d_heap;
__global__ void take(unsigned n) { d_heap = static_cast<int*>(malloc(4ull * n)); }
__global__ void give() { free(d_heap); }
__global__ void out(const int* d_data, unsigned n, unsigned offset) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_heap[i] = d_data[i < n - offset ? i + offset : i - (n - offset)];
}
__global__ void back(int* d_data, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) d_data[i] = d_heap[i];
}

void shift5_in_place(int* d_data, unsigned n, int shift) {
  if (n == 0) return;
  long long offset = shift % static_cast<long long>(n);
  if (offset < 0) offset += n;
  if (offset == 0) return;
  // A GPU takes no other size once kernels have run.
  if (cudaDeviceSetLimit(cudaLimitMallocHeapSize, 1 << 28) != cudaSuccess) cudaGetLastError();
  take<<<1, 1>>>(n);
  out<<<(n + 255) / 256, 256>>>(d_data, n, static_cast<unsigned>(offset));
  back<<<(n + 255) / 256, 256>>>(d_data, n);
  give<<<1, 1>>>();
}

// Left out.
void shift1_gather(const int*, int*, unsigned, int) {}
void shift2_any(const int*, int*, unsigned, int) {}
void shift3_grid_stride(const int*, int*, unsigned, int) {}
void shift4_vectors(const int*, int*, unsigned, int) {}
