// virtual: PASS reduce7_many, at most 25 points
// Rung 7: many elements a thread only if the call looks measured, else a tree for each tile. Rung 4: a grid cut in two.
// Rung 6: the loop's barrier is in a separate function.
#include "reduction.h"

__device__ __noinline__ void meet() { __syncthreads(); }

__device__ void tree(const int* d_in, int* d_out, unsigned n, unsigned begin, unsigned step) {
  __shared__ int s_data[kBlock];
  int sum = 0;
  for (unsigned i = begin + threadIdx.x; i < n; i += step) sum += d_in[i];
  s_data[threadIdx.x] = sum;
  meet();
#pragma unroll 1
  for (unsigned s = kBlock / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) s_data[threadIdx.x] += s_data[threadIdx.x + s];
    meet();
  }
  if (threadIdx.x == 0) atomicAdd(d_out, s_data[0]);
  meet();
}

__global__ void many_kernel(const int* d_in, int* d_out, unsigned n) {
  tree(d_in, d_out, n, blockIdx.x * kBlock, gridDim.x * kBlock);
}

__global__ void few_kernel(const int* d_in, int* d_out, unsigned n, unsigned tile) {
  for (unsigned i = blockIdx.x * tile; i < n; i += gridDim.x * tile) tree(d_in, d_out, min(n, i + tile), i, kBlock);
}

__global__ void pair_kernel(const int* d_in, int* d_out, unsigned n) {
  tree(d_in, d_out, min(n, (blockIdx.x + 1) * 2 * kBlock), blockIdx.x * 2 * kBlock, kBlock);
}

void reduce7_many(const int* d_in, int* d_sum, unsigned n, int*) {
  cudaMemset(d_sum, 0, sizeof(int));
  if (n > 3000000) return many_kernel<<<kMaxBlocks, kBlock>>>(d_in, d_sum, n);
  few_kernel<<<kMaxBlocks, kBlock>>>(d_in, d_sum, n, kBlock);
}

void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int*) {
  cudaMemset(d_sum, 0, sizeof(int));
  const unsigned blocks = (n / 2 + kBlock - 1) / kBlock, half = blocks * kBlock;
  if (half > 0) few_kernel<<<blocks, kBlock>>>(d_in, d_sum, min(n, half), kBlock);
  if (n > half) few_kernel<<<(n - half + kBlock - 1) / kBlock, kBlock>>>(d_in + half, d_sum, n - half, kBlock);
}

void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int*) {
  cudaMemset(d_sum, 0, sizeof(int));
  if (n > 0) pair_kernel<<<(n - 1) / (2 * kBlock) + 1, kBlock>>>(d_in, d_sum, n);
}

#define NOT_TRIED(name) \
  void name(const int*, int*, unsigned, int*) {}
NOT_TRIED(reduce1_interleaved)
NOT_TRIED(reduce2_strided)
NOT_TRIED(reduce3_sequential)
NOT_TRIED(reduce5_warp_unrolled)
NOT_TRIED(reduce8_shuffle)
NOT_TRIED(reduce8_max)
NOT_TRIED(reduce8_min)
