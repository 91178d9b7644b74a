// Intercepts a program's launches to try edits of its kernels (suite/edit_search.h).
#pragma once

#include <span>
#include <string>

#include "vgpu/device/device.h"

namespace lockstep::worker {

class LaunchEditor {
 public:
  virtual ~LaunchEditor() = default;
  // Makes the launch, possibly an edited one. texts: the PTX of the launch's module. call_site: "shift.cu:53".
  virtual vgpu::LaunchResult Launch(vgpu::Device& device, const vgpu::LaunchSpec& launch,
                                    std::span<const std::string> texts, const std::string& call_site) = 0;
};

}  // namespace lockstep::worker
