// points: 100 + 10
// Rounding in floating point, which is exact for such numbers; rung 7 goes up from one register and stops at the first
// that is too many.

#include <algorithm>
#include <cmath>

#include "occupancy.h"

static int up(double value, double unit) { return static_cast<int>(std::ceil(value / unit) * unit); }

static int warps_per_block(const DeviceLimits* d, int threads) {
  return static_cast<int>(std::ceil(static_cast<double>(threads) / d->warp_size));
}

static int warps_limit(const DeviceLimits* d, int threads) {
  return threads < 1 || threads > d->max_threads_per_block ? 0 : d->max_warps_per_sm / warps_per_block(d, threads);
}

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(device->max_blocks_per_sm, warps_limit(device, threads_per_block));
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  if (shared_per_block > device->shared_per_block) return 0;
  const int total = up(shared_per_block + device->shared_reserved, device->shared_unit);
  if (total == 0) return kUnlimited;
  return static_cast<int>(std::floor(static_cast<double>(device->shared_per_sm) / total));
}

static bool cannot_launch(const DeviceLimits* d, int threads, int registers) {
  return threads < 1 || threads > d->max_threads_per_block || registers > d->max_registers_per_thread;
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  if (cannot_launch(device, threads_per_block, registers_per_thread)) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const int warps = up(warps_per_block(device, threads_per_block), device->warp_granularity);
  const int registers = up(double(warps) * device->warp_size * registers_per_thread, device->register_unit);
  return device->registers_per_sm / registers;
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  if (cannot_launch(device, threads_per_block, registers_per_thread)) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const int warps = warps_per_block(device, threads_per_block);
  const int piece = up(double(device->warp_size) * registers_per_thread, device->register_unit);
  if (double(up(warps, device->warp_granularity)) * piece > device->registers_per_block) return 0;
  const int groups = device->registers_per_sm / (piece * device->warp_granularity);
  return groups * device->warp_granularity / warps;
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const int t = kernel->threads_per_block, r = kernel->registers_per_thread;
  const int by[4] = {warps_limit(device, t), device->max_blocks_per_sm,
                     device->registers_by_block ? occupancy3_registers_by_block(device, t, r)
                                                : occupancy4_registers_by_warp(device, t, r),
                     occupancy2_shared(device, kernel->shared_per_block)};
  std::copy(by, by + 4, result->blocks_by);
  result->blocks = std::min({by[0], by[1], by[2], by[3]});
  result->limiter = static_cast<int>(std::find(by, by + 4, result->blocks) - by);
  result->warps = result->blocks * warps_per_block(device, t);
  result->occupancy = static_cast<double>(result->warps) / static_cast<double>(device->max_warps_per_sm);
  return 0;
}

static int warps_of(const DeviceLimits* device, const KernelNeeds& kernel) {
  OccupancyResult result;
  occupancy5_limiter(device, &kernel, &result);
  return result.warps;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0;
  double score = 0;  // warps first, then threads
  for (int t = device->warp_size; t <= device->max_threads_per_block; t += device->warp_size) {
    const int warps = warps_of(
        device, {t, kernel->registers_per_thread, kernel->shared_per_block + t * kernel->shared_per_thread, 0});
    const double own = warps * 1e6 + t;
    if (warps > 0 && own > score) {
      score = own;
      best = t;
    }
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  KernelNeeds needs = *kernel;
  int best = 0;
  for (int r = 1; r <= device->max_registers_per_thread; ++r) {
    needs.registers_per_thread = r;
    if (warps_of(device, needs) < warps) break;
    best = r;
  }
  return best;
}
