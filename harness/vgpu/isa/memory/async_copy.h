// cp.async: copies from global to shared memory that end later.
//
// A copy reads global memory when it is issued and writes shared memory when its thread waits for it, as late as the
// hardware may: a program that forgets to wait reads what was there before. Groups belong to threads, so each lane
// counts its own.
#pragma once

#include <cstdint>

#include "vgpu/exec/async_copies.h"

namespace lockstep::vgpu {

// The warp's own, made at first use.
AsyncCopies& AsyncCopiesOf(Warp& warp);
// The lanes' copies issued so far take place: all of them, or those of all groups closed but the last `keep`.
void CompleteAllCopies(Warp& warp, LaneMask lanes);
void CompleteGroups(Warp& warp, LaneMask lanes, const uint32_t keep[kWarpSize]);

}  // namespace lockstep::vgpu
