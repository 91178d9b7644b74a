// Where in the program a CUDA call was made.
#pragma once

#include <string>

namespace lockstep::vgpu::cudart {

// The innermost frame of the calling thread's stack that belongs neither to the CUDA runtime nor to its headers:
// "/home/ada/shift.cu:17" where the program has debug information (-g), else the function's name, "main()"; "" where
// neither is known. The first call reads the program's symbols (milliseconds); later ones from one place are a look-up.
std::string CallSite();

// While a kernel is launched, so that the host function that nvcc makes of it is not taken for the place of the call.
class LaunchedKernel {
 public:
  explicit LaunchedKernel(const std::string& name);  // demangled, without parameters
  ~LaunchedKernel();
  LaunchedKernel(const LaunchedKernel&) = delete;
  LaunchedKernel& operator=(const LaunchedKernel&) = delete;
};

}  // namespace lockstep::vgpu::cudart
