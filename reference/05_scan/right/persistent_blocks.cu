// points: 100 + 10
// A few blocks that stay: rung 4 is one cooperative kernel with grid.sync() between its passes; on rung 5 each block
// takes tile after tile from a counter, with cuda::atomic_ref's release and acquire on a flag before plain values.
#include <cooperative_groups.h>

#include <cuda/atomic>

#include "scan.h"

namespace cg = cooperative_groups;

constexpr unsigned kMask = 0xffffffff;

struct SumOp {
  static constexpr float kZero = 0;
  static __device__ float both(float a, float b) { return a + b; }
};
struct MaxOp {
  static constexpr float kZero = -__builtin_inff();
  static __device__ float both(float a, float b) { return fmaxf(a, b); }
};

// Two arrays, each with as many zeros before it as it is long: no thread has to test how far it may look.
__global__ void scan1_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_data[2][2 * kBlock];
  const unsigned tid = threadIdx.x, own = kBlock + tid;
  s_data[0][tid] = s_data[1][tid] = 0;
  s_data[0][own] = tid >= 1 && tid <= n ? d_in[tid - 1] : 0;
  unsigned from = 0;
  for (unsigned s = 1; s < kBlock; s *= 2) {
    __syncthreads();
    s_data[1 - from][own] = s_data[from][own - s] + s_data[from][own];
    from = 1 - from;
  }
  if (tid < n) d_out[tid] = s_data[from][own];
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// Raking: every lane adds up its row of 32, the warp scans the rows' sums, every lane goes over its row again.
__global__ void rake_kernel(const float* d_in, float* d_out, unsigned n) {
  __shared__ float s_rows[32][33];
  const unsigned lane = threadIdx.x % 32, row = threadIdx.x / 32;
  for (unsigned r = row; r < 32; r += 8) s_rows[r][lane] = 32 * r + lane < n ? d_in[32 * r + lane] : 0;
  __syncthreads();
  if (row == 0) {
    float sum = 0;
    for (unsigned c = 0; c < 32; ++c) sum += s_rows[lane][c];
    float before = 0;
    for (unsigned other = 0; other < 31; ++other) {
      const float its = __shfl_sync(kMask, sum, other);
      if (other < lane) before += its;
    }
    for (unsigned c = 0; c < 32; ++c) {
      const float own = s_rows[lane][c];
      s_rows[lane][c] = before;
      before += own;
    }
  }
  __syncthreads();
  for (unsigned r = row; r < 32 && 32 * r + lane < n; r += 8) d_out[32 * r + lane] = s_rows[r][lane];
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) rake_kernel<<<1, 256>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) rake_kernel<<<1, 256>>>(d_in, d_out, n);
}

constexpr unsigned kThreads = 256;

// All threads' sums are in s_sum[0]; each gets the sum of the threads before it, and *all is the sum of all.
template <class Op>
__device__ float scan_sums(float value, float (*s_sum)[kThreads], float* all) {
  const unsigned tid = threadIdx.x;
  int now = 0;
  s_sum[0][tid] = value;
  __syncthreads();
  for (unsigned s = 1; s < kThreads; s *= 2) {
    if (tid >= s) value = Op::both(s_sum[now][tid - s], value);
    now = 1 - now;
    s_sum[now][tid] = value;
    __syncthreads();
  }
  *all = s_sum[now][kThreads - 1];
  const float before = tid == 0 ? Op::kZero : s_sum[now][tid - 1];
  __syncthreads();
  return before;
}

__global__ void grid_kernel(const float* d_in, float* d_out, unsigned n, float* d_sums, unsigned piece) {
  __shared__ float s_sum[2][kThreads], s_data[kThreads * 9];
  const unsigned tid = threadIdx.x;
  const unsigned begin = min(n, blockIdx.x * piece), end = min(n, begin + piece);
  float sum = 0, all;
  for (unsigned i = begin + tid; i < end; i += kThreads) sum += d_in[i];
  scan_sums<SumOp>(sum, s_sum, &all);
  if (tid == 0) d_sums[blockIdx.x] = all;
  cg::this_grid().sync();
  float carry = 0;
  for (unsigned b = tid; b < blockIdx.x; b += kThreads) carry += d_sums[b];
  scan_sums<SumOp>(carry, s_sum, &carry);
  for (unsigned tile = begin; tile < end; tile += 8 * kThreads) {
    for (unsigned i = tid; i < 8 * kThreads; i += kThreads) s_data[i + i / 8] = tile + i < end ? d_in[tile + i] : 0;
    __syncthreads();
    sum = 0;
    for (unsigned k = 0; k < 8; ++k) sum += s_data[9 * tid + k];
    float before = carry + scan_sums<SumOp>(sum, s_sum, &all);
    for (unsigned k = 0; k < 8; ++k) {
      const float own = s_data[9 * tid + k];
      s_data[9 * tid + k] = before;
      before += own;
    }
    carry += all;
    __syncthreads();
    for (unsigned i = tid; i < 8 * kThreads && tile + i < end; i += kThreads) d_out[tile + i] = s_data[i + i / 8];
    __syncthreads();
  }
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  int device = 0, sms = 0;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
  const unsigned tiles = (n - 1) / (8 * kThreads) + 1;
  const unsigned blocks = min(tiles, static_cast<unsigned>(sms));
  unsigned piece = ((tiles - 1) / blocks + 1) * (8 * kThreads);
  float* d_sums = reinterpret_cast<float*>(d_work);
  void* arguments[] = {&d_in, &d_out, &n, &d_sums, &piece};
  cudaLaunchCooperativeKernel(reinterpret_cast<void*>(grid_kernel), blocks, kThreads, arguments);
}

struct Tile {
  unsigned flag;
  float total, prefix;
};

template <class Op, bool kInclusive>
__global__ void tickets_kernel(const float* d_in, float* d_out, unsigned n, unsigned* d_ticket, Tile* d_tiles) {
  __shared__ float s_sum[2][kThreads], s_data[kThreads * 17], s_before;
  __shared__ unsigned s_ticket;
  constexpr unsigned kLength = 16 * kThreads;
  const unsigned tid = threadIdx.x, tiles = (n - 1) / kLength + 1;
  for (;;) {
    if (tid == 0) s_ticket = atomicAdd(d_ticket, 1u);
    __syncthreads();
    const unsigned tile = s_ticket;
    if (tile >= tiles) return;
    const unsigned begin = tile * kLength;
    for (unsigned i = tid; i < kLength; i += kThreads) {
      s_data[i + i / 16] = begin + i < n ? d_in[begin + i] : Op::kZero;
    }
    __syncthreads();
    float sum = Op::kZero, all;
    for (unsigned k = 0; k < 16; ++k) sum = Op::both(sum, s_data[17 * tid + k]);
    const float threads_before = scan_sums<Op>(sum, s_sum, &all);
    if (tid == 0) {
      using Flag = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
      Tile& own = d_tiles[tile];
      own.total = all;
      Flag(own.flag).store(1, cuda::memory_order_release);
      float before = Op::kZero;
      for (unsigned other = tile; other > 0;) {
        Tile& its = d_tiles[other - 1];
        const unsigned flag = Flag(its.flag).load(cuda::memory_order_acquire);
        if (flag == 0) continue;
        before = Op::both(flag == 2 ? its.prefix : its.total, before);
        if (flag == 2) break;
        --other;
      }
      own.prefix = Op::both(before, all);
      Flag(own.flag).store(2, cuda::memory_order_release);
      s_before = before;
    }
    __syncthreads();
    float running = Op::both(s_before, threads_before);
    for (unsigned k = 0; k < 16; ++k) {
      const float next = Op::both(running, s_data[17 * tid + k]);
      s_data[17 * tid + k] = kInclusive ? next : running;
      running = next;
    }
    __syncthreads();
    for (unsigned i = tid; i < kLength && begin + i < n; i += kThreads) d_out[begin + i] = s_data[i + i / 16];
    __syncthreads();
  }
}

template <class Op, bool kInclusive>
void tickets(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n - 1) / (16 * kThreads) + 1;
  unsigned* d_ticket = reinterpret_cast<unsigned*>(d_work);
  cudaMemsetAsync(d_ticket, 0, sizeof(unsigned) + tiles * sizeof(Tile));
  tickets_kernel<Op, kInclusive>
      <<<min(tiles, 264u), kThreads>>>(d_in, d_out, n, d_ticket, reinterpret_cast<Tile*>(d_ticket + 1));
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  tickets<SumOp, false>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  tickets<SumOp, true>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  tickets<MaxOp, true>(d_in, d_out, n, d_work);
}
