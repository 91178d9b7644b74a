// Where in the program a CUDA call was made.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lockstep::vgpu::cudart {

// The innermost frame of the calling thread's stack that lies in the program's own sources, not in the runtime, the
// toolkit's headers or the system's:
// "/home/ada/shift.cu:17" where the program has debug information (-g), else the function's name, "main()"; "" where
// neither is known. The first call reads the program's symbols (milliseconds); later ones from one place are a look-up.
std::string CallSite();

// The same for a signal's handler, at the place that it interrupted: into this text, and nothing is allocated. ""
// without lines.
std::string_view CrashSite(std::span<char> text);

// Finds what CrashSite has to know, which a handler can't: call it before.
void PrepareCrashSite();

// What this thread's present call launches, so that the host function that nvcc makes of a kernel is not taken for the
// place of the call, nor its line reported for a launch that fails. "": nothing.
void NoteLaunchedKernel(const std::string& mangled);

}  // namespace lockstep::vgpu::cudart
