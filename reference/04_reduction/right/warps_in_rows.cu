// points: 100 + 12
// Blocks of 32 x 4 threads: a row is a warp. Sums are kept in long long and cut to an int at the end, which wraps as
// the ints do. Launchers are one template with the kernel as its argument.
#include <climits>
#include <cstdint>

#include "reduction.h"

static const dim3 kRows(32, kBlock / 32);

__device__ unsigned rank() { return threadIdx.y * blockDim.x + threadIdx.x; }
__device__ unsigned threads() { return blockDim.x * blockDim.y; }

__global__ void interleaved(const int* in, int* out, unsigned n) {
  __shared__ long long tree[kBlock];
  const unsigned t = rank(), i = blockIdx.x * threads() + t;
  tree[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < threads(); s += s) {
    if (t % (s + s) == 0) tree[t] += tree[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = (int)tree[0];
}

__global__ void strided(const int* in, int* out, unsigned n) {
  __shared__ long long tree[kBlock];
  const unsigned t = rank(), i = blockIdx.x * threads() + t;
  tree[t] = i < n ? in[i] : 0;
  __syncthreads();
  for (unsigned s = 1; s < threads(); s += s) {
    if (t < threads() / (s + s)) tree[(s + s) * t] += tree[(s + s) * t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = (int)tree[0];
}

// Rungs 3 and 4: the upper half of the rows is added to the lower one, then the same inside of the last row.
template <unsigned kEach>
__global__ void halves(const int* in, int* out, unsigned n) {
  __shared__ long long tree[kBlock];
  const unsigned t = rank();
  long long sum = 0;
  for (unsigned k = 0; k < kEach; k++) {
    const unsigned i = (blockIdx.x * kEach + k) * threads() + t;
    if (i < n) sum += in[i];
  }
  tree[t] = sum;
  __syncthreads();
  for (unsigned s = threads() / 2; s >= 1; s /= 2) {
    if (t < s) tree[t] += tree[t + s];
    __syncthreads();
  }
  if (t == 0) out[blockIdx.x] = (int)tree[0];
}

__device__ long long row_sum(long long sum) {
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, lane);
  return sum;
}

// Rungs 5 and 6: each row adds itself up by shuffles, so that one barrier does for the block.
template <unsigned kEach>
__global__ void rows(const int* in, int* out, unsigned n) {
  __shared__ long long row[kBlock / 32];
  long long sum = 0;
#pragma unroll
  for (unsigned k = 0; k < kEach; k++) {
    const unsigned i = (blockIdx.x * kEach + k) * kBlock + rank();
    if (i < n) sum += in[i];
  }
  sum = row_sum(sum);
  if (threadIdx.x == 0) row[threadIdx.y] = sum;
  __syncthreads();
  if (rank() == 0) out[blockIdx.x] = (int)(row[0] + row[1] + row[2] + row[3]);
}

__global__ void many(const int* in, int* out, unsigned n) {
  __shared__ long long row[kBlock / 32];
  long long sum = 0;
  for (uint64_t i = blockIdx.x * kBlock + rank(); i < n; i += gridDim.x * kBlock) sum += in[i];
  sum = row_sum(sum);
  if (threadIdx.x == 0) row[threadIdx.y] = sum;
  __syncthreads();
  if (rank() == 0) out[blockIdx.x] = (int)(row[0] + row[1] + row[2] + row[3]);
}

template <void (*kKernel)(const int*, int*, unsigned), unsigned kPerBlock, unsigned kMost = UINT_MAX>
void climb(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  int* d_spare = d_work + BlocksFor(n);
  while (true) {
    unsigned blocks = n / kPerBlock + (n % kPerBlock > 0);
    blocks = blocks < 1 ? 1 : blocks > kMost ? kMost : blocks;
    kKernel<<<blocks, kRows>>>(d_in, blocks == 1 ? d_sum : d_work, n);
    if (blocks == 1) break;
    d_in = d_work;
    d_work = d_spare;
    d_spare = const_cast<int*>(d_in);
    n = blocks;
  }
}

void reduce1_interleaved(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<interleaved, kBlock>(d_in, d_sum, n, d_work);
}
void reduce2_strided(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<strided, kBlock>(d_in, d_sum, n, d_work);
}
void reduce3_sequential(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<halves<1>, kBlock>(d_in, d_sum, n, d_work);
}
void reduce4_first_add(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<halves<2>, 2 * kBlock>(d_in, d_sum, n, d_work);
}
void reduce5_warp_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<rows<2>, 2 * kBlock>(d_in, d_sum, n, d_work);
}
void reduce6_unrolled(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<rows<4>, 4 * kBlock>(d_in, d_sum, n, d_work);
}
void reduce7_many(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  climb<many, kBlock, kMaxBlocks>(d_in, d_sum, n, d_work);
}

// Eight elements a thread and step, as two int4 that lie a row of the block apart.
template <char kOp>
__device__ int of(int a, int b) {
  switch (kOp) {
    case '>':
      return a > b ? a : b;
    case '<':
      return a < b ? a : b;
    default:
      return a + b;
  }
}

template <char kOp>
__global__ void wide(const int* in, int* out, unsigned n, int result) {
  __shared__ int row[8];
  const unsigned id = blockIdx.x * 256 + rank();
  unsigned head = 0;
  for (; head < n && (uintptr_t)(in + head) % sizeof(int4); head++) {
    if (id == head) result = in[head];
  }
  const int4* in4 = (const int4*)(in + head);
  const unsigned n4 = (n - head) / 4;
  for (unsigned i = blockIdx.x * 512 + rank(); i < n4; i += gridDim.x * 512) {
    const int4 a = in4[i];
    const int4 b = i + 256 < n4 ? in4[i + 256] : a;
    if (kOp != '+' || i + 256 < n4) result = of<kOp>(result, of<kOp>(of<kOp>(b.x, b.y), of<kOp>(b.z, b.w)));
    result = of<kOp>(result, of<kOp>(of<kOp>(a.x, a.y), of<kOp>(a.z, a.w)));
  }
  if (head + 4 * n4 + id < n) result = of<kOp>(result, in[head + 4 * n4 + id]);
  for (int lane = 16; lane > 0; lane /= 2) result = of<kOp>(result, __shfl_xor_sync(0xffffffffu, result, lane));
  if (threadIdx.x == 0) row[threadIdx.y] = result;
  __syncthreads();
  if (threadIdx.y == 0 && threadIdx.x < 8) {
    result = row[threadIdx.x];
    for (int lane = 4; lane > 0; lane /= 2) result = of<kOp>(result, __shfl_xor_sync(0xffu, result, lane));
    if (threadIdx.x == 0) out[blockIdx.x] = result;
  }
}

template <char kOp>
void wide_passes(const int* d_in, int* d_out, unsigned n, int* d_work, int neutral) {
  const unsigned blocks = n < 10000 ? 1 : n < 2000000 ? n / 5000 : 400;
  if (blocks == 1) {
    wide<kOp><<<1, dim3(32, 8)>>>(d_in, d_out, n, neutral);
  } else {
    wide<kOp><<<blocks, dim3(32, 8)>>>(d_in, d_work, n, neutral);
    wide<kOp><<<1, dim3(32, 8)>>>(d_work, d_out, blocks, neutral);
  }
}

void reduce8_shuffle(const int* d_in, int* d_sum, unsigned n, int* d_work) {
  wide_passes<'+'>(d_in, d_sum, n, d_work, 0);
}
void reduce8_max(const int* d_in, int* d_max, unsigned n, int* d_work) {
  wide_passes<'>'>(d_in, d_max, n, d_work, INT_MIN);
}
void reduce8_min(const int* d_in, int* d_min, unsigned n, int* d_work) {
  wide_passes<'<'>(d_in, d_min, n, d_work, INT_MAX);
}
