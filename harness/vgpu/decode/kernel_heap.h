// Memory that kernels allocate and free: malloc and free, and cudaMalloc and cudaFree in kernels.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

// 0 if there is no room.
uint64_t MallocInKernel(Warp& warp, uint64_t bytes);
// False after a fault: there was no allocation at the address. The names are for its message.
bool FreeInKernel(Warp& warp, int lane, uint64_t address, const std::string& function, const std::string& allocator);

}  // namespace lockstep::vgpu
