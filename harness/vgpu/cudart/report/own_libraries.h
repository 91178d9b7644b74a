// Recognises this library and the build's replacements of NVIDIA's libraries (harness/libraries).
#pragma once

#include <string_view>

namespace lockstep::vgpu::cudart {

// Whether the file of a loaded object is in this library's folder: this library, or a replacement next to it.
bool IsInRuntimeFolder(std::string_view file);
// Whether it is a replacement for submissions, in a folder next to this library (harness/libraries/submission).
bool IsForSubmissions(std::string_view file);

}  // namespace lockstep::vgpu::cudart
