// How many blocks of a kernel an SM can hold at once, and what limits them.
//
// The formulas are those of the CUDA programming guide's compute-capability tables: registers are handed out
// a warp at a time in units (on compute capability 1.x a block at a time), shared memory a block at a time in
// units, and an SM has a limit of blocks and of warps.
#pragma once

#include <cstdint>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct Occupancy {
  int blocks = 0;       // resident on an SM; 0: the block does not fit
  int warps = 0;        // resident on an SM
  double fraction = 0;  // warps / the most that an SM holds
  const char* limited_by =
      "";  // "warps", "blocks", "registers", "shared memory"; where several tie, the first of these
};

// shared_bytes: static and dynamic, a block.
Occupancy ComputeOccupancy(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes);

int MaxBlocksPerSm(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes);

}  // namespace lockstep::vgpu
