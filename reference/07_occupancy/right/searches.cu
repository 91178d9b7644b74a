// points: 100 + 10
// No division: a binary search finds the most blocks that fit, and additions tell whether they fit.
#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "occupancy.h"

namespace {

using Wide = long long;

// The largest k from 0 to most for which fits(k) holds; fits(0) does, and it holds up to some k.
template <class Fits>
Wide largest(Wide most, Fits fits) {
  Wide low = 0, high = most;
  while (low < high) {
    const Wide middle = low + (high - low + 1) / 2;
    if (fits(middle)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return low;
}

// The fewest units that hold this amount.
Wide units(Wide amount, Wide unit) {
  return largest(amount, [&](Wide k) { return k * unit < amount; }) + (amount > 0 ? 1 : 0);
}
Wide up(Wide amount, Wide unit) { return units(amount, unit) * unit; }

bool is_launchable(const DeviceLimits& d, int threads) { return threads >= 1 && threads <= d.max_threads_per_block; }
Wide warps_of(const DeviceLimits& d, int threads) { return units(threads, d.warp_size); }

int by_warps(const DeviceLimits& d, int threads) {
  if (!is_launchable(d, threads)) return 0;
  const Wide warps = warps_of(d, threads);
  return static_cast<int>(largest(d.max_warps_per_sm, [&](Wide k) { return k * warps <= d.max_warps_per_sm; }));
}

int by_blocks(const DeviceLimits& d, int threads) { return is_launchable(d, threads) ? d.max_blocks_per_sm : 0; }

int by_shared(const DeviceLimits& d, Wide own) {
  if (own > d.shared_per_block) return 0;
  const Wide each = up(own + d.shared_reserved, d.shared_unit);
  if (each == 0) return kUnlimited;
  return static_cast<int>(largest(d.shared_per_sm, [&](Wide k) { return k * each <= d.shared_per_sm; }));
}

int by_registers(const DeviceLimits& d, int threads, int registers) {
  if (!is_launchable(d, threads) || registers > d.max_registers_per_thread) return 0;
  if (registers == 0) return kUnlimited;
  const Wide granularity = d.warp_granularity, warps = warps_of(d, threads), rounded = up(warps, granularity);
  const Wide a_warp = Wide{registers} * d.warp_size;
  if (d.registers_by_block != 0) {
    const Wide each = up(rounded * a_warp, d.register_unit);
    if (each > d.registers_per_block) return 0;
    return static_cast<int>(largest(d.registers_per_sm, [&](Wide k) { return k * each <= d.registers_per_sm; }));
  }
  const Wide each = up(a_warp, d.register_unit);
  if (rounded * each > d.registers_per_block) return 0;
  // Each part has room for the same number of warps.
  const Wide in_part =
      largest(d.registers_per_sm, [&](Wide k) { return k * each * granularity <= d.registers_per_sm; });
  return static_cast<int>(largest(in_part * granularity, [&](Wide k) { return k * warps <= in_part * granularity; }));
}

OccupancyResult all(const DeviceLimits& d, const KernelNeeds& k) {
  const Wide shared = k.shared_per_block + Wide{k.shared_per_thread} * k.threads_per_block;
  const std::array<int, 4> by{by_warps(d, k.threads_per_block), by_blocks(d, k.threads_per_block),
                              by_registers(d, k.threads_per_block, k.registers_per_thread), by_shared(d, shared)};
  OccupancyResult r{};
  const auto least = std::min_element(by.begin(), by.end());
  std::copy(by.begin(), by.end(), r.blocks_by);
  r.limiter = static_cast<int>(least - by.begin());
  r.blocks = *least;
  r.warps = r.blocks == 0 ? 0 : static_cast<int>(r.blocks * warps_of(d, k.threads_per_block));
  r.occupancy = r.warps / static_cast<double>(d.max_warps_per_sm);
  return r;
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(by_warps(*device, threads_per_block), by_blocks(*device, threads_per_block));
}
int occupancy2_shared(const DeviceLimits* device, int shared_per_block) { return by_shared(*device, shared_per_block); }
int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return by_registers(*device, threads_per_block, registers_per_thread);
}
int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return by_registers(*device, threads_per_block, registers_per_thread);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  *result = all(*device, *kernel);
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  std::vector<KernelNeeds> sizes;
  for (int threads = device->warp_size; threads <= device->max_threads_per_block; threads += device->warp_size) {
    sizes.push_back(*kernel);
    sizes.back().threads_per_block = threads;
  }
  const auto best = std::max_element(sizes.rbegin(), sizes.rend(), [&](const KernelNeeds& a, const KernelNeeds& b) {
    return all(*device, a).warps < all(*device, b).warps;
  });
  return best == sizes.rend() || all(*device, *best).warps == 0 ? 0 : best->threads_per_block;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  return static_cast<int>(largest(device->max_registers_per_thread, [&](Wide registers) {
    KernelNeeds needs = *kernel;
    needs.registers_per_thread = static_cast<int>(registers);
    return registers == 0 || all(*device, needs).warps >= warps;
  }));
}
