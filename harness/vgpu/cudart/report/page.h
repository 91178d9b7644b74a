// A run as a self-contained web page: vgpu-run --page=FILE.
#pragma once

#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

// The page of page.html: kernels by cost, the source with counters by line, worst accesses, findings and replays. False:
// the file can't be written.
bool WritePage(const std::string& path, const Device& device);

}  // namespace lockstep::vgpu::cudart
