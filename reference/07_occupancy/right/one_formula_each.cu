// points: 100 + 10
// 64-bit arithmetic, one expression for each rule, and the fraction in float.

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "occupancy.h"

using Int = std::int64_t;

constexpr Int Ceil(Int a, Int b) { return (a + b - 1) / b; }
static int Cap(Int blocks) { return static_cast<int>(std::min<Int>(blocks, kUnlimited)); }

static int WarpLimit(const DeviceLimits& d, Int threads) {
  if (threads <= 0 || threads > d.max_threads_per_block) return 0;
  return Cap(d.max_warps_per_sm / Ceil(threads, d.warp_size));
}

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(WarpLimit(*device, threads_per_block), device->max_blocks_per_sm);
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  if (shared_per_block > device->shared_per_block) return 0;
  const Int bytes = Ceil(Int{shared_per_block} + device->shared_reserved, device->shared_unit) * device->shared_unit;
  return bytes == 0 ? kUnlimited : Cap(device->shared_per_sm / bytes);
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  const DeviceLimits& d = *device;
  if (threads_per_block <= 0 || threads_per_block > d.max_threads_per_block) return 0;
  if (registers_per_thread > d.max_registers_per_thread) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const Int warps = Ceil(Ceil(threads_per_block, d.warp_size), d.warp_granularity) * d.warp_granularity;
  const Int given = Ceil(warps * d.warp_size * registers_per_thread, d.register_unit) * d.register_unit;
  return given > d.registers_per_block ? 0 : Cap(d.registers_per_sm / given);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  const DeviceLimits& d = *device;
  if (threads_per_block <= 0 || threads_per_block > d.max_threads_per_block) return 0;
  if (registers_per_thread > d.max_registers_per_thread) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const Int of_warp = Ceil(Int{d.warp_size} * registers_per_thread, d.register_unit) * d.register_unit;
  const Int warps = Ceil(threads_per_block, d.warp_size);
  if (Ceil(warps, d.warp_granularity) * d.warp_granularity * of_warp > d.registers_per_block) return 0;
  return Cap(d.registers_per_sm / of_warp / d.warp_granularity * d.warp_granularity / warps);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const auto registers = device->registers_by_block != 0 ? occupancy3_registers_by_block : occupancy4_registers_by_warp;
  int* by = result->blocks_by;
  by[kLimitWarps] = WarpLimit(*device, kernel->threads_per_block);
  by[kLimitBlocks] = device->max_blocks_per_sm;
  by[kLimitRegisters] = registers(device, kernel->threads_per_block, kernel->registers_per_thread);
  by[kLimitShared] = occupancy2_shared(device, kernel->shared_per_block);
  result->limiter = static_cast<int>(std::distance(by, std::min_element(by, by + 4)));
  result->blocks = by[result->limiter];
  result->warps = static_cast<int>(result->blocks * Ceil(kernel->threads_per_block, device->warp_size));
  result->occupancy = static_cast<float>(result->warps) / static_cast<float>(device->max_warps_per_sm);
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, most = 0;
  for (int threads = device->max_threads_per_block / device->warp_size * device->warp_size; threads > 0;
       threads -= device->warp_size) {
    KernelNeeds needs = *kernel;
    needs.threads_per_block = threads;
    needs.shared_per_block += threads * kernel->shared_per_thread;
    OccupancyResult result;
    occupancy5_limiter(device, &needs, &result);
    if (result.warps > most) most = result.warps, best = threads;
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  // Fewer registers never mean fewer warps, so a binary search finds the limit.
  int fits = 0, too_many = device->max_registers_per_thread + 1;
  while (too_many - fits > 1) {
    KernelNeeds needs = *kernel;
    needs.registers_per_thread = (fits + too_many) / 2;
    OccupancyResult result;
    occupancy5_limiter(device, &needs, &result);
    (result.warps >= warps ? fits : too_many) = needs.registers_per_thread;
  }
  return fits;
}
