// Functions of CUDA's device runtime library that kernels call by name. Toolkits provide machine code; here they are
// our own PTX, linked to modules that call them.
//
//   cudaCGGetIntrinsicHandle, cudaCGSynchronize: the barrier of a whole grid, used by Numba's cuda.cg.this_grid().
//   C++'s cooperative groups need neither: their headers contain the barrier.
#pragma once

#include <vector>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Links a program's modules, adding the functions above if they are called but not defined in the modules.
ptx::Module LinkWithDeviceFunctions(std::vector<ptx::Module> modules);

}  // namespace lockstep::vgpu
