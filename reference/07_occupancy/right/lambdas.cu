// points: 100 + 10
// The rules are lambdas over one device; the fraction is rounded to float on the way.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>

#include "occupancy.h"

namespace {

struct Rules {
  std::function<int(int)> warps, by_warps, by_shared;
  std::function<std::optional<int>(int, int)> refused;  // what registers come to where no rule is needed
  std::function<int(int, int)> by_block, by_warp;
};

Rules rules_of(const DeviceLimits* d) {
  const auto multiple = [](int value, int unit) { return (value / unit + (value % unit ? 1 : 0)) * unit; };
  Rules rules;
  rules.warps = [=](int threads) { return multiple(threads, d->warp_size) / d->warp_size; };
  const auto warps = rules.warps;
  const auto fits = [=](int threads) { return 0 < threads && threads <= d->max_threads_per_block; };
  rules.by_warps = [=](int threads) { return fits(threads) ? d->max_warps_per_sm / warps(threads) : 0; };
  rules.by_shared = [=](int bytes) {
    if (bytes > d->shared_per_block) return 0;
    const int given = multiple(bytes + d->shared_reserved, d->shared_unit);
    return given ? d->shared_per_sm / given : kUnlimited;
  };
  rules.refused = [=](int threads, int registers) -> std::optional<int> {
    if (!fits(threads) || registers > d->max_registers_per_thread) return 0;
    if (registers == 0) return kUnlimited;
    return std::nullopt;
  };
  const auto refused = rules.refused;
  rules.by_block = [=](int threads, int registers) {
    if (const auto known = refused(threads, registers)) return *known;
    return d->registers_per_sm /
           multiple(multiple(warps(threads), d->warp_granularity) * d->warp_size * registers, d->register_unit);
  };
  rules.by_warp = [=](int threads, int registers) {
    if (const auto known = refused(threads, registers)) return *known;
    const int piece = multiple(registers * d->warp_size, d->register_unit), count = warps(threads);
    if (multiple(count, d->warp_granularity) * piece > d->registers_per_block) return 0;
    return d->registers_per_sm / d->warp_granularity / piece * d->warp_granularity / count;
  };
  return rules;
}

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(rules_of(device).by_warps(threads_per_block), device->max_blocks_per_sm);
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  return rules_of(device).by_shared(shared_per_block);
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return rules_of(device).by_block(threads_per_block, registers_per_thread);
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return rules_of(device).by_warp(threads_per_block, registers_per_thread);
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const Rules rules = rules_of(device);
  const int threads = kernel->threads_per_block, registers = kernel->registers_per_thread;
  const std::map<int, int> limits = {
      {kLimitWarps, rules.by_warps(threads)},
      {kLimitBlocks, device->max_blocks_per_sm},
      {kLimitRegisters, (device->registers_by_block ? rules.by_block : rules.by_warp)(threads, registers)},
      {kLimitShared, rules.by_shared(kernel->shared_per_block)}};
  for (const auto& [limiter, blocks] : limits) result->blocks_by[limiter] = blocks;
  const auto least =
      std::min_element(limits.begin(), limits.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  result->limiter = least->first;
  result->blocks = least->second;
  result->warps = result->blocks * rules.warps(threads);
  const float share = static_cast<float>(result->warps) * (1.0f / static_cast<float>(device->max_warps_per_sm));
  result->occupancy = share;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  std::map<int, int> largest_with;  // warps: block size
  for (int threads = device->warp_size; threads <= device->max_threads_per_block; threads += device->warp_size) {
    OccupancyResult result;
    const KernelNeeds needs = {threads, kernel->registers_per_thread,
                               kernel->shared_per_block + kernel->shared_per_thread * threads, 0};
    occupancy5_limiter(device, &needs, &result);
    largest_with[result.warps] = threads;
  }
  largest_with.erase(0);
  return largest_with.empty() ? 0 : largest_with.rbegin()->second;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  const auto enough = [&](int registers) {
    OccupancyResult result;
    const KernelNeeds needs = {kernel->threads_per_block, registers, kernel->shared_per_block, 0};
    occupancy5_limiter(device, &needs, &result);
    return result.warps >= warps;
  };
  int registers = device->max_registers_per_thread;
  while (registers > 0 && !enough(registers)) --registers;
  return registers;
}
