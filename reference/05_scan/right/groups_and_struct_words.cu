// points: 100 + 10
// Cooperative groups throughout: cg::exclusive_scan and cg::inclusive_scan within warps; a struct of kind and value as
// cuda::atomic; block barriers in two halves, arrive and wait.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cuda/atomic>
#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "scan.h"

namespace cg = cooperative_groups;

struct Add {
  static constexpr float identity = 0.0f;
  __device__ float operator()(float a, float b) const { return a + b; }
};
struct Max {
  static constexpr float identity = -cuda::std::numeric_limits<float>::infinity();
  __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

template <class Op, unsigned kThreads>
struct BlockScan {
  float part[kThreads / 32];
  float all;

  __device__ float exclusive(const cg::thread_block& block, float value) {
    const auto warp = cg::tiled_partition<32>(block);
    const float inclusive = cg::inclusive_scan(warp, value, Op{});
    if (warp.thread_rank() == 31) part[warp.meta_group_rank()] = inclusive;
    block.sync();
    if (warp.meta_group_rank() == 0) {
      const float own = warp.thread_rank() < kThreads / 32 ? part[warp.thread_rank()] : Op::identity;
      const float up_to = cg::inclusive_scan(warp, own, Op{});
      const float before = warp.shfl_up(up_to, 1);
      if (warp.thread_rank() < kThreads / 32)
        part[warp.thread_rank()] = warp.thread_rank() == 0 ? Op::identity : before;
      if (warp.thread_rank() == kThreads / 32 - 1) all = up_to;
    }
    block.sync();
    const float left = warp.shfl_up(inclusive, 1);
    const float before = part[warp.meta_group_rank()];
    return warp.thread_rank() == 0 ? before : Op{}(before, left);
  }
};

template <unsigned kEach>
__global__ void one_block(const float* d_in, float* d_out, unsigned n) {
  __shared__ BlockScan<Add, kBlock> scan;
  const auto block = cg::this_thread_block();
  const unsigned first = block.thread_rank() * kEach;
  float value[kEach], sum = 0.0f;
  for (unsigned k = 0; k < kEach; ++k) {
    value[k] = first + k < n ? d_in[first + k] : 0.0f;
    sum += value[k];
  }
  float before = scan.exclusive(block, sum);
  for (unsigned k = 0; k < kEach; ++k) {
    if (first + k < n) d_out[first + k] = before;
    before += value[k];
  }
}

constexpr unsigned kThreads = 512, kItems = 16, kTileSize = kThreads * kItems;

struct alignas(8) Status {
  unsigned kind;
  float value;
};
using Slot = cuda::atomic<Status, cuda::thread_scope_device>;
static_assert(sizeof(Slot) == sizeof(unsigned long long), "a slot is a word");

// A thread's items are kThreads apart, so that a warp's loads and stores are coalesced; each row is scanned.
template <bool kInclusive, class Op>
__global__ void __launch_bounds__(kThreads)
    rows(const float* __restrict__ d_in, float* __restrict__ d_out, unsigned n, Slot* slots, unsigned* d_ticket) {
  __shared__ BlockScan<Op, kThreads> scan;
  __shared__ unsigned s_ticket;
  __shared__ float s_before;
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) {
    s_ticket =
        cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*d_ticket).fetch_add(1, cuda::memory_order_relaxed);
  }
  auto token = block.barrier_arrive();
  float value[kItems];
  block.barrier_wait(std::move(token));
  const unsigned tile = s_ticket;
  const unsigned long long first = 1ull * tile * kTileSize + block.thread_rank();
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) value[k] = first + k * kThreads < n ? d_in[first + k * kThreads] : Op::identity;
  float row = Op::identity;
  float own[kItems];
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) {
    own[k] = Op{}(row, scan.exclusive(block, value[k]));
    row = Op{}(row, scan.all);
    block.sync();
  }
  const auto warp = cg::tiled_partition<32>(block);
  if (warp.meta_group_rank() == 0) {
    if (warp.thread_rank() == 0) slots[tile].store({tile == 0 ? 2u : 1u, row}, cuda::memory_order_release);
    float before = Op::identity;
    for (int last = static_cast<int>(tile) - 1; last >= 0; last -= 32) {
      const int at = last - static_cast<int>(warp.thread_rank());
      Status status{2u, Op::identity};
      if (at >= 0) {
        while ((status = slots[at].load(cuda::memory_order_acquire)).kind == 0) __nanosleep(20);
      }
      const unsigned done = warp.ballot(status.kind == 2u);
      const unsigned end = done == 0 ? 31u : static_cast<unsigned>(__ffs(static_cast<int>(done))) - 1u;
      const float seen = warp.thread_rank() <= end ? status.value : Op::identity;
      before = Op{}(before, cg::reduce(warp, seen, Op{}));
      if (done != 0) break;
    }
    if (warp.thread_rank() == 0) {
      if (tile != 0) slots[tile].store({2u, Op{}(before, row)}, cuda::memory_order_release);
      s_before = before;
    }
  }
  block.sync();
  const float before = s_before;
#pragma unroll
  for (unsigned k = 0; k < kItems; ++k) {
    const unsigned long long i = first + k * kThreads;
    float result = Op{}(before, own[k]);
    if (kInclusive) result = Op{}(result, value[k]);
    if (i < n) d_out[i] = result;
  }
}

template <bool kInclusive, class Op>
void single_pass(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  const unsigned tiles = (n + kTileSize - 1) / kTileSize;
  cudaMemsetAsync(d_work, 0, (tiles + 1) * sizeof *d_work, cudaStreamLegacy);
  rows<kInclusive, Op>
      <<<tiles, kThreads>>>(d_in, d_out, n, reinterpret_cast<Slot*>(d_work + 1), reinterpret_cast<unsigned*>(d_work));
}

// Rung 4: each block has a range of its own, of as many rows as it takes, with 256 blocks for any n.
constexpr unsigned kRanges = 256;

__device__ void range_of(unsigned n, unsigned& begin, unsigned& end) {
  const unsigned long long rows = (n + kBlock - 1) / kBlock;
  begin = static_cast<unsigned>(rows * blockIdx.x / gridDim.x) * kBlock;
  end = min(n, static_cast<unsigned>(rows * (blockIdx.x + 1) / gridDim.x) * kBlock);
}

__global__ void sum_ranges(const float* d_in, float* d_sums, unsigned n) {
  __shared__ float s_part[kBlock / 32];
  const auto block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  unsigned begin, end;
  range_of(n, begin, end);
  float sum = 0.0f;
  for (unsigned i = begin + block.thread_rank(); i < end; i += kBlock) sum += d_in[i];
  sum = cg::reduce(warp, sum, cg::plus<float>());
  if (warp.thread_rank() == 0) s_part[warp.meta_group_rank()] = sum;
  block.sync();
  if (warp.meta_group_rank() == 0) {
    const float part = warp.thread_rank() < warp.meta_group_size() ? s_part[warp.thread_rank()] : 0.0f;
    const float all = cg::reduce(warp, part, cg::plus<float>());
    if (warp.thread_rank() == 0) d_sums[blockIdx.x] = all;
  }
}

__global__ void scan_ranges(const float* d_in, const float* d_begin, float* d_out, unsigned n) {
  __shared__ BlockScan<Add, kBlock> scan;
  const auto block = cg::this_thread_block();
  unsigned begin, end;
  range_of(n, begin, end);
  float before = d_begin[blockIdx.x];
  for (unsigned row = begin; row < end; row += kBlock) {
    const unsigned i = row + block.thread_rank();
    const float value = i < end ? d_in[i] : 0.0f;
    const float result = before + scan.exclusive(block, value);
    before += scan.all;
    if (i < end) d_out[i] = result;
    block.sync();
  }
}

void scan1_hillis_steele(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_block<1><<<1, kBlock>>>(d_in, d_out, n);
}
void scan2_work_efficient(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_block<2><<<1, kBlock>>>(d_in, d_out, n);
}
void scan3_padded(const float* d_in, float* d_out, unsigned n, unsigned long long*) {
  if (n > 0) one_block<2><<<1, kBlock>>>(d_in, d_out, n);
}
void scan4_blocks(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  if (n == 0) return;
  float* d_sums = nullptr;
  if (cudaMallocAsync(&d_sums, 2 * kRanges * sizeof(float), 0) != cudaSuccess) return;
  sum_ranges<<<kRanges, kBlock>>>(d_in, d_sums, n);
  one_block<1><<<1, kBlock>>>(d_sums, d_sums + kRanges, kRanges);
  scan_ranges<<<kRanges, kBlock>>>(d_in, d_sums + kRanges, d_out, n);
  cudaFreeAsync(d_sums, 0);
}
void scan5_lookback(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  single_pass<false, Add>(d_in, d_out, n, d_work);
}
void scan6_inclusive(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  single_pass<true, Add>(d_in, d_out, n, d_work);
}
void scan6_max(const float* d_in, float* d_out, unsigned n, unsigned long long* d_work) {
  single_pass<true, Max>(d_in, d_out, n, d_work);
}
