// Which loads the values in a warp's registers come from; maintained by exec/read_tracker.h.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// In these lanes, the value comes from element `part` of this read.
struct ReadTag {
  uint32_t read;
  uint32_t part;
  LaneMask lanes;
};

struct ReadTags {
  std::vector<std::vector<ReadTag>> slots;  // by slot of the program's UsePlan
  std::vector<uint32_t> reads;              // reads that some slot may hold
};

}  // namespace lockstep::vgpu
