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

// Prepares CrashSite's data, which a signal handler can't do: call it beforehand.
void PrepareCrashSite();

// Names the kernel that this thread is launching, so that nvcc's host stub for it does not count as the call site, and
// a failed launch is not reported at the stub's line. "": none.
void NoteLaunchedKernel(const std::string& mangled);

// Python's own functions are looked up in the process, so nothing is linked.
//
// Whether this process is a Python interpreter, or embeds one.
bool InPython();

// The calling thread's innermost frame outside installed packages and Python's library: "/home/ada/shift.py:17"; "" if
// there is none, or if other threads run Python and one of them may hold its lock.
std::string PythonSite();

}  // namespace lockstep::vgpu::cudart
