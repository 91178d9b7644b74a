// What stands between a program's launches and the device where edits of its kernels are tried (suite/edit_search.h).
#pragma once

#include <span>
#include <string>

#include "vgpu/device/device.h"

namespace lockstep::worker {

class LaunchEditor {
 public:
  virtual ~LaunchEditor() = default;
  // Makes the launch, or an edited one. texts: of the launch's module, in PTX. call_site: "shift.cu:53".
  virtual vgpu::LaunchResult Launch(vgpu::Device& device, const vgpu::LaunchSpec& launch,
                                    std::span<const std::string> texts, const std::string& call_site) = 0;
};

}  // namespace lockstep::worker
