// Cooperative groups as nvcc compiles them.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

// Each round every block reads what its neighbour wrote in the round before.
extern "C" __global__ void grid_rounds(int* cells, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  const int n = gridDim.x, me = blockIdx.x;
  for (int r = 0; r < rounds; ++r) {
    int next = 0;
    if (threadIdx.x == 0) next = cells[(me + 1) % n];
    grid.sync();
    if (threadIdx.x == 0) cells[me] += next;
    grid.sync();
  }
}

extern "C" __global__ void tiles(const int* in, int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto tile = cg::tiled_partition<8>(block);
  const int t = block.thread_rank(), x = in[t];
  out[6 * t] = cg::reduce(warp, x, cg::plus<int>());
  out[6 * t + 1] = cg::reduce(tile, x, cg::greater<int>());
  out[6 * t + 2] = cg::inclusive_scan(tile, x);
  out[6 * t + 3] = tile.shfl_xor(x, 1);
  if (x % 3 == 0) {
    const cg::coalesced_group some = cg::coalesced_threads();
    out[6 * t + 4] = some.size() * 100 + some.thread_rank();
  } else {
    const auto others = cg::coalesced_threads();
    out[6 * t + 4] = cg::reduce(others, x, cg::plus<int>());
  }
  block.sync();
  out[6 * t + 5] = warp.any(x == 40) * 2 + tile.all(x >= 0);
}

extern "C" __global__ void labeled(const int* in, int* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int t = threadIdx.x;
  const auto group = cg::labeled_partition(warp, in[t] & 3);
  out[t] = cg::reduce(group, in[t], cg::plus<int>());
}

// A tile of two warps goes through shared memory that the runtime reserves.
extern "C" __global__ void wide_tiles(const int* in, int* out) {
  __shared__ cg::block_tile_memory<128> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  const int t = block.thread_rank();
  out[t] = cg::reduce(tile, in[t], cg::plus<int>());
}
