// The location of a call in a Python program. Python's own functions are looked up in the process, so nothing is
// linked.
#pragma once

#include <string>

namespace lockstep::vgpu::cudart {

// Whether this process is a Python interpreter, or embeds one.
bool InPython();

// The calling thread's innermost frame outside installed packages and Python's library: "/home/ada/shift.py:17"; "" if
// there is none, or if other threads run Python and one of them may hold its lock.
std::string PythonSite();

}  // namespace lockstep::vgpu::cudart
