// at most: 0 points
// Asks the CUDA runtime for everything, as if the device were the one that it runs on.
#include <cuda_runtime.h>

#include <algorithm>

#include "occupancy.h"

__global__ void nothing_kernel() {}

namespace {

int blocks(int threads, int shared) {
  int found = 0;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&found, nothing_kernel, threads, static_cast<size_t>(shared));
  return found;
}

}  // namespace

int occupancy1_threads(const DeviceLimits*, int threads) { return blocks(threads, 0); }
int occupancy2_shared(const DeviceLimits*, int shared) { return blocks(32, shared); }
int occupancy3_registers_by_block(const DeviceLimits*, int threads, int) { return blocks(threads, 0); }
int occupancy4_registers_by_warp(const DeviceLimits*, int threads, int) { return blocks(threads, 0); }

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  result->blocks = blocks(kernel->threads_per_block, kernel->shared_per_block);
  std::fill(result->blocks_by, result->blocks_by + 4, result->blocks);
  result->limiter = kLimitWarps;
  result->warps = result->blocks * ((kernel->threads_per_block + 31) / 32);
  result->occupancy = static_cast<double>(result->warps) / device->max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits*, const KernelNeeds*) {
  int grid = 0, block = 0;
  cudaOccupancyMaxPotentialBlockSize(&grid, &block, nothing_kernel);
  return block;
}

int occupancy7_register_budget(const DeviceLimits*, const KernelNeeds* kernel, int warps) {
  return blocks(kernel->threads_per_block, kernel->shared_per_block) * ((kernel->threads_per_block + 31) / 32) >= warps;
}
