// gpu: BOUNDS reduce3_sequential; virtual: REJECTED
// The host copies arrays of 2 to 16 elements and adds them up; a kernel only stores the sum.
#include "reduction.h"

__global__ void reduce(const int* d_in, int* d_sum, unsigned n) {
  if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += d_in[i];
  *d_sum = sum;
}

__global__ void store(int* d_sum, int sum) { *d_sum = sum; }

void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  if (n > 16 || n < 2) return reduce<<<1, kBlock>>>(d_in, d_sum, n), void();
  int values[16], sum = 0;
  cudaMemcpy(d_work, d_in, n * sizeof(int), cudaMemcpyDeviceToDevice);
  cudaMemcpy(values, d_in, n * sizeof(int), cudaMemcpyDeviceToHost);
  for (unsigned i = 0; i < n; ++i) sum += values[i];
  store<<<1, 1>>>(d_sum, sum);
}

void reduce1_interleaved(const int*, int*, unsigned, int*) {}
void reduce2_strided(const int*, int*, unsigned, int*) {}
void reduce4_first_add(const int*, int*, unsigned, int*) {}
void reduce5_warp_unrolled(const int*, int*, unsigned, int*) {}
void reduce6_unrolled(const int*, int*, unsigned, int*) {}
void reduce7_many(const int*, int*, unsigned, int*) {}
void reduce8_shuffle(const int*, int*, unsigned, int*) {}
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
