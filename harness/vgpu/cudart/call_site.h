// Where in the program a CUDA call was made.
#pragma once

#include <string>

namespace lockstep::vgpu::cudart {

// The innermost frame of the calling thread's stack that belongs neither to the CUDA runtime nor to its headers:
// "/home/ada/shift.cu:17" where the program has debug information (-g), else the function's name, "main()"; "" where
// neither is known. The first call reads the program's symbols (milliseconds); later ones from one place are a look-up.
std::string CallSite();

}  // namespace lockstep::vgpu::cudart
