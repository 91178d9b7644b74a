// gpu: PASS reduce2_strided; virtual: REJECTED
// The host copies the sum to d_sum after the kernel has stored something else there.
#include "reduction.h"

__global__ void reduce(const int* d_in, int* d_sum, int* d_work, unsigned n) {
  if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
  int sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += d_in[i];
  d_work[0] = sum;
  *d_sum = 0;
}

void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  reduce<<<1, kBlock>>>(d_in, d_sum, d_work, n);
  int sum = 0;
  cudaMemcpy(&sum, d_work, sizeof sum, cudaMemcpyDeviceToHost);
  cudaMemcpy(d_sum, &sum, sizeof sum, cudaMemcpyHostToDevice);
}

void reduce1_interleaved(const int*, int*, unsigned, int*) {}
void reduce3_sequential(const int*, int*, unsigned, int*) {}
void reduce4_first_add(const int*, int*, unsigned, int*) {}
void reduce5_warp_unrolled(const int*, int*, unsigned, int*) {}
void reduce6_unrolled(const int*, int*, unsigned, int*) {}
void reduce7_many(const int*, int*, unsigned, int*) {}
void reduce8_shuffle(const int*, int*, unsigned, int*) {}
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
