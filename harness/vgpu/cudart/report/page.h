// A run as a self-contained web page: vgpu-run --page=FILE.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "vgpu/device/device.h"

namespace lockstep::vgpu::cudart {

// The page of page.html: kernels by cost, the source with counters by line, worst accesses, findings, replays, and the
// operations of streams (cudart/timeline_file.h). False: the file can't be written.
bool WritePage(const std::string& path, const Device& device, nlohmann::ordered_json operations);

}  // namespace lockstep::vgpu::cudart
