// points: 100 + 12
// Every step reads, waits, writes, waits: it needs no second thought about who may read what, and costs a barrier more.
// The block's size and the loop's are ints; passes are a for loop over the two halves of d_work.
#include <limits.h>

#include "reduction.h"

typedef void (*kernel_t)(const int *, int *, int);

void passes(kernel_t kernel, int per_block, int most, const int *d_in, int *d_out, unsigned n, int *d_work) {
  int *half[2] = {d_work, d_work + BlocksFor(n)};
  int count = n;
  for (int pass = 0;; pass++) {
    int blocks = count == 0 ? 1 : (count - 1) / per_block + 1;
    if (blocks > most) blocks = most;
    int *out = blocks == 1 ? d_out : half[pass % 2];
    kernel<<<blocks, kBlock>>>(d_in, out, count);
    if (blocks == 1) return;
    d_in = out;
    count = blocks;
  }
}

__global__ void k1(const int *in, int *out, int n) {
  __shared__ int data[kBlock];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[t] = 0;
  if (i < n) data[t] = in[i];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s = s * 2) {
    int other = 0;
    if (t % (2 * s) == 0) other = data[t + s];
    __syncthreads();
    data[t] += other;
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void k2(const int *in, int *out, int n) {
  __shared__ int data[kBlock];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[t] = 0;
  if (i < n) data[t] = in[i];
  __syncthreads();
  for (int s = 1; s < blockDim.x; s = s * 2) {
    int sum = 0;
    if (2 * s * t < blockDim.x) sum = data[2 * s * t] + data[2 * s * t + s];
    __syncthreads();
    if (2 * s * t < blockDim.x) data[2 * s * t] = sum;
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void k3(const int *in, int *out, int n) {
  __shared__ int data[kBlock];
  int t = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
  data[t] = 0;
  if (i < n) data[t] = in[i];
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s = s / 2) {
    int other = 0;
    if (t < s) other = data[t + s];
    __syncthreads();
    if (t < s) data[t] += other;
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = data[0];
}

__global__ void k4(const int *in, int *out, int n) {
  __shared__ int data[kBlock];
  int t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  int mine = 0;
  if (i < n) mine = in[i];
  if (i + (int)blockDim.x < n) mine += in[i + blockDim.x];
  data[t] = mine;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 0; s = s / 2) {
    if (t < s) mine += data[t + s];
    __syncthreads();
    data[t] = mine;
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = mine;
}

__device__ int last_warp(int *data, int t, int mine) {
  mine += data[t + 32];
  __syncwarp();
  data[t] = mine;
  __syncwarp();
  mine += data[t + 16];
  __syncwarp();
  data[t] = mine;
  __syncwarp();
  mine += data[t + 8];
  __syncwarp();
  data[t] = mine;
  __syncwarp();
  mine += data[t + 4];
  __syncwarp();
  data[t] = mine;
  __syncwarp();
  mine += data[t + 2];
  __syncwarp();
  data[t] = mine;
  __syncwarp();
  mine += data[t + 1];
  return mine;
}

__global__ void k5(const int *in, int *out, int n) {
  __shared__ int data[kBlock];
  int t = threadIdx.x, i = 2 * blockIdx.x * blockDim.x + threadIdx.x;
  int mine = 0;
  if (i < n) mine = in[i];
  if (i + (int)blockDim.x < n) mine += in[i + blockDim.x];
  data[t] = mine;
  __syncthreads();
  for (int s = blockDim.x / 2; s > 32; s = s / 2) {
    if (t < s) mine += data[t + s];
    __syncthreads();
    data[t] = mine;
    __syncthreads();
  }
  if (t < 32) mine = last_warp(data, t, mine);
  if (t == 0) out[blockIdx.x] = mine;
}

template <int threads>
__device__ int tree(int *data, int t, int mine) {
  data[t] = mine;
  __syncthreads();
#pragma unroll
  for (int s = threads / 2; s > 32; s = s / 2) {
    if (t < s) mine += data[t + s];
    __syncthreads();
    data[t] = mine;
    __syncthreads();
  }
  if (t < 32) mine = last_warp(data, t, mine);
  return mine;
}

template <int threads>
__global__ void k6(const int *in, int *out, int n) {
  __shared__ int data[threads];
  int t = threadIdx.x, i = 2 * blockIdx.x * threads + threadIdx.x;
  int mine = 0;
  if (i < n) mine = in[i];
  if (i + threads < n) mine += in[i + threads];
  mine = tree<threads>(data, t, mine);
  if (t == 0) out[blockIdx.x] = mine;
}

template <int threads>
__global__ void k7(const int *in, int *out, int n) {
  __shared__ int data[threads];
  int t = threadIdx.x;
  int mine = 0;
  for (int i = blockIdx.x * threads + t; i < n; i += gridDim.x * threads) mine += in[i];
  mine = tree<threads>(data, t, mine);
  if (t == 0) out[blockIdx.x] = mine;
}

void reduce1_interleaved(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k1, kBlock, INT_MAX, d_in, d_sum, n, d_work);
}
void reduce2_strided(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k2, kBlock, INT_MAX, d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k3, kBlock, INT_MAX, d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k4, 2 * kBlock, INT_MAX, d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k5, 2 * kBlock, INT_MAX, d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k6<kBlock>, 2 * kBlock, INT_MAX, d_in, d_sum, n, d_work);
}
void reduce7_many(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  passes(k7<kBlock>, 2 * kBlock, kMaxBlocks, d_in, d_sum, n, d_work);
}

#define ADD(a, b) ((a) + (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))

// One kernel for each operation, written by the preprocessor.
#define DEFINE_WIDE(NAME, OP, NEUTRAL)                                                            \
  __global__ void NAME(const int *in, int *out, int n) {                                          \
    __shared__ int warps[8];                                                                      \
    int t = threadIdx.x, id = blockIdx.x * 256 + t, mine = NEUTRAL;                               \
    int first = (int)((4 - ((size_t)in >> 2) % 4) % 4);                                           \
    if (first > n) first = n;                                                                     \
    int quads = (n - first) / 4;                                                                  \
    const int4 *in4 = (const int4 *)(in + first);                                                 \
    for (int q = id; q < quads; q += gridDim.x * 256) {                                           \
      int4 v = __ldg(in4 + q);                                                                    \
      int a = OP(v.x, v.y), b = OP(v.z, v.w);                                                     \
      a = OP(a, b);                                                                               \
      mine = OP(mine, a);                                                                         \
    }                                                                                             \
    if (id < first) mine = OP(mine, in[id]);                                                      \
    if (id < n - first - 4 * quads) mine = OP(mine, in[first + 4 * quads + id]);                  \
    for (int d = 16; d > 0; d = d / 2) {                                                          \
      int other = __shfl_down_sync(0xffffffff, mine, d);                                          \
      mine = OP(mine, other);                                                                     \
    }                                                                                             \
    if (t % 32 == 0) warps[t / 32] = mine;                                                        \
    __syncthreads();                                                                              \
    if (t == 0) {                                                                                 \
      for (int w = 1; w < 8; w++) mine = OP(mine, warps[w]);                                      \
      out[blockIdx.x] = mine;                                                                     \
    }                                                                                             \
  }                                                                                               \
  void run_##NAME(const int *d_in, int *d_out, unsigned n, int *d_work) {                         \
    int blocks = n < 8192 ? 1 : n < 400 * 8192 ? n / 8192 : 400;                                  \
    NAME<<<blocks, 256>>>(d_in, blocks == 1 ? d_out : d_work, n);                                 \
    if (blocks > 1) NAME<<<1, 256>>>(d_work, d_out, blocks);                                      \
  }

DEFINE_WIDE(wide_sum, ADD, 0)
DEFINE_WIDE(wide_max, LARGER, INT_MIN)
DEFINE_WIDE(wide_min, SMALLER, INT_MAX)

void reduce8_shuffle(const int *d_in, int *d_sum, unsigned n, int *d_work) { run_wide_sum(d_in, d_sum, n, d_work); }
void reduce8_max(const int *d_in, int *d_max, unsigned n, int *d_work) { run_wide_max(d_in, d_max, n, d_work); }
void reduce8_min(const int *d_in, int *d_min, unsigned n, int *d_work) { run_wide_min(d_in, d_min, n, d_work); }
