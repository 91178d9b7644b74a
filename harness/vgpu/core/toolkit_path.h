// Headers that come with nvcc, wherever it is installed, and the system's.
#pragma once

#include <string_view>

namespace lockstep::vgpu {

bool IsToolkitPath(std::string_view path);  // without "..", from the root on

}  // namespace lockstep::vgpu
