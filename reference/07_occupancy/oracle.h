// The oracle of assignment 07: how many blocks fit an SM, found by putting one block after the other on it until
// something runs out. No formula is shared with what a student writes. Students never get it: wrapped, it is a
// solution. The tables that they get instead are made with it, by harness/tests/suites/occupancy_table_test.cc.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "suites/07_occupancy_case.h"
#include "vgpu/model/capability.h"

namespace lockstep::suites {

struct BlockNeeds {
  int threads = 0, registers = 0;  // registers per thread
  int64_t shared = 0;              // bytes a block
};

// How many blocks one resource has room for.
struct OccupancyLimits {
  int by_warps = 0, by_blocks = 0, by_registers = 0, by_shared = 0;
  int Blocks() const { return std::min({by_warps, by_blocks, by_registers, by_shared}); }
};

// A pool that is allocated in units: requests are rounded up to whole ones.
class Pool {
 public:
  Pool(int64_t size, int64_t unit) : free_(size), unit_(unit) {}
  bool Take(int64_t amount) { return TakeWhole(Whole(amount)); }
  bool TakeWhole(int64_t whole) {
    if (whole > free_) return false;
    free_ -= whole;
    return true;
  }
  int64_t Whole(int64_t amount) const {
    const int64_t rest = amount % unit_;
    return rest == 0 ? amount : amount + unit_ - rest;
  }

 private:
  int64_t free_, unit_;
};

inline int WarpsOf(const SmLimits& sm, int threads) {
  int warps = 0;
  for (int placed = 0; placed < threads; placed += sm.warp_size) ++warps;
  return warps;
}

inline bool IsBlock(const SmLimits& sm, int threads) { return threads >= 1 && threads <= sm.max_threads_per_block; }

inline int FillWarps(const SmLimits& sm, int threads) {
  if (!IsBlock(sm, threads)) return 0;
  Pool warps(sm.max_warps, 1);
  int blocks = 0;
  while (warps.Take(WarpsOf(sm, threads))) ++blocks;
  return blocks;
}

// Compute capability 1.x: one piece for the whole block, whose warps are counted in twos.
inline int FillRegistersByBlock(const SmLimits& sm, int threads, int registers) {
  int warps = WarpsOf(sm, threads);
  while (warps % sm.warp_granularity != 0) ++warps;
  Pool file(sm.registers, sm.register_unit);
  if (file.Whole(int64_t{warps} * sm.warp_size * registers) > sm.registers_per_block) return 0;
  int blocks = 0;
  while (file.Take(int64_t{warps} * sm.warp_size * registers)) ++blocks;
  return blocks;
}

// From 2.0 on: the registers are in as many equal parts as the granularity says, and each warp has its own in one part.
inline int FillRegistersByWarp(const SmLimits& sm, int threads, int registers) {
  const int warps = WarpsOf(sm, threads);
  const int64_t warp_registers = int64_t{registers} * sm.warp_size;
  // A block's own limit is checked as if its warps filled all parts evenly.
  int even = warps;
  while (even % sm.warp_granularity != 0) ++even;
  Pool block(sm.registers_per_block, sm.register_unit);
  const int64_t whole = block.Whole(warp_registers);
  for (int warp = 0; warp < even; ++warp) {
    if (!block.TakeWhole(whole)) return 0;
  }
  // All warps need the same, so that the emptiest part is the next in turn.
  std::vector<Pool> parts(static_cast<size_t>(sm.warp_granularity),
                          Pool(sm.registers / sm.warp_granularity, sm.register_unit));
  size_t next = 0;
  for (int blocks = 0;; ++blocks) {
    for (int warp = 0; warp < warps; ++warp) {
      if (!parts[next].TakeWhole(whole)) return blocks;
      next = next + 1 == parts.size() ? 0 : next + 1;
    }
  }
}

inline int FillRegisters(const SmLimits& sm, int threads, int registers) {
  if (!IsBlock(sm, threads) || registers > sm.max_registers_per_thread) return 0;
  if (registers <= 0) return kNoLimit;
  return sm.registers_by_block ? FillRegistersByBlock(sm, threads, registers)
                               : FillRegistersByWarp(sm, threads, registers);
}

inline int FillShared(const SmLimits& sm, int64_t bytes) {
  if (bytes < 0 || bytes > sm.shared_per_block) return 0;
  if (bytes + sm.shared_reserved == 0) return kNoLimit;
  Pool pool(sm.shared, sm.shared_unit);
  int blocks = 0;
  while (pool.Take(bytes + sm.shared_reserved)) ++blocks;
  return blocks;
}

// With this carve-out; a block can have no more than the SM has.
inline SmLimits LimitsOf(const vgpu::ComputeCapability& capability, int carveout_kb) {
  SmLimits sm;
  sm.max_threads_per_block = capability.max_threads_per_block;
  sm.max_warps = capability.max_warps_per_sm();
  sm.max_blocks = capability.max_blocks_per_sm;
  sm.registers = capability.registers_per_sm;
  sm.registers_per_block = capability.registers_per_block;
  sm.max_registers_per_thread = capability.max_registers_per_thread;
  sm.register_unit = capability.register_allocation_unit;
  sm.warp_granularity = capability.warp_allocation_granularity;
  sm.registers_by_block = capability.registers_by_block();
  sm.shared = carveout_kb * 1024;
  sm.shared_per_block =
      std::clamp(sm.shared - capability.shared_reserved_per_block, 0, capability.shared_per_block_optin);
  sm.shared_unit = capability.shared_allocation_unit;
  sm.shared_reserved = capability.shared_reserved_per_block;
  return sm;
}

inline OccupancyLimits FillSm(const SmLimits& sm, const BlockNeeds& block) {
  return {FillWarps(sm, block.threads), sm.max_blocks, FillRegisters(sm, block.threads, block.registers),
          FillShared(sm, block.shared)};
}

// The largest multiple of the warp size with which most warps are resident, for blocks that need so much shared memory
// by themselves and so much more a thread; 0: none fits.
inline int BestBlockSize(const SmLimits& sm, int registers, int64_t shared, int64_t shared_per_thread) {
  int best = 0, most = 0;
  for (int threads = sm.warp_size; threads <= sm.max_threads_per_block; threads += sm.warp_size) {
    const int blocks = FillSm(sm, {threads, registers, shared + shared_per_thread * threads}).Blocks();
    const int warps = blocks * (threads / sm.warp_size);
    if (warps == 0 || warps < most) continue;
    best = threads;
    most = warps;
  }
  return best;
}

// The most registers per thread with which at least so many warps are resident; 0: not even with one.
inline int RegisterBudget(const SmLimits& sm, int threads, int64_t shared, int warps) {
  for (int registers = sm.max_registers_per_thread; registers > 0; --registers) {
    if (FillSm(sm, {threads, registers, shared}).Blocks() * WarpsOf(sm, threads) >= warps) return registers;
  }
  return 0;
}

}  // namespace lockstep::suites
