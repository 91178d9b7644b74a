// points: 100 + 10
// No division: places blocks on the SM one after the other until a resource is used up.

#include "occupancy.h"

static int warps_in(const DeviceLimits* device, int threads) {
  int warps = 0;
  while (threads > 0) {
    threads -= device->warp_size;
    ++warps;
  }
  return warps;
}

static long long up(long long amount, int unit) {
  while (amount % unit != 0) ++amount;
  return amount;
}

static bool launchable(const DeviceLimits* device, int threads) {
  return threads >= 1 && threads <= device->max_threads_per_block;
}

static int fill(long long room, long long each) {
  int blocks = 0;
  while (room >= each) {
    room -= each;
    ++blocks;
  }
  return blocks;
}

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  if (!launchable(device, threads_per_block)) return 0;
  const int blocks = fill(device->max_warps_per_sm, warps_in(device, threads_per_block));
  return blocks > device->max_blocks_per_sm ? device->max_blocks_per_sm : blocks;
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  if (shared_per_block > device->shared_per_block) return 0;
  const long long each = up(static_cast<long long>(shared_per_block) + device->shared_reserved, device->shared_unit);
  if (each == 0) return kUnlimited;
  return fill(device->shared_per_sm, each);
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  if (!launchable(device, threads_per_block)) return 0;
  if (registers_per_thread > device->max_registers_per_thread) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  long long warps = up(warps_in(device, threads_per_block), device->warp_granularity);
  return fill(device->registers_per_sm, up(warps * device->warp_size * registers_per_thread, device->register_unit));
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  if (!launchable(device, threads_per_block)) return 0;
  if (registers_per_thread > device->max_registers_per_thread) return 0;
  if (registers_per_thread == 0) return kUnlimited;
  const long long piece = up(static_cast<long long>(device->warp_size) * registers_per_thread, device->register_unit);
  const int warps = warps_in(device, threads_per_block);
  if (up(warps, device->warp_granularity) * piece > device->registers_per_block) return 0;
  int resident = fill(device->registers_per_sm, piece);
  while (resident % device->warp_granularity != 0) --resident;
  return fill(resident, warps);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const int warps = warps_in(device, kernel->threads_per_block);
  result->blocks_by[0] = launchable(device, kernel->threads_per_block) ? fill(device->max_warps_per_sm, warps) : 0;
  result->blocks_by[1] = device->max_blocks_per_sm;
  if (device->registers_by_block == 1) {
    result->blocks_by[2] =
        occupancy3_registers_by_block(device, kernel->threads_per_block, kernel->registers_per_thread);
  } else {
    result->blocks_by[2] =
        occupancy4_registers_by_warp(device, kernel->threads_per_block, kernel->registers_per_thread);
  }
  result->blocks_by[3] = occupancy2_shared(device, kernel->shared_per_block);
  result->limiter = 0;
  for (int i = 1; i < 4; ++i) {
    if (result->blocks_by[i] < result->blocks_by[result->limiter]) result->limiter = i;
  }
  result->blocks = result->blocks_by[result->limiter];
  result->warps = result->blocks * warps;
  result->occupancy = 1.0 * result->warps / device->max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, best_warps = 0;
  for (int threads = device->warp_size; threads <= device->max_threads_per_block; threads += device->warp_size) {
    KernelNeeds k = {threads, kernel->registers_per_thread,
                     kernel->shared_per_block + threads * kernel->shared_per_thread, 0};
    OccupancyResult r;
    occupancy5_limiter(device, &k, &r);
    if (r.warps > 0 && r.warps >= best_warps) {
      best = threads;
      best_warps = r.warps;
    }
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  int budget = 0;
  for (int registers = 1; registers <= device->max_registers_per_thread; ++registers) {
    KernelNeeds k = *kernel;
    OccupancyResult r;
    k.registers_per_thread = registers;
    occupancy5_limiter(device, &k, &r);
    if (r.warps >= warps) budget = registers;
  }
  return budget;
}
