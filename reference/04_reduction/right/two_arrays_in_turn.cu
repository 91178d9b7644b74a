// points: 100 + 12
// Each step reads one shared array and writes the other, so that a step has one barrier whatever it reads. Blocks of
// 256 threads from rung 6 on, 1024 on the bonus rung.
#include <algorithm>
#include <climits>

#include "reduction.h"

namespace {

typedef void (*Pass)(const int*, int*, unsigned);

void passes(Pass pass, unsigned threads, unsigned per_block, const int* d_in, int* d_out, unsigned n, int* d_work,
            unsigned limit = 0xffffffff) {
  int *now = d_work, *next = d_work + BlocksFor(n);
  for (; n > per_block; std::swap(now, next)) {
    const unsigned blocks = std::min(limit, static_cast<unsigned>((n + 0ull + per_block - 1) / per_block));
    pass<<<blocks, threads>>>(d_in, now, n);
    d_in = now;
    n = blocks;
  }
  pass<<<1, threads>>>(d_in, d_out, n);
}

__global__ void modulo(const int* in, int* out, unsigned n) {
  __shared__ int buffer[2][kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int from = 0;
  buffer[from][t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2, from ^= 1) {
    int v = buffer[from][t];
    if (t % (2 * s) == 0) v += buffer[from][t + s];
    buffer[from ^ 1][t] = v;
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = buffer[from][0];
}

// Sums move together: after a step the first half of the threads has all of them.
__global__ void packed(const int* in, int* out, unsigned n) {
  __shared__ int buffer[2][kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  int from = 0;
  buffer[from][t] = i < n ? in[i] : 0;
  for (unsigned left = blockDim.x / 2; left > 0; left /= 2, from ^= 1) {
    __syncthreads();
    if (t < left) buffer[from ^ 1][t] = buffer[from][2 * t] + buffer[from][2 * t + 1];
  }
  if (t == 0) out[blockIdx.x] = buffer[from][0];
}

template <unsigned kEach>
__global__ void folded(const int* in, int* out, unsigned n) {
  __shared__ int buffer[2][kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * kEach * blockDim.x + t;
  int from = 0, v = i < n ? in[i] : 0;
  if (kEach == 2) v += i + blockDim.x < n ? in[i + blockDim.x] : 0;
  buffer[from][t] = v;
  for (unsigned left = blockDim.x / 2; left > 0; left /= 2, from ^= 1) {
    __syncthreads();
    if (t < left) buffer[from ^ 1][t] = buffer[from][t] + buffer[from][t + left];
  }
  if (t == 0) out[blockIdx.x] = buffer[from][0];
}

__device__ int warp_sum(volatile int* a, volatile int* b, unsigned lane) {
  b[lane] = a[lane] + a[lane + 32];
  __syncwarp();
  if (lane < 16) a[lane] = b[lane] + b[lane + 16];
  __syncwarp();
  if (lane < 8) b[lane] = a[lane] + a[lane + 8];
  __syncwarp();
  if (lane < 4) a[lane] = b[lane] + b[lane + 4];
  __syncwarp();
  if (lane < 2) b[lane] = a[lane] + a[lane + 2];
  __syncwarp();
  return lane == 0 ? b[0] + b[1] : 0;
}

__global__ void folded_to_a_warp(const int* in, int* out, unsigned n) {
  __shared__ int buffer[2][kBlock];
  const unsigned t = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + t;
  int from = 0, v = i < n ? in[i] : 0;
  v += i + blockDim.x < n ? in[i + blockDim.x] : 0;
  buffer[from][t] = v;
  __syncthreads();
  for (unsigned left = blockDim.x / 2; left > 32; left /= 2, from ^= 1) {
    if (t < left) buffer[from ^ 1][t] = buffer[from][t] + buffer[from][t + left];
    __syncthreads();
  }
  if (t < 32) {
    v = warp_sum(buffer[from], buffer[from ^ 1], t);
    if (t == 0) out[blockIdx.x] = v;
  }
}

template <unsigned kThreads>
__device__ int tree(int v) {
  __shared__ int buffer[2][kThreads];
  const unsigned t = threadIdx.x;
  int from = 0;
  buffer[from][t] = v;
  __syncthreads();
#pragma unroll
  for (unsigned left = kThreads / 2; left > 32; left /= 2) {
    if (t < left) buffer[from ^ 1][t] = buffer[from][t] + buffer[from][t + left];
    from ^= 1;
    __syncthreads();
  }
  return t < 32 ? warp_sum(buffer[from], buffer[from ^ 1], t) : 0;
}

template <unsigned kThreads, unsigned kEach>
__global__ void constant(const int* in, int* out, unsigned n) {
  int v = 0;
#pragma unroll
  for (unsigned k = 0; k < kEach; ++k) {
    const unsigned i = (blockIdx.x * kEach + k) * kThreads + threadIdx.x;
    if (i < n) v += in[i];
  }
  v = tree<kThreads>(v);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

template <unsigned kThreads>
__global__ void striding(const int* in, int* out, unsigned n) {
  int v = 0;
  unsigned i = blockIdx.x * kThreads + threadIdx.x;
  const unsigned step = gridDim.x * kThreads;
  for (; i < n && n - i > 3 * step; i += 4 * step) v += in[i] + in[i + step] + in[i + 2 * step] + in[i + 3 * step];
  for (; i < n; i += step) v += in[i];
  v = tree<kThreads>(v);
  if (threadIdx.x == 0) out[blockIdx.x] = v;
}

template <class Op>
__global__ void __launch_bounds__(1024) wide(const int* in, int* out, unsigned n) {
  __shared__ int of_warp[32];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const unsigned begin = min(n, static_cast<unsigned>(((reinterpret_cast<size_t>(in) + 15) / 16 * 16 -
                                                       reinterpret_cast<size_t>(in)) / 4));
  const unsigned fours = (n - begin) / 4;
  int v = Op::nothing;
  if (blockIdx.x == 0) {
    if (threadIdx.x < begin) v = in[threadIdx.x];
    const unsigned i = begin + 4 * fours + threadIdx.x;
    if (i < n) v = Op::join(v, in[i]);
  }
  for (unsigned i = blockIdx.x * 1024 + threadIdx.x; i < fours; i += gridDim.x * 1024) {
    const int4 four = *(reinterpret_cast<const int4*>(in + begin) + i);
    v = Op::join(v, Op::join(Op::join(four.x, four.y), Op::join(four.z, four.w)));
  }
  for (int k = 1; k < 32; k *= 2) v = Op::join(v, __shfl_xor_sync(0xffffffff, v, k));
  if (lane == 0) of_warp[warp] = v;
  __syncthreads();
  if (warp > 0) return;
  v = of_warp[lane];
  for (int k = 1; k < 32; k *= 2) v = Op::join(v, __shfl_xor_sync(0xffffffff, v, k));
  if (lane == 0) out[blockIdx.x] = v;
}

struct Plus {
  static constexpr int nothing = 0;
  static __device__ int join(int a, int b) { return a + b; }
};
struct Most {
  static constexpr int nothing = INT_MIN;
  static __device__ int join(int a, int b) { return max(a, b); }
};
struct Least {
  static constexpr int nothing = INT_MAX;
  static __device__ int join(int a, int b) { return min(a, b); }
};

template <class Op>
void wide_passes(const int* d_in, int* d_out, unsigned n, int* d_work) {
  passes(wide<Op>, 1024, 32768, d_in, d_out, n, d_work, 132);
}

}  // namespace

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(modulo, kBlock, kBlock, d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(packed, kBlock, kBlock, d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(folded<1>, kBlock, kBlock, d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(folded<2>, kBlock, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(folded_to_a_warp, kBlock, 2 * kBlock, d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(constant<256, 2>, 256, 512, d_in, d_sum, n, d_work);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(striding<256>, 256, 512, d_in, d_sum, n, d_work, kMaxBlocks);
}
void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  wide_passes<Plus>(d_in, d_sum, n, d_work);
}
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) { wide_passes<Most>(d_in, d_max, n, d_work); }
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) { wide_passes<Least>(d_in, d_min, n, d_work); }
