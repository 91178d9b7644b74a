// The place in the program that made a CUDA call.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace lockstep::vgpu::cudart {

// The calling thread's innermost stack frame in the program's own sources, outside the runtime, the toolkit's headers
// and the system's: "/home/ada/shift.cu:17" with debug information (-g), else the function's name, "main()"; "" if
// neither is known. The first call reads the program's symbols (milliseconds); later ones from the same place are a
// look-up.
std::string CallSite();

// The same for a signal handler, at the interrupted instruction: writes into this buffer, without allocating. ""
// without line information.
std::string_view CrashSite(std::span<char> text);

// Prepares the data for CrashSite, which a handler can't: call it before.
void PrepareCrashSite();

// Names the kernel that this thread is launching, so that nvcc's host stub for it is not taken for the call site, nor
// its line reported for a failed launch. "": none.
void NoteLaunchedKernel(const std::string& mangled);

}  // namespace lockstep::vgpu::cudart
