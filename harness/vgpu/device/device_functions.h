// Functions of CUDA's device runtime library that kernels call by name, which toolkits have as machine code: here they
// are PTX of our own, linked to the modules that want them.
//
//   cudaCGGetIntrinsicHandle, cudaCGSynchronize: the barrier of a whole grid, as Numba's cuda.cg.this_grid() uses it.
//   C++'s cooperative groups need neither: their headers hold the barrier.
#pragma once

#include <vector>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Links the modules of a program, with the functions above if they are called and none of the modules has them.
ptx::Module LinkWithDeviceFunctions(std::vector<ptx::Module> modules);

}  // namespace lockstep::vgpu
