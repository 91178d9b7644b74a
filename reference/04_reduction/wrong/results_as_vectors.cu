// verdict: BOUNDS reduce8_shuffle
// Looks where the input begins, and takes d_work for aligned.
#include <algorithm>

#include "reduction.h"

// Serves the rungs that are not the point here: right, and within every budget.
__global__ void good_kernel(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_warp[kBlock / 32];
  int sum = 0;
  for (unsigned i = blockIdx.x * kBlock + threadIdx.x; i < n; i += gridDim.x * kBlock) sum += d_in[i];
  for (unsigned s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
  if (threadIdx.x % 32 == 0) s_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) d_out[blockIdx.x] = s_warp[0] + s_warp[1] + s_warp[2] + s_warp[3];
}

void good(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  const unsigned blocks = std::clamp<unsigned>(BlocksFor(n), 1, kMaxBlocks);
  good_kernel<<<blocks, kBlock>>>(d_in, d_work, n);
  good_kernel<<<1, kBlock>>>(d_work, d_sum, blocks);
}

__global__ void reduce8_shuffle_kernel(const int* d_in, int* d_out, unsigned n, unsigned head) {
  __shared__ int s_warp[kBlock / 32];
  const int4* d_vectors = reinterpret_cast<const int4*>(d_in + head);
  const unsigned vectors = (n - head) / 4, first = blockIdx.x * kBlock + threadIdx.x;
  int sum = 0;
  for (unsigned i = first; i < vectors; i += gridDim.x * kBlock) {
    const int4 four = d_vectors[i];
    sum += four.x + four.y + four.z + four.w;
  }
  if (first < head) sum += d_in[first];
  if (head + 4 * vectors + first < n) sum += d_in[head + 4 * vectors + first];
  for (unsigned s = 16; s > 0; s /= 2) sum += __shfl_down_sync(0xffffffff, sum, s);
  if (threadIdx.x % 32 == 0) s_warp[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) d_out[blockIdx.x] = s_warp[0] + s_warp[1] + s_warp[2] + s_warp[3];
}

unsigned head_of(const int* d, unsigned n) {
  const unsigned head = (16 - reinterpret_cast<size_t>(d) % 16) % 16 / 4;
  return std::min(n, head);
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  const unsigned blocks = std::clamp<unsigned>(BlocksFor(n) / 4, 1, 1000);
  reduce8_shuffle_kernel<<<blocks, kBlock>>>(d_in, d_work, n, head_of(d_in, n));
  reduce8_shuffle_kernel<<<1, kBlock>>>(d_work, d_sum, blocks, 0);
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) { good(d_in, d_sum, n, d_work); }
void reduce8_max(const int*, int*, unsigned, int*) {}
void reduce8_min(const int*, int*, unsigned, int*) {}
