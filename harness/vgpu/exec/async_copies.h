// A warp's asynchronous copies from global to shared memory (cp.async), see isa/memory/async_copy.h.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

struct AsyncCopy {
  uint32_t pc = 0;
  LaneMask mask = 0;  // lanes whose bytes are not yet written
  uint32_t bytes = 0;
  uint32_t group[kWarpSize];
  uint64_t address[kWarpSize];  // in shared memory
  uint8_t data[kWarpSize][16];
};

struct BulkCopies;  // isa/memory/bulk_copy.h

struct AsyncCopies {
  std::vector<AsyncCopy> pending;      // in order of issue
  uint32_t committed[kWarpSize] = {};  // groups that the lane has committed; also the number of its open group
  std::shared_ptr<BulkCopies> bulk;    // null until first needed
};

}  // namespace lockstep::vgpu
