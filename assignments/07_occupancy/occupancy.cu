// Assignment 07: an occupancy calculator. Fill in the TODOs, one rung at a time; README.md has the rules of the
// hardware.
//
// It is a calculation on the host: no kernel, and no CUDA call that would know the answer. occupancy.h says what the
// functions are given.

#include "occupancy.h"

// Rung 1: warps and blocks.
// Goal    how many blocks of threads_per_block threads are resident, if only warps and blocks are counted.
// How     A block takes whole warps. The SM limits both warps and blocks: the limit that allows fewer blocks counts.
// Mind    a block that is too large, and one of no threads: 0.
int occupancy1_threads(const DeviceLimits* device, int threads_per_block) {
  // TODO(occupancy1): warps per block, rounded up; then blocks.
  return kNotBegun;
}

// Rung 2: shared memory.
// Goal    how many blocks' shared memory fits.
// How     A block gets its bytes and the reserved ones, rounded up to whole units.
// Mind    a block that asks for more than it may have: 0. A block that gets nothing at all: kUnlimited.
int occupancy2_shared(const DeviceLimits* device, int shared_per_block) {
  // TODO(occupancy2): bytes a block is given; then blocks.
  return kNotBegun;
}

// Rung 3: registers on compute capability 1.x.
// Goal    how many blocks' registers fit, when a block's registers are given out in one piece.
// How     Round the block's warps up to a multiple of warp_granularity, take that many warps' registers, and round
//         up to register_unit.
// Mind    a block or a thread over its limit: 0. No registers: kUnlimited.
int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  // TODO(occupancy3): registers a block is given; then blocks.
  return kNotBegun;
}

// Rung 4: registers from compute capability 2.0 on.
// Goal    how many blocks' registers fit, when each warp has a piece of its own.
// How     Round a warp's registers up to register_unit. See how many warps' registers the SM has, round that number
//         down to a multiple of warp_granularity, and divide by the warps of a block.
// Mind    as in rung 3. Here a block's registers, compared with registers_per_block, are one piece for each of its
//         warps, with the number of warps rounded up to warp_granularity.
int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread) {
  // TODO(occupancy4): registers a warp is given; warps that the SM has room for; then blocks.
  return kNotBegun;
}

// Rung 5: which resource is the limit.
// Goal    all of *result. The smallest of the four numbers of blocks is how many are resident.
// How     blocks_by[kLimitBlocks] is the device's own limit, whatever the block. Rung 3 or 4? registers_by_block says.
int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result) {
  // TODO(occupancy5): the four limits, their minimum, and what follows from it.
  return kNotBegun;
}

// Rung 6: the best block size.
// Goal    the block size with the most resident warps.
// How     Try them all. A block of t threads needs shared_per_block + t * shared_per_thread bytes.
int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel) {
  // TODO(occupancy6): every multiple of the warp size, up to the largest block.
  return kNotBegun;
}

// Rung 7, bonus: the other way round.
// Goal    the most registers per thread with which at least `warps` warps are resident.
int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps) {
  // TODO(occupancy7): from rung 5; fewer registers never mean fewer warps.
  return kNotBegun;
}
