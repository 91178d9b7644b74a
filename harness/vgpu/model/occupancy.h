// How many blocks of a kernel fit on an SM, and what limits the number.
//
// The answers come from a table of thresholds, one for each compute capability that a profile has. The thresholds
// follow from the CUDA programming guide's tables and the toolkit's calculator. The rules themselves are the subject of
// assignment 07, and this code is given to students.
#pragma once

#include <cstdint>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu {

struct Occupancy {
  int blocks = 0;       // resident per SM; 0: the block does not fit
  int warps = 0;        // resident per SM
  double fraction = 0;  // warps / maximum warps per SM
  // "warps", "blocks", "registers" or "shared memory"; if several tie, the first. "threads": an invalid block size.
  const char* limited_by = "";
};

// shared_bytes: static + dynamic, per block. The device's compute capability must be in the table.
Occupancy ComputeOccupancy(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes);

int MaxBlocksPerSm(const DeviceProfile& device, int threads, int registers_per_thread, uint64_t shared_bytes);

}  // namespace lockstep::vgpu
