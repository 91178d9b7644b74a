// points: 100 + 10
// Functions that return the whole result, recursion instead of loops, percent turned into a fraction at the end.

#include <algorithm>
#include <tuple>

#include "occupancy.h"

namespace student {

using std::max;
using std::min;

int ceil_div(int a, int b) { return a / b + (a % b > 0 ? 1 : 0); }

struct Block {
  const DeviceLimits* sm;
  KernelNeeds needs;

  bool fits() const { return needs.threads_per_block > 0 && needs.threads_per_block <= sm->max_threads_per_block; }
  bool has_registers() const { return needs.registers_per_thread <= sm->max_registers_per_thread; }
  int warps() const { return ceil_div(needs.threads_per_block, sm->warp_size); }
  int padded_warps() const { return ceil_div(warps(), sm->warp_granularity) * sm->warp_granularity; }
  int registers_of_block() const {
    return ceil_div(padded_warps() * sm->warp_size * needs.registers_per_thread, sm->register_unit) * sm->register_unit;
  }
  int registers_of_warp() const {
    return ceil_div(sm->warp_size * needs.registers_per_thread, sm->register_unit) * sm->register_unit;
  }
  int shared() const {
    return ceil_div(needs.shared_per_block + sm->shared_reserved, sm->shared_unit) * sm->shared_unit;
  }
};

int by_warps(const Block& b) { return b.fits() ? b.sm->max_warps_per_sm / b.warps() : 0; }

int by_shared(const Block& b) {
  if (b.needs.shared_per_block > b.sm->shared_per_block) return 0;
  return b.shared() == 0 ? kUnlimited : b.sm->shared_per_sm / b.shared();
}

int by_registers(const Block& b, bool whole) {
  if (!b.fits() || !b.has_registers()) return 0;
  if (b.needs.registers_per_thread == 0) return kUnlimited;
  if (whole)
    return b.registers_of_block() > b.sm->registers_per_block ? 0 : b.sm->registers_per_sm / b.registers_of_block();
  if (b.padded_warps() * b.registers_of_warp() > b.sm->registers_per_block) return 0;
  const int warps = b.sm->registers_per_sm / b.registers_of_warp();
  return warps / b.sm->warp_granularity * b.sm->warp_granularity / b.warps();
}

OccupancyResult solve(const Block& b) {
  OccupancyResult r{};
  std::tie(r.blocks_by[0], r.blocks_by[1], r.blocks_by[2], r.blocks_by[3]) = std::make_tuple(
      by_warps(b), b.sm->max_blocks_per_sm, by_registers(b, b.sm->registers_by_block == 1), by_shared(b));
  r.blocks = min(min(r.blocks_by[0], r.blocks_by[1]), min(r.blocks_by[2], r.blocks_by[3]));
  r.limiter = r.blocks == r.blocks_by[0] ? 0 : r.blocks == r.blocks_by[1] ? 1 : r.blocks == r.blocks_by[2] ? 2 : 3;
  r.warps = r.blocks * b.warps();
  const double percent = 100.0 * r.warps / b.sm->max_warps_per_sm;
  r.occupancy = percent / 100;
  return r;
}

// The largest pair of (warps, threads) among block sizes up to this one.
std::pair<int, int> best(const DeviceLimits* sm, const KernelNeeds& k, int threads) {
  if (threads <= 0) return {0, 0};
  const Block b = {sm, {threads, k.registers_per_thread, k.shared_per_block + threads * k.shared_per_thread, 0}};
  const int warps = solve(b).warps;
  const auto rest = best(sm, k, threads - sm->warp_size);
  return warps == 0 ? rest : max(rest, {warps, threads});
}

int budget(Block b, int warps) {
  if (b.needs.registers_per_thread == 0) return 0;
  if (solve(b).warps >= warps) return b.needs.registers_per_thread;
  --b.needs.registers_per_thread;
  return budget(b, warps);
}

}  // namespace student

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(student::by_warps({device, {threads_per_block, 0, 0, 0}}), device->max_blocks_per_sm);
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  return student::by_shared({device, {0, 0, shared_per_block, 0}});
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return student::by_registers({device, {threads_per_block, registers_per_thread, 0, 0}}, true);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return student::by_registers({device, {threads_per_block, registers_per_thread, 0, 0}}, false);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  *result = student::solve({device, *kernel});
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  return student::best(device, *kernel, device->max_threads_per_block / device->warp_size * device->warp_size).second;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  KernelNeeds needs = *kernel;
  needs.registers_per_thread = device->max_registers_per_thread;
  return student::budget({device, needs}, warps);
}
