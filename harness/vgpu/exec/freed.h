// Memory that has been given back, for messages.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/exec/memory.h"

namespace lockstep::vgpu {

// The name of what a kernel's malloc gave.
inline constexpr std::string_view kKernelHeapName = "malloc in a kernel";
// Behind the name of an allocation that is gone.
inline constexpr std::string_view kFreedName = " (freed)";

// Of the last few thousand freed allocations of any device, the newest that held the address; its name has kFreedName
// behind. nullptr: none.
const Allocation* FindFreed(uint64_t address);

}  // namespace lockstep::vgpu
