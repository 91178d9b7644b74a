// How many blocks fit an SM, found by putting one block after the other on it until something runs out. No formula is
// shared with vgpu/model/occupancy.h, nor with what a student writes.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/model/capability.h"

namespace lockstep::judge {

struct SmLimits {
  int warp_size = 32;
  int max_threads_per_block = 0, max_warps = 0, max_blocks = 0;
  int registers = 0, registers_per_block = 0, max_registers_per_thread = 0;
  int register_unit = 1, warp_granularity = 1;
  bool registers_by_block = false;                                             // compute capability 1.x
  int shared = 0, shared_per_block = 0, shared_unit = 1, shared_reserved = 0;  // bytes
};

// With this carve-out; a block can have no more than the SM has.
SmLimits LimitsOf(const vgpu::ComputeCapability& capability, int carveout_kb);

struct BlockNeeds {
  int threads = 0, registers = 0;  // registers a thread
  int64_t shared = 0;              // bytes a block
};

// Blocks that one resource alone has room for. kNoLimit: any number, as none of it is needed.
inline constexpr int kNoLimit = INT32_MAX;

struct OccupancyLimits {
  int by_warps = 0, by_blocks = 0, by_registers = 0, by_shared = 0;
  int Blocks() const;
};

OccupancyLimits FillSm(const SmLimits& sm, const BlockNeeds& block);

// The largest multiple of the warp size with which most warps are resident, for blocks that need so much shared memory
// by themselves and so much more a thread; 0: none fits.
int BestBlockSize(const SmLimits& sm, int registers, int64_t shared, int64_t shared_per_thread);

// The most registers a thread with which at least so many warps are resident; 0: not even with one.
int RegisterBudget(const SmLimits& sm, int threads, int64_t shared, int warps);

}  // namespace lockstep::judge
