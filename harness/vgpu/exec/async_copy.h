// cp.async: copies from global to shared memory that end later.
//
// A copy reads global memory when it is issued and writes shared memory when its thread waits for it, as late as the
// hardware may: a program that forgets to wait reads what was there before. Groups belong to threads, so each lane
// counts its own.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/exec/warp.h"

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

// The warp's own, made at first use.
AsyncCopies& AsyncCopiesOf(Warp& warp);
// The lanes' copies issued so far take place: all of them, or those of all groups closed but the last `keep`.
void CompleteAllCopies(Warp& warp, LaneMask lanes);
void CompleteGroups(Warp& warp, LaneMask lanes, const uint32_t keep[kWarpSize]);

}  // namespace lockstep::vgpu
