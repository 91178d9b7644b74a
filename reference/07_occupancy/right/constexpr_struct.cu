// points: 100 + 10
// Host and device functions that are constexpr, so that they could be used in kernels too; unsigned where it fits.

#include "occupancy.h"

template <class T>
__host__ __device__ constexpr T least(T a, T b) {
  return b < a ? b : a;
}

struct Units {
  unsigned unit;
  __host__ __device__ constexpr unsigned count(unsigned amount) const { return amount / unit + (amount % unit != 0); }
  __host__ __device__ constexpr unsigned whole(unsigned amount) const { return count(amount) * unit; }
  __host__ __device__ constexpr unsigned below(unsigned amount) const { return amount - amount % unit; }
};

__host__ __device__ constexpr bool is_block(const DeviceLimits& d, int threads) {
  return threads > 0 && threads <= d.max_threads_per_block;
}

__host__ __device__ constexpr unsigned warps_of(const DeviceLimits& d, int threads) {
  return Units{unsigned(d.warp_size)}.count(unsigned(threads));
}

__host__ __device__ constexpr int warp_limit(const DeviceLimits& d, int threads) {
  return is_block(d, threads) ? int(d.max_warps_per_sm / warps_of(d, threads)) : 0;
}

__host__ __device__ constexpr int shared_limit(const DeviceLimits& d, int bytes) {
  if (bytes > d.shared_per_block) return 0;
  const unsigned given = Units{unsigned(d.shared_unit)}.whole(unsigned(bytes + d.shared_reserved));
  return given == 0 ? kUnlimited : int(unsigned(d.shared_per_sm) / given);
}

__host__ __device__ constexpr int register_limit(const DeviceLimits& d, int threads, int registers, bool by_block) {
  if (!is_block(d, threads)) return 0;
  if (registers > d.max_registers_per_thread) return 0;
  if (registers == 0) return kUnlimited;
  const Units units{unsigned(d.register_unit)}, granularity{unsigned(d.warp_granularity)};
  const unsigned warps = warps_of(d, threads), even = granularity.whole(warps);
  const unsigned of_warp = unsigned(d.warp_size) * unsigned(registers);
  if (by_block) {
    const unsigned given = units.whole(even * of_warp);
    return given > unsigned(d.registers_per_block) ? 0 : int(unsigned(d.registers_per_sm) / given);
  }
  const unsigned piece = units.whole(of_warp);
  if (even * piece > unsigned(d.registers_per_block)) return 0;
  return int(granularity.below(unsigned(d.registers_per_sm) / piece) / warps);
}

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return least(warp_limit(*device, threads_per_block), device->max_blocks_per_sm);
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  return shared_limit(*device, shared_per_block);
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return register_limit(*device, threads_per_block, registers_per_thread, true);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return register_limit(*device, threads_per_block, registers_per_thread, false);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const DeviceLimits& d = *device;
  const int threads = kernel->threads_per_block;
  OccupancyResult r = {};
  r.blocks_by[kLimitWarps] = warp_limit(d, threads);
  r.blocks_by[kLimitBlocks] = d.max_blocks_per_sm;
  r.blocks_by[kLimitRegisters] = register_limit(d, threads, kernel->registers_per_thread, d.registers_by_block != 0);
  r.blocks_by[kLimitShared] = shared_limit(d, kernel->shared_per_block);
  r.blocks = least(least(r.blocks_by[0], r.blocks_by[1]), least(r.blocks_by[2], r.blocks_by[3]));
  while (r.blocks_by[r.limiter] != r.blocks) ++r.limiter;
  r.warps = threads > 0 ? r.blocks * int(warps_of(d, threads)) : 0;
  r.occupancy = r.warps / double(d.max_warps_per_sm);
  *result = r;
  return 0;
}

static int warps_with(const DeviceLimits* device, KernelNeeds kernel) {
  OccupancyResult result;
  occupancy5_limiter(device, &kernel, &result);
  return result.warps;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  int best = 0, most = 1;
  for (int warps = 1; warps * device->warp_size <= device->max_threads_per_block; ++warps) {
    const int threads = warps * device->warp_size;
    const int resident = warps_with(device, {threads, kernel->registers_per_thread,
                                             kernel->shared_per_block + threads * kernel->shared_per_thread, 0});
    if (resident < most) continue;
    most = resident;
    best = threads;
  }
  return best;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  int registers = device->max_registers_per_thread;
  for (; registers > 0; --registers) {
    if (warps_with(device, {kernel->threads_per_block, registers, kernel->shared_per_block, 0}) >= warps) break;
  }
  return registers;
}
