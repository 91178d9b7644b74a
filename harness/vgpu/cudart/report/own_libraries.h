// The libraries in this one's folder: the stand-ins for NVIDIA's that the build made (harness/libraries).
#pragma once

#include <string_view>

namespace lockstep::vgpu::cudart {

// Whether the file of a loaded object is one of them, or this library.
bool IsInRuntimeFolder(std::string_view file);
// Or one of those that submissions may use, in a folder beside this library (harness/libraries/submission).
bool IsForSubmissions(std::string_view file);

}  // namespace lockstep::vgpu::cudart
