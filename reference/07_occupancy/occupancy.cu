// An occupancy calculator: how many blocks of a kernel an SM can hold at once, and what holds their number down.
//
// Each resource is allocated in its own units, so each rung rounds differently; the resource that allows the fewest
// blocks decides.

#include <algorithm>

#include "occupancy.h"

static int divide_up(int value, int unit) { return (value + unit - 1) / unit; }
static int round_up(int value, int unit) { return divide_up(value, unit) * unit; }
static int round_down(int value, int unit) { return value / unit * unit; }

static bool is_block(const DeviceLimits* device, int threads) {
  return threads >= 1 && threads <= device->max_threads_per_block;
}

static int warps_of(const DeviceLimits* device, int threads) { return divide_up(threads, device->warp_size); }

static int blocks_by_warps(const DeviceLimits* device, int threads) {
  return is_block(device, threads) ? device->max_warps_per_sm / warps_of(device, threads) : 0;
}

// Rung 1. A block takes whole warps; the SM has slots for warps and slots for blocks.
int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(blocks_by_warps(device, threads_per_block), device->max_blocks_per_sm);
}

// Rung 2. Shared memory is allocated in units; the bytes that the runtime reserves are part of the block's allocation.
int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  if (shared_per_block > device->shared_per_block) return 0;
  const int given = round_up(shared_per_block + device->shared_reserved, device->shared_unit);
  return given == 0 ? kUnlimited : device->shared_per_sm / given;
}

// Rung 3. Compute capability 1.x: one piece a block, for an even number of warps.
int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  if (!is_block(device, threads_per_block) || registers_per_thread > device->max_registers_per_thread) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const int warps = round_up(warps_of(device, threads_per_block), device->warp_granularity);
  const int given = round_up(warps * device->warp_size * registers_per_thread, device->register_unit);
  return device->registers_per_sm / given;
}

// Rung 4. From 2.0 on: one piece a warp. The SM's registers lie in warp_granularity equal parts, so that warps fit in
// multiples of it.
int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  if (!is_block(device, threads_per_block) || registers_per_thread > device->max_registers_per_thread) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const int warps = warps_of(device, threads_per_block);
  const int given = round_up(device->warp_size * registers_per_thread, device->register_unit);
  if (round_up(warps, device->warp_granularity) * given > device->registers_per_block) return 0;
  return round_down(device->registers_per_sm / given, device->warp_granularity) / warps;
}

// Rung 5. The resource that allows the fewest blocks is the limit.
int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const int threads = kernel->threads_per_block, registers = kernel->registers_per_thread;
  result->blocks_by[kLimitWarps] = blocks_by_warps(device, threads);
  result->blocks_by[kLimitBlocks] = device->max_blocks_per_sm;
  result->blocks_by[kLimitRegisters] = device->registers_by_block != 0
                                           ? occupancy3_registers_by_block(device, threads, registers)
                                           : occupancy4_registers_by_warp(device, threads, registers);
  result->blocks_by[kLimitShared] = occupancy2_shared(device, kernel->shared_per_block);
  const int* least = std::min_element(result->blocks_by, result->blocks_by + 4);
  result->limiter = static_cast<int>(least - result->blocks_by);
  result->blocks = *least;
  result->warps = result->blocks * warps_of(device, threads);
  result->occupancy = static_cast<double>(result->warps) / device->max_warps_per_sm;
  return 0;
}

// Rung 6. There are at most 32 sizes: all are tried.
int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, most_warps = 1;
  for (int threads = device->warp_size; threads <= device->max_threads_per_block; threads += device->warp_size) {
    const KernelNeeds needs = {threads, kernel->registers_per_thread,
                               kernel->shared_per_block + threads * kernel->shared_per_thread, 0};
    OccupancyResult result;
    occupancy5_limiter(device, &needs, &result);
    if (result.warps < most_warps) continue;
    best = threads;
    most_warps = result.warps;
  }
  return best;
}

// Rung 7. From above: the first number that is few enough is the largest.
int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  KernelNeeds needs = *kernel;
  for (int registers = device->max_registers_per_thread; registers > 0; --registers) {
    needs.registers_per_thread = registers;
    OccupancyResult result;
    occupancy5_limiter(device, &needs, &result);
    if (result.warps >= warps) return registers;
  }
  return 0;
}
