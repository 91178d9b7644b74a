// Where a Python program made a call. Python's own functions are looked up in the process, so nothing is linked.
#pragma once

#include <string>

namespace lockstep::vgpu::cudart {

// Whether this process is a Python interpreter, or embeds one.
bool InPython();

// The calling thread's innermost frame that is neither of an installed package nor of Python's library:
// "/home/ada/shift.py:17"; "" where there is none, or where other threads run Python and one of them may hold its lock.
std::string PythonSite();

}  // namespace lockstep::vgpu::cudart
