// The modelled time of a call of a host library's function: a roofline, so the least time that the device could take.
#pragma once

#include "vgpu/core/counters.h"
#include "vgpu/model/profile.h"
#include "vgpu/model/time_model.h"

namespace lockstep::vgpu {

// Operations a second at the device's peak; 0 for kNone.
double PeakOperations(Arithmetic arithmetic, const DeviceProfile& device);
TimeEstimate EstimateLibraryTime(const LibraryCounts& counts, const DeviceProfile& device);

}  // namespace lockstep::vgpu
