// cp.async: asynchronous copies from global to shared memory.
//
// A copy reads global memory when it is issued, and writes shared memory when its thread waits for it, which is the
// latest moment that the hardware allows. So a program that forgets to wait reads the old data. Groups belong to
// threads, so each lane counts its own.
#pragma once

#include <cstdint>

#include "vgpu/core/warp.h"
#include "vgpu/exec/async_copies.h"

namespace lockstep::vgpu {

// The warp's copies; created on first use.
AsyncCopies& AsyncCopiesOf(Warp& warp);
// Performs the lanes' outstanding copies: all of them, or those of all committed groups except the last `keep`.
void CompleteAllCopies(Warp& warp, LaneMask lanes);
void CompleteGroups(Warp& warp, LaneMask lanes, const uint32_t keep[kWarpSize]);

}  // namespace lockstep::vgpu
