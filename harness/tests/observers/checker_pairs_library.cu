// What CUDA's own libraries do is no fault: cooperative groups, libcu++, CUB's algorithms of a block.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/pipeline>

#include "checker_pairs.h"

#pragma nv_diag_suppress static_var_with_dynamic_init  // init() sets the barriers up

namespace cg = cooperative_groups;

// expect: clean
extern "C" __global__ void tiles(Buffers b) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = b.in[threadIdx.x];
  tile.sync();
  for (int d = 8; d > 0; d /= 2) {
    if (tile.thread_rank() < d) s[threadIdx.x] += s[threadIdx.x + d];
    tile.sync();
  }
  b.out[threadIdx.x] = cg::reduce(tile, s[threadIdx.x], cg::plus<int>());
}

// expect: race, shared
extern "C" __global__ void tiles_too_small(Buffers b) {
  __shared__ int s[64];
  const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
  s[threadIdx.x] = b.in[threadIdx.x];  // first
  tile.sync();
  b.out[threadIdx.x] = s[threadIdx.x ^ 16];  // second
}

// expect: clean
extern "C" __global__ void group_of_the_block(Buffers b) {
  __shared__ int s[64];
  s[threadIdx.x] = b.in[threadIdx.x];
  cg::this_thread_block().sync();
  b.out[threadIdx.x] = s[63 - threadIdx.x];
}

// expect: clean
// launch: 4 x 64, cooperative
extern "C" __global__ void group_of_the_grid(Buffers b) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  b.out[i] = b.in[i];
  cg::this_grid().sync();
  b.out[512 + i] = b.out[255 - i];
  cg::this_grid().sync();
  b.out[i] = b.out[512 + (i ^ 128)];
}

// expect: race, global
// launch: 4 x 64, cooperative
extern "C" __global__ void block_for_the_grid(Buffers b) {
  const int i = blockIdx.x * 64 + threadIdx.x;
  b.out[i] = b.in[i];  // first, second
  cg::this_thread_block().sync();
  b.out[512 + i] = b.out[255 - i];  // first, second
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void aggregated_atomics(Buffers b) {
  if (b.in[threadIdx.x] % 3 != 0) return;
  const cg::coalesced_group active = cg::coalesced_threads();
  unsigned first = 0;
  if (active.thread_rank() == 0) first = atomicAdd(b.tickets, active.size());
  const unsigned place = active.shfl(first, 0) + active.thread_rank();
  b.out[place] = b.in[threadIdx.x];
}

// expect: clean
extern "C" __global__ void barrier_of_libcu(Buffers b) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    s[threadIdx.x] = b.in[threadIdx.x + k];
    barrier.arrive_and_wait();
    b.out[threadIdx.x] += s[63 - threadIdx.x];
    barrier.arrive_and_wait();
  }
}

// expect: race, shared
extern "C" __global__ void barrier_of_libcu_too_late(Buffers b) {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  __shared__ int s[64];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  s[threadIdx.x] = b.in[threadIdx.x];       // first
  b.out[threadIdx.x] = s[threadIdx.x ^ 1];  // second
  barrier.arrive_and_wait();
}

// expect: clean
// launch: 4 x 64
extern "C" __global__ void flag_of_libcu(Buffers b) {
  if (threadIdx.x != 0) return;
  int before = 0;
  if (blockIdx.x > 0) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> flag(b.tickets[blockIdx.x - 1]);
    while (flag.load(cuda::memory_order_acquire) == 0) {
    }
    before = b.out[blockIdx.x - 1];
  }
  b.out[blockIdx.x] = before + b.in[blockIdx.x];
  cuda::atomic_ref<unsigned, cuda::thread_scope_device>(b.tickets[blockIdx.x]).store(1, cuda::memory_order_release);
}

// expect: clean
extern "C" __global__ void pipeline_of_libcu(Buffers b) {
  __shared__ int s[2][64];
  auto pipeline = cuda::make_pipeline();
  for (int k = 0; k < 2; ++k) {
    pipeline.producer_acquire();
    cuda::memcpy_async(&s[k][threadIdx.x], &b.in[64 * k + threadIdx.x], sizeof(int), pipeline);
    pipeline.producer_commit();
  }
  int sum = 0;
  for (int k = 0; k < 2; ++k) {
    pipeline.consumer_wait();
    __syncthreads();
    sum += s[k][63 - threadIdx.x];
    pipeline.consumer_release();
  }
  b.out[threadIdx.x] = sum;
}

// expect: clean
extern "C" __global__ void reduce_of_cub(Buffers b) {
  using Reduce = cub::BlockReduce<int, 64>;
  __shared__ Reduce::TempStorage storage;
  const int sum = Reduce(storage).Sum(b.in[threadIdx.x]);
  if (threadIdx.x == 0) b.out[0] = sum;
}

// expect: clean
extern "C" __global__ void scan_of_cub(Buffers b) {
  using Scan = cub::BlockScan<int, 64>;
  __shared__ Scan::TempStorage storage;
  int items[4], sum;
  for (int k = 0; k < 4; ++k) items[k] = b.in[4 * threadIdx.x + k];
  Scan(storage).ExclusiveSum(items, items, sum);
  for (int k = 0; k < 4; ++k) b.out[4 * threadIdx.x + k] = items[k] + sum;
}

// expect: clean
extern "C" __global__ void sort_of_cub(Buffers b) {
  using Sort = cub::BlockRadixSort<int, 64, 4>;
  __shared__ Sort::TempStorage storage;
  int items[4];
  for (int k = 0; k < 4; ++k) items[k] = b.in[1023 - 4 * threadIdx.x - k] * 37 % 1000;
  Sort(storage).Sort(items);
  for (int k = 0; k < 4; ++k) b.out[4 * threadIdx.x + k] = items[k];
}
