// The launchers of assignment 07, one per rung. Their names and signatures are fixed: the tests call them. They are
// ordinary host functions: they launch nothing and call no CUDA function.
#pragma once

#include <climits>

// What a multiprocessor (SM) sets. The tests give the limits of every compute capability from 1.0 to 12.1, and of
// made-up devices: take each number from here.
struct DeviceLimits {
  int warp_size;                 // threads per warp
  int max_threads_per_block;     // a larger block can't be launched
  int max_warps_per_sm;          // resident at once
  int max_blocks_per_sm;         // resident at once
  int registers_per_sm;          // 32-bit registers
  int registers_per_block;       // a block that is given more can't be launched; all of the SM's on 1.x
  int max_registers_per_thread;  // a kernel whose threads need more can't be launched
  int register_unit;             // registers are allocated in multiples of it: to a block on 1.x, to a warp from 2.0 on
  int warp_granularity;          // warps count in multiples of it when registers are allocated
  int registers_by_block;        // 1 on compute capability 1.x, 0 from 2.0 on
  int shared_per_sm;             // bytes of shared memory, as the carve-out sets it
  int shared_per_block;          // bytes; a block that needs more, without the reserved bytes, can't be launched
  int shared_unit;               // bytes of shared memory are allocated to a block in multiples of it
  int shared_reserved;  // bytes that the runtime takes for each block, besides the block's own: 1024 from 8.0 on
};

// What a kernel needs.
struct KernelNeeds {
  int threads_per_block;
  int registers_per_thread;
  int shared_per_block;   // bytes, however many threads the block has
  int shared_per_thread;  // bytes more for each thread; 0 in all rungs but the sixth
};

// What limits the number of resident blocks.
enum Limiter : int { kLimitWarps = 0, kLimitBlocks = 1, kLimitRegisters = 2, kLimitShared = 3 };

// Blocks that a resource has room for when the kernel needs none of it.
constexpr int kUnlimited = INT_MAX;

struct OccupancyResult {
  int blocks;        // resident on an SM; 0: the kernel can't be launched
  int warps;         // resident on an SM
  double occupancy;  // resident warps / the most that the SM holds; right to float's precision will do
  int limiter;       // the Limiter that allows the fewest blocks; in a tie, the first in the order of the enum
  int blocks_by[4];  // how many each resource alone would allow, in the order of Limiter; where a block can't have so
                     // many threads, 0 is right for all of them
};

// A rung that you have not begun returns this.
constexpr int kNotBegun = -1;

// Rung 1. How many blocks of this many threads are resident, if only warps and blocks limit their number.
int occupancy1_threads(const DeviceLimits* device, int threads_per_block);

// Rung 2. How many blocks are resident, if only shared memory limits their number.
int occupancy2_shared(const DeviceLimits* device, int shared_per_block);

// Rung 3. The same if only registers do, on compute capability 1.x: a block's registers are allocated in one piece.
int occupancy3_registers_by_block(const DeviceLimits* device, int threads_per_block, int registers_per_thread);

// Rung 4. The same from compute capability 2.0 on: each warp's registers are allocated separately.
int occupancy4_registers_by_warp(const DeviceLimits* device, int threads_per_block, int registers_per_thread);

// Rung 5. All limits together, on any device: fills in *result. Returns 0.
int occupancy5_limiter(const DeviceLimits* device, const KernelNeeds* kernel, OccupancyResult* result);

// Rung 6. The best block size for a kernel, whose threads_per_block is ignored: of all multiples of the warp size the
// one with the most resident warps; in a tie the largest. 0: none can be launched.
int occupancy6_best_block(const DeviceLimits* device, const KernelNeeds* kernel);

// Rung 7, bonus. The most registers a thread may have (the value for -maxrregcount) so that at least `warps` warps are
// resident; the kernel's own number is ignored. 0: not even one register is few enough.
int occupancy7_register_budget(const DeviceLimits* device, const KernelNeeds* kernel, int warps);
