// The modelled time of a call of a host library's function: a roofline, so the least time that the device could take.
#pragma once

#include <cstdint>

#include "vgpu/model/profile.h"
#include "vgpu/model/time_model.h"

namespace lockstep::vgpu {

// What a function computes with. Types that tensor cores multiply run at their rate where the device has them.
enum class Arithmetic : uint8_t { kNone, kFloat64, kTensorFloat64, kFloat32, kTensorFloat32, kHalf, kInt8 };

// Operations a second at the device's peak; 0 for kNone.
double PeakOperations(Arithmetic arithmetic, const DeviceProfile& device);
// bytes: read from and written to memory, each once.
TimeEstimate EstimateLibraryTime(double bytes, double operations, Arithmetic arithmetic, const DeviceProfile& device);

}  // namespace lockstep::vgpu
