// Access to NVIDIA's own compilers, which our libraries of the same names wrap.
#pragma once

namespace lockstep::libraries {

// The library with this file name ("libnvrtc.so.13") that the program would have loaded: from LD_LIBRARY_PATH, the
// NVIDIA Python packages in use, a CUDA toolkit, or the system. nullptr if there is none, reported once on standard
// error.
void* OpenRealLibrary(const char* file);
// The same without a message.
void* FindRealLibrary(const char* file);

}  // namespace lockstep::libraries
