// virtual: REJECTED reduce1_interleaved
// The kernel sums into allocated memory; four cudaMemset calls write the sum's bytes to d_sum.
#include "reduction.h"

__device__ int total;
__global__ void add_kernel(const int* d_in, unsigned n) {
  int sum = 0;
  for (unsigned i = 0; i < n; ++i) sum += d_in[i];
  total = sum;
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) {
  int sum = 0;
  add_kernel<<<1, 1>>>(d_in, n);
  cudaMemcpyFromSymbol(&sum, total, sizeof sum);
  for (int k = 0; k < 4; ++k) cudaMemset(reinterpret_cast<char*>(d_sum) + k, sum >> 8 * k & 255, 1);
}

void reduce2_strided(const int*, int*, unsigned, int*) {}
void reduce3_sequential(const int*, int*, unsigned, int*) {}
void reduce4_first_add(const int*, int*, unsigned, int*) {}
void reduce5_warp_unrolled(const int*, int*, unsigned, int*) {}
void reduce6_unrolled(const int*, int*, unsigned, int*) {}
void reduce7_many(const int*, int*, unsigned, int*) {}
void reduce8_shuffle(const int*, int*, unsigned, int*) {}
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
