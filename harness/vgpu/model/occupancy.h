// How many blocks of a kernel an SM can hold at once, and what limits them.
//
// The answers are looked up in a table of thresholds, one for each compute capability that a profile has. They follow
// from the CUDA programming guide's tables and the toolkit's calculator; the rules themselves are what assignment 07
// asks for, and this code goes to students.
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

// shared_bytes: static and dynamic, a block. The device's compute capability has to be in the table.
Occupancy ComputeOccupancy(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes);

int MaxBlocksPerSm(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes);

}  // namespace lockstep::vgpu
