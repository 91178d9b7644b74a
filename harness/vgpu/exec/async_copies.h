// A warp's copies from global to shared memory that end later (cp.async): isa/memory/async_copy.h.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

struct AsyncCopy {
  uint32_t pc = 0;
  LaneMask mask = 0;  // lanes whose bytes have not been written yet
  uint32_t bytes = 0;
  uint32_t group[kWarpSize];
  uint64_t address[kWarpSize];  // in shared memory
  uint8_t data[kWarpSize][16];
};

struct AsyncCopies {
  std::vector<AsyncCopy> pending;      // in the order of issue
  uint32_t committed[kWarpSize] = {};  // groups that the lane has closed; the open one has this number
};

}  // namespace lockstep::vgpu
