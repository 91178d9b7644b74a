// points: 100 + 10
// Rung 5 is a chain: a block waits only for its neighbour's prefix, a float guarded by a flag; atomics set and poll it,
// with fences. Rung 4 lets the last block of the sums' kernel scan the sums. Rungs 1 to 3 use cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/scan.h>

#include "scan.h"

namespace cg = cooperative_groups;

struct Larger {
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

__device__ float identity(cg::plus<float>) { return 0; }
__device__ float identity(Larger) { return -INFINITY; }

// The sum of the threads before this one; *all is that of the block.
template <class Op>
__device__ float scan_block(float value, float* all, Op op) {
  __shared__ float s_warps[32];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const float inclusive = cg::inclusive_scan(warp, value, op);
  const float left = warp.shfl_up(inclusive, 1);
  const float exclusive = warp.thread_rank() == 0 ? identity(op) : left;
  if (warp.thread_rank() == 31) s_warps[warp.meta_group_rank()] = inclusive;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    const bool mine = warp.thread_rank() < warp.meta_group_size();
    const float sums = cg::inclusive_scan(warp, mine ? s_warps[warp.thread_rank()] : identity(op), op);
    if (mine) s_warps[warp.thread_rank()] = sums;
  }
  block.sync();
  *all = s_warps[warp.meta_group_size() - 1];
  const float before = warp.meta_group_rank() == 0 ? identity(op) : s_warps[warp.meta_group_rank() - 1];
  block.sync();
  return op(before, exclusive);
}

__global__ void scan1_kernel(const float* d_in, float* d_out, unsigned n) {
  const unsigned i = threadIdx.x;
  float all;
  const float before = scan_block(i < n ? d_in[i] : 0, &all, cg::plus<float>());
  if (i < n) d_out[i] = before;
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) scan1_kernel<<<1, kBlock>>>(d_in, d_out, n);
}

// Threads with eight elements each, from a row of nine words.
template <class Op>
__device__ float scan_eights(float* s_data, float before, bool inclusive, Op op) {
  float* s_own = s_data + 9 * threadIdx.x;
  float sum = identity(op);
  for (int k = 0; k < 8; ++k) sum = op(sum, s_own[k]);
  float all;
  float running = op(before, scan_block(sum, &all, op));
  for (int k = 0; k < 8; ++k) {
    const float next = op(running, s_own[k]);
    s_own[k] = inclusive ? next : running;
    running = next;
  }
  __syncthreads();
  return all;
}

__device__ void load_eights(const float* d_in, unsigned n, float* s_data, float none) {
  for (unsigned i = threadIdx.x; i < 8 * blockDim.x; i += blockDim.x) s_data[i + i / 8] = i < n ? d_in[i] : none;
  __syncthreads();
}
__device__ void store_eights(float* d_out, unsigned n, const float* s_data) {
  for (unsigned i = threadIdx.x; i < n && i < 8 * blockDim.x; i += blockDim.x) d_out[i] = s_data[i + i / 8];
}

__global__ void tile_kernel(const float* d_in, const float* d_before, float* d_out, unsigned n) {
  __shared__ float s_data[9 * 128];
  const unsigned begin = blockIdx.x * kTile;
  load_eights(d_in + begin, n - begin, s_data, 0);
  scan_eights(s_data, d_before == nullptr ? 0 : d_before[blockIdx.x], false, cg::plus<float>());
  store_eights(d_out + begin, n - begin, s_data);
}

void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) tile_kernel<<<1, kTile / 8>>>(d_in, nullptr, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) tile_kernel<<<1, kTile / 8>>>(d_in, nullptr, d_out, n);
}

__global__ void sums_kernel(const float* d_in, float* d_sums, unsigned n, unsigned* d_done) {
  __shared__ bool s_last;
  const unsigned begin = blockIdx.x * kTile;
  float sum = 0;
  for (unsigned i = threadIdx.x; i < kTile && begin + i < n; i += blockDim.x) sum += d_in[begin + i];
  float all;
  scan_block(sum, &all, cg::plus<float>());
  if (threadIdx.x == 0) {
    d_sums[blockIdx.x] = all;
    __threadfence();
    s_last = atomicAdd(d_done, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!s_last) return;
  // All blocks' sums have been written. Each thread scans consecutive ones.
  const unsigned part = (gridDim.x - 1) / blockDim.x + 1;
  const unsigned first = min(threadIdx.x * part, gridDim.x), last = min(first + part, gridDim.x);
  sum = 0;
  for (unsigned i = first; i < last; ++i) sum += d_sums[i];
  float running = scan_block(sum, &all, cg::plus<float>());
  for (unsigned i = first; i < last; ++i) {
    const float own = d_sums[i];
    d_sums[i] = running;
    running += own;
  }
}

void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  float* d_sums = reinterpret_cast<float*>(d_work + 1);
  cudaMemsetAsync(d_work, 0, sizeof *d_work);
  sums_kernel<<<TilesFor(n), 256>>>(d_in, d_sums, n, reinterpret_cast<unsigned*>(d_work));
  tile_kernel<<<TilesFor(n), kTile / 8>>>(d_in, d_sums, d_out, n);
}

struct Link {
  int ready;
  float prefix;
};

template <class Op>
__global__ void chain_kernel(const float* d_in, float* d_out, unsigned n, unsigned long long* d_ticket, Link* d_links,
                             bool inclusive, Op op) {
  __shared__ float s_data[9 * 512], s_before;
  __shared__ unsigned s_tile;
  if (threadIdx.x == 0) s_tile = static_cast<unsigned>(atomicAdd(d_ticket, 1ull));
  __syncthreads();
  const unsigned tile = s_tile, begin = tile * 4096;
  load_eights(d_in + begin, n - begin, s_data, identity(op));
  float sum = identity(op);
  for (int k = 0; k < 8; ++k) sum = op(sum, s_data[9 * threadIdx.x + k]);
  float all;
  scan_block(sum, &all, op);
  if (threadIdx.x == 0) {
    float before = identity(op);
    if (tile > 0) {
      while (atomicAdd(&d_links[tile - 1].ready, 0) == 0) {
      }
      __threadfence();
      before = d_links[tile - 1].prefix;
    }
    d_links[tile].prefix = op(before, all);
    __threadfence();
    atomicExch(&d_links[tile].ready, 1);
    s_before = before;
  }
  __syncthreads();
  scan_eights(s_data, s_before, inclusive, op);
  store_eights(d_out + begin, n - begin, s_data);
}

template <class Op>
void chain(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work, bool inclusive, Op op) {
  if (n == 0) return;
  const unsigned tiles = (n + 4095) / 4096;
  cudaMemsetAsync(d_work, 0, 8 + tiles * sizeof(Link));
  chain_kernel<<<tiles, 512>>>(d_in, d_out, n, d_work, reinterpret_cast<Link*>(d_work + 1), inclusive, op);
}

void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  chain(d_in, d_out, n, d_work, false, cg::plus<float>());
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  chain(d_in, d_out, n, d_work, true, cg::plus<float>());
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  chain(d_in, d_out, n, d_work, true, Larger());
}
