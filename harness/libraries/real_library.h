// NVIDIA's own compilers, for the libraries of the same names that stand before them.
#pragma once

namespace lockstep::libraries {

// The library with this file name ("libnvrtc.so.13") that the program would have got: from LD_LIBRARY_PATH, from
// NVIDIA's Python packages beside those in use, from a CUDA toolkit, or from the system. nullptr where there is none;
// then a sentence on standard error says so, once.
void* OpenRealLibrary(const char* file);
// The same, without a word.
void* FindRealLibrary(const char* file);

}  // namespace lockstep::libraries
