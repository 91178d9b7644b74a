// The functions of CUDA's device runtime that kernels call: cudaGetParameterBufferV2, cudaLaunchDeviceV2 and the others
// of cuda_device_runtime_api.h. nvcc renames each: __cudaCDP2LaunchDeviceV2.
#pragma once

#include <string>
#include <string_view>

#include "vgpu/core/program.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/frame_values.h"

namespace lockstep::vgpu {

inline constexpr int kNoRuntimeFunction = -1;

// "cudaLaunchDeviceV2" for "__cudaCDP2LaunchDeviceV2"; "" for names outside the device runtime.
std::string RuntimeFunctionName(std::string_view name);
// Its row in the table of supported functions, or kNoRuntimeFunction.
int FindRuntimeFunction(std::string_view name);

// Runs the site's function for one lane. False after a fault.
bool CallRuntimeFunction(Warp& warp, const CallSite& site, const FrameValues& frame, int lane);

}  // namespace lockstep::vgpu
