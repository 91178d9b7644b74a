// Recognises headers of the toolkit, wherever it is installed, and of the system.
#pragma once

#include <string_view>

namespace lockstep::vgpu {

bool IsToolkitPath(std::string_view path);  // an absolute path without ".."

}  // namespace lockstep::vgpu
