// vgpu-run nvidia-smi: what the virtual GPU is, in the forms that scripts ask nvidia-smi for.
#pragma once

#include <string>
#include <vector>

#include "vgpu/model/profile.h"

namespace lockstep::vgpu::run {

// Prints to standard output; returns the exit status.
int NvidiaSmi(const DeviceProfile& device, const std::vector<std::string>& arguments);

}  // namespace lockstep::vgpu::run
