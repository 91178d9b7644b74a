// verdict: WRONG occupancy2_shared
// Rounds by a mask, which is right for powers of two alone.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <tuple>
#include <variant>

#include "occupancy.h"

namespace {

using Count = std::uint64_t;
constexpr Count kMany = std::numeric_limits<Count>::max();

Count round_up(Count n, Count unit) {
  if (unit != 0) return (n + unit - 1) & ~(unit - 1);
  return n + (unit - n % unit) % unit;
}

struct Block {
  Count threads, warps;
};

std::optional<Block> block_of(const DeviceLimits& d, int threads) {
  if (threads <= 0 || threads > d.max_threads_per_block) return std::nullopt;
  const Count size = static_cast<Count>(d.warp_size);
  return Block{static_cast<Count>(threads), (static_cast<Count>(threads) + size - 1) / size};
}

struct ByBlock {
  const DeviceLimits& d;
  std::optional<Count> operator()(const Block& b, Count registers) const {
    const Count warps = round_up(b.warps, d.warp_granularity);
    const Count piece = round_up(warps * d.warp_size * registers, d.register_unit);
    if (piece > static_cast<Count>(d.registers_per_block)) return std::nullopt;
    return piece == 0 ? kMany : d.registers_per_sm / piece;
  }
};

struct ByWarp {
  const DeviceLimits& d;
  std::optional<Count> operator()(const Block& b, Count registers) const {
    const Count piece = round_up(registers * d.warp_size, d.register_unit);
    if (piece == 0) return kMany;
    if (round_up(b.warps, d.warp_granularity) * piece > static_cast<Count>(d.registers_per_block)) return std::nullopt;
    const Count granularity = d.warp_granularity;
    const Count fit = d.registers_per_sm / piece;
    return (fit - fit % granularity) / b.warps;
  }
};

using Rule = std::variant<ByBlock, ByWarp>;

Rule rule_of(const DeviceLimits& d) {
  if (d.registers_by_block == 1) return ByBlock{d};
  return ByWarp{d};
}

std::optional<Count> registers(const DeviceLimits& d, const Rule& rule, int threads, int each) {
  const auto block = block_of(d, threads);
  if (!block || each > d.max_registers_per_thread) return std::nullopt;
  return std::visit([&](const auto& by) { return by(*block, static_cast<Count>(each)); }, rule);
}

std::optional<Count> shared(const DeviceLimits& d, Count own) {
  if (own > static_cast<Count>(d.shared_per_block)) return std::nullopt;
  const Count piece = round_up(own + d.shared_reserved, d.shared_unit);
  return piece == 0 ? kMany : d.shared_per_sm / piece;
}

int shown(const std::optional<Count>& blocks) {
  return static_cast<int>(std::min<Count>(blocks.value_or(0), static_cast<Count>(kUnlimited)));
}

int warps_allow(const DeviceLimits& d, int threads) {
  const auto block = block_of(d, threads);
  return block ? static_cast<int>(d.max_warps_per_sm / block->warps) : 0;
}
int slots(const DeviceLimits& d, int threads) { return block_of(d, threads) ? d.max_blocks_per_sm : 0; }

}  // namespace

int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  return std::min(warps_allow(*device, threads_per_block), slots(*device, threads_per_block));
}

int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  return shown(shared(*device, static_cast<Count>(shared_per_block)));
}

int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return shown(registers(*device, ByBlock{*device}, threads_per_block, registers_per_thread));
}

int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  return shown(registers(*device, ByWarp{*device}, threads_per_block, registers_per_thread));
}

int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  const DeviceLimits& d = *device;
  const int threads = kernel->threads_per_block;
  const Count own = static_cast<Count>(kernel->shared_per_block) +
                    static_cast<Count>(kernel->shared_per_thread) * static_cast<Count>(std::max(threads, 0));
  int* const by = result->blocks_by;
  by[kLimitWarps] = warps_allow(d, threads);
  by[kLimitBlocks] = slots(d, threads);
  by[kLimitRegisters] = shown(registers(d, rule_of(d), threads, kernel->registers_per_thread));
  by[kLimitShared] = shown(shared(d, own));
  std::tie(result->blocks, result->limiter) = std::min(
      {std::make_tuple(by[0], 0), std::make_tuple(by[1], 1), std::make_tuple(by[2], 2), std::make_tuple(by[3], 3)});
  const auto block = block_of(d, threads);
  result->warps = block ? static_cast<int>(block->warps) * result->blocks : 0;
  result->occupancy = 1.0 * result->warps / d.max_warps_per_sm;
  return 0;
}

int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  std::pair<int, int> best{0, 0};  // warps, threads
  KernelNeeds needs = *kernel;
  OccupancyResult result;
  for (needs.threads_per_block = device->warp_size; needs.threads_per_block <= device->max_threads_per_block;
       needs.threads_per_block += device->warp_size) {
    occupancy5_limiter(device, &needs, &result);
    if (result.warps > 0) best = std::max(best, {result.warps, needs.threads_per_block});
  }
  return best.second;
}

int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  KernelNeeds needs = *kernel;
  OccupancyResult result;
  for (int each = device->max_registers_per_thread; each > 0; --each) {
    needs.registers_per_thread = each;
    occupancy5_limiter(device, &needs, &result);
    if (result.warps >= warps) return each;
  }
  return 0;
}
