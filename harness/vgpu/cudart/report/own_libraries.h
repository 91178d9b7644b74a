// The libraries in this one's folder: the replacements of NVIDIA's from this build (harness/libraries).
#pragma once

#include <string_view>

namespace lockstep::vgpu::cudart {

// Whether the file of a loaded object is one of them, or this library.
bool IsInRuntimeFolder(std::string_view file);
// Or one of those for submissions, in a folder next to this library (harness/libraries/submission).
bool IsForSubmissions(std::string_view file);

}  // namespace lockstep::vgpu::cudart
