// points: 100 + 12
// A block has no more threads than there are elements to reduce: the size is the next power of two, and a switch picks
// the instance that was compiled for it. A pass whose length is a power of two needs no test of its loads.
#include <climits>

#include "reduction.h"

static unsigned next_power(unsigned n) {
  unsigned p = 1;
  while (p < n) p *= 2;
  return p;
}

// How a pass over n elements is cut: `each` elements a thread at least.
struct Cut {
  unsigned threads, blocks;
};

static Cut cut(unsigned n, unsigned each, unsigned most_blocks = UINT_MAX) {
  const unsigned wanted = next_power(n / each + (n % each != 0));
  Cut c;
  c.threads = wanted < kBlock ? wanted : kBlock;
  c.blocks = n <= each * c.threads ? 1 : (n - 1) / (each * c.threads) + 1;
  if (c.blocks > most_blocks) c.blocks = most_blocks;
  return c;
}

template <typename Pass>
static void passes(const int* d_in, int* d_out, unsigned n, int* d_work, unsigned each, unsigned most, Pass pass) {
  int* d_results = d_work;
  for (Cut c = cut(n, each, most);; c = cut(n, each, most)) {
    pass(c, d_in, c.blocks == 1 ? d_out : d_results, n);
    if (c.blocks == 1) return;
    d_in = d_results;
    d_results = d_in == d_work ? d_work + BlocksFor(n) : d_work;
    // The third pass may write over the first one's results.
    n = c.blocks;
  }
}

extern __shared__ int s_words[];

__global__ void by_remainder(const int* d_in, int* d_out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_words[t] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (t % (2 * s) == 0) s_words[t] += s_words[t + s];
    __syncthreads();
  }
  if (t == 0) d_out[blockIdx.x] = s_words[0];
}

__global__ void by_index(const int* d_in, int* d_out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
  s_words[t] = i < n ? d_in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    const unsigned k = 2 * s * t;
    if (k < blockDim.x) s_words[k] += s_words[k + s];
    __syncthreads();
  }
  if (t == 0) d_out[blockIdx.x] = s_words[0];
}

__global__ void by_halves(const int* d_in, int* d_out, unsigned n, unsigned each) {
  const unsigned t = threadIdx.x;
  unsigned i = blockIdx.x * each * blockDim.x + t;
  int sum = 0;
  for (unsigned k = 0; k < each; ++k, i += blockDim.x) sum += i < n ? d_in[i] : 0;
  s_words[t] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s /= 2) {
    if (t < s) s_words[t] += s_words[t + s];
    __syncthreads();
  }
  if (t == 0) d_out[blockIdx.x] = s_words[0];
}

// What is left for one warp, by shuffles among the lanes that exist.
__device__ int finish(int sum, unsigned lanes) {
  const unsigned mask = lanes >= 32 ? 0xffffffff : (1u << lanes) - 1;
  for (unsigned s = (lanes >= 32 ? 32 : lanes) / 2; s > 0; s /= 2) sum += __shfl_down_sync(mask, sum, s);
  return sum;
}

__global__ void then_warp(const int* d_in, int* d_out, unsigned n) {
  const unsigned t = threadIdx.x, i = blockIdx.x * 2 * blockDim.x + t;
  int sum = (i < n ? d_in[i] : 0) + (i + blockDim.x < n ? d_in[i + blockDim.x] : 0);
  s_words[t] = sum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s /= 2) {
    if (t < s) s_words[t] = sum += s_words[t + s];
    __syncthreads();
  }
  if (t >= 32) return;
  if (blockDim.x >= 64) sum += s_words[t + 32];
  sum = finish(sum, blockDim.x);
  if (t == 0) d_out[blockIdx.x] = sum;
}

template <unsigned kThreads, bool kIsPower>
__global__ void for_size(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_sums[kThreads];
  const unsigned t = threadIdx.x;
  int sum = 0;
  for (unsigned i = blockIdx.x * 2 * kThreads + t; i < n; i += gridDim.x * 2 * kThreads) {
    sum += d_in[i];
    if (kIsPower || i + kThreads < n) sum += d_in[i + kThreads];
  }
  s_sums[t] = sum;
  __syncthreads();
  if (kThreads >= 128) {
    if (t < 64) s_sums[t] = sum += s_sums[t + 64];
    __syncthreads();
  }
  if (t >= 32) return;
  if (kThreads >= 64) sum += s_sums[t + 32];
  sum = finish(sum, kThreads);
  if (t == 0) d_out[blockIdx.x] = sum;
}

template <bool kIsPower>
static void launch_size(Cut c, const int* d_in, int* d_out, unsigned n) {
  switch (c.threads) {
    case 128: for_size<128, kIsPower><<<c.blocks, 128>>>(d_in, d_out, n); break;
    case 64: for_size<64, kIsPower><<<c.blocks, 64>>>(d_in, d_out, n); break;
    case 32: for_size<32, kIsPower><<<c.blocks, 32>>>(d_in, d_out, n); break;
    case 16: for_size<16, kIsPower><<<c.blocks, 16>>>(d_in, d_out, n); break;
    case 8: for_size<8, kIsPower><<<c.blocks, 8>>>(d_in, d_out, n); break;
    case 4: for_size<4, kIsPower><<<c.blocks, 4>>>(d_in, d_out, n); break;
    case 2: for_size<2, kIsPower><<<c.blocks, 2>>>(d_in, d_out, n); break;
    default: for_size<1, false><<<c.blocks, 1>>>(d_in, d_out, n); break;
  }
}

static void sized(Cut c, const int* d_in, int* d_out, unsigned n) {
  if (n > 1 && (n & (n - 1)) == 0) {
    launch_size<true>(c, d_in, d_out, n);
  } else {
    launch_size<false>(c, d_in, d_out, n);
  }
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 1, UINT_MAX, [](Cut c, const int* in, int* out, unsigned count) {
    by_remainder<<<c.blocks, c.threads, c.threads * sizeof(int)>>>(in, out, count);
  });
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 1, UINT_MAX, [](Cut c, const int* in, int* out, unsigned count) {
    by_index<<<c.blocks, c.threads, c.threads * sizeof(int)>>>(in, out, count);
  });
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 1, UINT_MAX, [](Cut c, const int* in, int* out, unsigned count) {
    by_halves<<<c.blocks, c.threads, c.threads * sizeof(int)>>>(in, out, count, 1);
  });
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 2, UINT_MAX, [](Cut c, const int* in, int* out, unsigned count) {
    by_halves<<<c.blocks, c.threads, c.threads * sizeof(int)>>>(in, out, count, 2);
  });
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 2, UINT_MAX, [](Cut c, const int* in, int* out, unsigned count) {
    then_warp<<<c.blocks, c.threads, c.threads * sizeof(int)>>>(in, out, count);
  });
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 2, UINT_MAX, sized);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  passes(d_in, d_sum, n, d_work, 2, kMaxBlocks, sized);
}

// The bonus takes the operation as a template parameter, an integral constant.
enum Op { kAdd, kMost, kLeast };

template <Op kOp>
__device__ int op(int a, int b) {
  return kOp == kAdd ? a + b : kOp == kMost ? max(a, b) : min(a, b);
}

template <Op kOp, int kNothing>
__global__ void vectors(const int* d_in, int* d_out, unsigned n) {
  __shared__ int s_warps[16];
  const unsigned id = blockIdx.x * blockDim.x + threadIdx.x, stride = gridDim.x * blockDim.x;
  const unsigned skip = min(n, static_cast<unsigned>((reinterpret_cast<size_t>(d_in) & 15) != 0) *
                                   (4 - static_cast<unsigned>((reinterpret_cast<size_t>(d_in) & 15) / 4)));
  const int4* const d_vectors = reinterpret_cast<const int4*>(d_in + skip);
  const unsigned vectors = (n - skip) / 4;
  int4 v = make_int4(kNothing, kNothing, kNothing, kNothing);
#pragma unroll 4
  for (unsigned i = id; i < vectors; i += stride) {
    const int4 w = d_vectors[i];
    v = make_int4(op<kOp>(v.x, w.x), op<kOp>(v.y, w.y), op<kOp>(v.z, w.z), op<kOp>(v.w, w.w));
  }
  int all = op<kOp>(op<kOp>(v.x, v.y), op<kOp>(v.z, v.w));
  for (unsigned i = id; i < skip; i += stride) all = op<kOp>(all, d_in[i]);
  for (unsigned i = skip + 4 * vectors + id; i < n; i += stride) all = op<kOp>(all, d_in[i]);
#pragma unroll
  for (int s = 16; s > 0; s /= 2) all = op<kOp>(all, __shfl_down_sync(0xffffffff, all, s));
  if (threadIdx.x % 32 == 0) s_warps[threadIdx.x / 32] = all;
  __syncthreads();
  if (threadIdx.x < 16) {
    all = s_warps[threadIdx.x];
#pragma unroll
    for (int s = 8; s > 0; s /= 2) all = op<kOp>(all, __shfl_down_sync(0x0000ffff, all, s, 16));
    if (threadIdx.x == 0) d_out[blockIdx.x] = all;
  }
}

template <Op kOp, int kNothing>
static void reduce_vectors(const int* d_in, int* d_out, unsigned n, int* d_work) {
  const unsigned blocks = n < 16384 ? 1 : n / 16384 < 264 ? n / 16384 : 264;
  vectors<kOp, kNothing><<<blocks, 512>>>(d_in, blocks > 1 ? d_work : d_out, n);
  if (blocks > 1) vectors<kOp, kNothing><<<1, 512>>>(d_work, d_out, blocks);
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  reduce_vectors<kAdd, 0>(d_in, d_sum, n, d_work);
}
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) {
  reduce_vectors<kMost, INT_MIN>(d_in, d_max, n, d_work);
}
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) {
  reduce_vectors<kLeast, INT_MAX>(d_in, d_min, n, d_work);
}
