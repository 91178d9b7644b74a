// What the page of page.html (cudart/report) shows of a device's launches since ClearRecords().
#pragma once

#include <nlohmann/json.hpp>

#include "vgpu/device/device.h"

namespace lockstep::vgpu {

struct PageData {
  // data: kernels by cost, counters and worst accesses by line, findings, sources, notes. replays: recorded blocks.
  nlohmann::ordered_json data, replays;
};
PageData PageDataOf(const Device& device);

}  // namespace lockstep::vgpu
