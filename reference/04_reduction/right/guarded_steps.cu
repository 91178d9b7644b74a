// points: 100 + 12
// As in the course's slides: a test of the block size guards every unrolled step, the last warp continues with a
// volatile pointer (and with the __syncwarp() that it needs today), passes alternate between two scratch arrays.
#include <climits>

#include "reduction.h"

using Kernel = void (*)(const int *g_in, int *g_out, unsigned n);

static void run_passes(Kernel kernel, unsigned per_block, const int *d_in, int *d_out, unsigned n, int *d_work,
                       unsigned max_blocks = UINT_MAX) {
  int *buffers[2] = {d_work, d_work + BlocksFor(n)};
  int turn = 0;
  for (;;) {
    unsigned blocks = n / per_block + (n % per_block != 0);
    if (blocks == 0) blocks = 1;
    if (blocks > max_blocks) blocks = max_blocks;
    if (blocks == 1) break;
    kernel<<<blocks, kBlock>>>(d_in, buffers[turn], n);
    d_in = buffers[turn];
    turn = 1 - turn;
    n = blocks;
  }
  kernel<<<1, kBlock>>>(d_in, d_out, n);
}

__global__ void reduce0(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sdata[tid] = g_in[i];
  else
    sdata[tid] = 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    if (tid % (2 * s) == 0) {
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

__global__ void reduce1(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n)
    sdata[tid] = g_in[i];
  else
    sdata[tid] = 0;
  __syncthreads();
  for (unsigned s = 1; s < blockDim.x; s *= 2) {
    int index = 2 * s * tid;
    if (index < blockDim.x) {
      sdata[index] += sdata[index + s];
    }
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

__global__ void reduce2(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  sdata[tid] = (i < n) ? g_in[i] : 0;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] += sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

__global__ void reduce3(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  int mySum = (i < n) ? g_in[i] : 0;
  if (i + blockDim.x < n) mySum += g_in[i + blockDim.x];
  sdata[tid] = mySum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 0; s >>= 1) {
    if (tid < s) {
      sdata[tid] = mySum = mySum + sdata[tid + s];
    }
    __syncthreads();
  }
  if (tid == 0) g_out[blockIdx.x] = mySum;
}

__device__ void warpReduce(volatile int *sdata, unsigned tid) {
  int v = sdata[tid];
  v += sdata[tid + 32]; __syncwarp(); sdata[tid] = v; __syncwarp();
  v += sdata[tid + 16]; __syncwarp(); sdata[tid] = v; __syncwarp();
  v += sdata[tid + 8]; __syncwarp(); sdata[tid] = v; __syncwarp();
  v += sdata[tid + 4]; __syncwarp(); sdata[tid] = v; __syncwarp();
  v += sdata[tid + 2]; __syncwarp(); sdata[tid] = v; __syncwarp();
  v += sdata[tid + 1]; __syncwarp(); sdata[tid] = v;
}

__global__ void reduce4(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[kBlock];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
  int mySum = (i < n) ? g_in[i] : 0;
  if (i + blockDim.x < n) mySum += g_in[i + blockDim.x];
  sdata[tid] = mySum;
  __syncthreads();
  for (unsigned s = blockDim.x / 2; s > 32; s >>= 1) {
    if (tid < s) sdata[tid] += sdata[tid + s];
    __syncthreads();
  }
  if (tid < 32) warpReduce(sdata, tid);
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

template <unsigned blockSize>
__device__ void warpReduceT(volatile int *sdata, unsigned tid) {
  int v = sdata[tid];
  if (blockSize >= 64) { v += sdata[tid + 32]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
  if (blockSize >= 32) { v += sdata[tid + 16]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
  if (blockSize >= 16) { v += sdata[tid + 8]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
  if (blockSize >= 8) { v += sdata[tid + 4]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
  if (blockSize >= 4) { v += sdata[tid + 2]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
  if (blockSize >= 2) { v += sdata[tid + 1]; __syncwarp(); sdata[tid] = v; __syncwarp(); }
}

template <unsigned blockSize>
__device__ void blockReduce(int *sdata, unsigned tid) {
  if (blockSize >= 512) { if (tid < 256) { sdata[tid] += sdata[tid + 256]; } __syncthreads(); }
  if (blockSize >= 256) { if (tid < 128) { sdata[tid] += sdata[tid + 128]; } __syncthreads(); }
  if (blockSize >= 128) { if (tid < 64) { sdata[tid] += sdata[tid + 64]; } __syncthreads(); }
  if (tid < 32) warpReduceT<blockSize>(sdata, tid);
}

template <unsigned blockSize>
__global__ void reduce5(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[blockSize];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockSize * 2) + tid;
  sdata[tid] = 0;
  if (i < n) sdata[tid] = g_in[i];
  if (i + blockSize < n) sdata[tid] += g_in[i + blockSize];
  __syncthreads();
  blockReduce<blockSize>(sdata, tid);
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

template <unsigned blockSize>
__global__ void reduce6(const int *g_in, int *g_out, unsigned n) {
  __shared__ int sdata[blockSize];
  unsigned tid = threadIdx.x;
  unsigned i = blockIdx.x * (blockSize * 2) + tid;
  unsigned gridSize = blockSize * 2 * gridDim.x;
  sdata[tid] = 0;
  while (i < n) {
    sdata[tid] += g_in[i];
    if (i + blockSize < n) sdata[tid] += g_in[i + blockSize];
    i += gridSize;
  }
  __syncthreads();
  blockReduce<blockSize>(sdata, tid);
  if (tid == 0) g_out[blockIdx.x] = sdata[0];
}

void reduce1_interleaved(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce0, kBlock, d_in, d_sum, n, d_work);
}
void reduce2_strided(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce1, kBlock, d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce2, kBlock, d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce3, kBlock * 2, d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce4, kBlock * 2, d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce5<kBlock>, kBlock * 2, d_in, d_sum, n, d_work);
}
void reduce7_many(const int *d_in, int *d_sum, unsigned n, int *d_work) {
  run_passes(reduce6<kBlock>, kBlock * 2, d_in, d_sum, n, d_work, kMaxBlocks);
}

// The bonus: 0 is the sum, 1 the largest, 2 the smallest.
template <int op>
__device__ int combine(int a, int b) {
  if (op == 1) return a > b ? a : b;
  if (op == 2) return a < b ? a : b;
  return a + b;
}

template <int op>
__device__ int identity() {
  return op == 0 ? 0 : op == 1 ? INT_MIN : INT_MAX;
}

template <int op>
__global__ void reduce7(const int *g_in, int *g_out, unsigned n) {
  __shared__ int partial[32];
  unsigned lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  int v = identity<op>();
  // How many ints there are before the first address that is a multiple of 16.
  unsigned skip = (16 - ((size_t)g_in & 15)) / 4 % 4;
  if (skip > n) skip = n;
  if (blockIdx.x == 0 && threadIdx.x < skip) v = g_in[threadIdx.x];
  const int4 *wide = (const int4 *)(g_in + skip);
  unsigned count = (n - skip) / 4;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    int4 q = wide[i];
    v = combine<op>(v, combine<op>(combine<op>(q.x, q.y), combine<op>(q.z, q.w)));
  }
  unsigned rest = skip + 4 * count;
  if (blockIdx.x == gridDim.x - 1 && threadIdx.x < n - rest) v = combine<op>(v, g_in[rest + threadIdx.x]);
  for (int offset = 16; offset > 0; offset >>= 1) v = combine<op>(v, __shfl_down_sync(0xffffffff, v, offset));
  if (lane == 0) partial[wid] = v;
  __syncthreads();
  if (wid == 0) {
    v = lane < blockDim.x / 32 ? partial[lane] : identity<op>();
    for (int offset = 16; offset > 0; offset >>= 1) v = combine<op>(v, __shfl_down_sync(0xffffffff, v, offset));
    if (lane == 0) g_out[blockIdx.x] = v;
  }
}

template <int op>
void reduce_any(const int *d_in, int *d_out, unsigned n, int *d_work) {
  unsigned blocks = n / 4096;
  if (blocks > 512) blocks = 512;
  if (blocks <= 1) {
    reduce7<op><<<1, 256>>>(d_in, d_out, n);
    return;
  }
  reduce7<op><<<blocks, 256>>>(d_in, d_work, n);
  reduce7<op><<<1, 256>>>(d_work, d_out, blocks);
}

void reduce8_shuffle(const int *d_in, int *d_sum, unsigned n, int *d_work) { reduce_any<0>(d_in, d_sum, n, d_work); }
void reduce8_max(const int *d_in, int *d_max, unsigned n, int *d_work) { reduce_any<1>(d_in, d_max, n, d_work); }
void reduce8_min(const int *d_in, int *d_min, unsigned n, int *d_work) { reduce_any<2>(d_in, d_min, n, d_work); }
