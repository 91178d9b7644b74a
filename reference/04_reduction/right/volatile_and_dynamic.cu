// points: 100 + 12
// In the manner of 2010: macros, dynamic shared memory, a volatile array with __syncwarp() between its steps, block
// sizes picked by a switch, and asserts and a printf left inside.
#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include "reduction.h"

#define CHECK(call)                                                                           \
  do {                                                                                        \
    cudaError_t e_ = (call);                                                                  \
    if (e_ != cudaSuccess) printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
  } while (0)

typedef int (*Combine)(int, int);
static __device__ __forceinline__ int add(int a, int b) { return a + b; }
static __device__ __forceinline__ int larger(int a, int b) { return a > b ? a : b; }
static __device__ __forceinline__ int smaller(int a, int b) { return a < b ? a : b; }

extern __shared__ int s_dynamic[];

// The last 64 values in shared memory become one. All lanes of the first warp take part, and write what nobody reads.
template <Combine op>
__device__ void last_warp(volatile int* s, unsigned t) {
  int v = s[t];
#define STEP(d)        \
  v = op(v, s[t + d]); \
  __syncwarp();        \
  s[t] = v;            \
  __syncwarp();
  STEP(32) STEP(16) STEP(8) STEP(4) STEP(2) STEP(1)
#undef STEP
}

template <Combine op, int identity, unsigned threads>
__global__ void reduce(const int* d_in, int* d_out, unsigned n) {
  int* s = s_dynamic;
  const unsigned t = threadIdx.x;
  assert(blockDim.x == threads);
  int v = identity;
  unsigned i = blockIdx.x * (2 * threads) + t;
  while (i < n) {
    v = op(v, d_in[i]);
    if (i + threads < n) v = op(v, d_in[i + threads]);
    i += 2 * threads * gridDim.x;
  }
  if (t == 0 && d_out == NULL) printf("block %u has no place for its result\n", blockIdx.x);
  s[t] = v;
  if (t < 32) s[threads + t] = identity;
  __syncthreads();
  if (threads >= 512) {
    if (t < 256) s[t] = op(s[t], s[t + 256]);
    __syncthreads();
  }
  if (threads >= 256) {
    if (t < 128) s[t] = op(s[t], s[t + 128]);
    __syncthreads();
  }
  if (threads >= 128) {
    if (t < 64) s[t] = op(s[t], s[t + 64]);
    __syncthreads();
  }
  if (t < 32) last_warp<op>(s, t);
  if (t == 0) d_out[blockIdx.x] = s[0];
}

template <Combine op, int identity>
static void launch(unsigned threads, unsigned blocks, const int* d_in, int* d_out, unsigned n) {
  const size_t bytes = (threads + 32) * sizeof(int);
  switch (threads) {
    case 512:
      reduce<op, identity, 512><<<blocks, 512, bytes>>>(d_in, d_out, n);
      break;
    case 256:
      reduce<op, identity, 256><<<blocks, 256, bytes>>>(d_in, d_out, n);
      break;
    case 128:
      reduce<op, identity, 128><<<blocks, 128, bytes>>>(d_in, d_out, n);
      break;
    case 64:
      reduce<op, identity, 64><<<blocks, 64, bytes>>>(d_in, d_out, n);
      break;
    default:
      assert(!"no such block");
  }
  CHECK(cudaGetLastError());
}

template <Combine op, int identity>
static void passes(unsigned threads, unsigned most, const int* d_in, int* d_out, unsigned n, int* d_work) {
  const unsigned per_block = 2 * threads;
  unsigned blocks = n / per_block + (n % per_block ? 1 : 0);
  if (blocks > most) blocks = most;
  if (blocks <= 1) {
    launch<op, identity>(threads, 1, d_in, d_out, n);
    return;
  }
  launch<op, identity>(threads, blocks, d_in, d_work, n);
  passes<op, identity>(n < 4096 ? 64 : threads, most, d_work, d_out, blocks, d_work + blocks);
}

template <unsigned kWords, Combine op, int identity>
__global__ void wide(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_warp[32];
  unsigned head = (4 - (unsigned)((size_t)d_in / 4 % 4)) % 4;
  if (head > n) head = n;
  const int4* d_four = (const int4*)(d_in + head);
  const unsigned fours = (n - head) / 4, t = threadIdx.x;
  int v = identity;
  for (unsigned i = blockIdx.x * blockDim.x * kWords + t; i < fours; i += blockDim.x * kWords * gridDim.x) {
    int4 f[kWords];
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k) {
      f[k] =
          i + k * blockDim.x < fours ? d_four[i + k * blockDim.x] : make_int4(identity, identity, identity, identity);
    }
#pragma unroll
    for (unsigned k = 0; k < kWords; ++k) v = op(v, op(op(f[k].x, f[k].y), op(f[k].z, f[k].w)));
  }
  if (blockIdx.x == gridDim.x - 1) {
    if (t < head)
      v = op(v, d_in[t]);
    else if (t >= 32 && head + 4 * fours + (t - 32) < n)
      v = op(v, d_in[head + 4 * fours + (t - 32)]);
  }
  for (int d = 1; d < 32; d <<= 1) v = op(v, __shfl_xor_sync(0xffffffff, v, d));
  if (t % 32 == 0) s_warp[t / 32] = v;
  __syncthreads();
  const unsigned warps = blockDim.x / 32;
  if (t < warps) {
    const unsigned mask = warps == 32 ? 0xffffffffu : (1u << warps) - 1;
    v = s_warp[t];
    for (int d = warps / 2; d > 0; d >>= 1) v = op(v, __shfl_down_sync(mask, v, d));
    if (t == 0) d_out[blockIdx.x] = v;
  }
}

template <Combine op, int identity>
static void reduce8(const int* d_in, int* d_out, unsigned n, int* d_work) {
  unsigned blocks = n / 16384 + 1;
  if (blocks > 1024) blocks = 1024;
  wide<4, op, identity><<<blocks, 256>>>(d_in, d_work, n);
  wide<1, op, identity><<<1, 1024>>>(d_work, d_out, blocks);
  CHECK(cudaGetLastError());
}

#define SUM(name, threads, most)                                    \
  void name(const int* d_in, int* d_sum, unsigned n, int* d_work) { \
    passes<add, 0>(threads, most, d_in, d_sum, n, d_work);          \
  }
SUM(reduce1_interleaved, 128, UINT_MAX)
SUM(reduce2_strided, 128, UINT_MAX)
SUM(reduce3_sequential, 128, UINT_MAX)
SUM(reduce4_first_add, 128, UINT_MAX)
SUM(reduce5_warp_unrolled, 256, UINT_MAX)
SUM(reduce6_unrolled, 512, UINT_MAX)
SUM(reduce7_many, 128, 64)
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) { reduce8<add, 0>(d_in, d_sum, n, d_work); }
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) {
  reduce8<larger, INT_MIN>(d_in, d_max, n, d_work);
}
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) {
  reduce8<smaller, INT_MAX>(d_in, d_min, n, d_work);
}
