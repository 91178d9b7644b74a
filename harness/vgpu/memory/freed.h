// Memory that has been given back, for messages.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/core/finding.h"
#include "vgpu/memory/memory.h"

namespace lockstep::vgpu {

// Of the last few thousand freed allocations of any device, the newest that held the address; its name has kFreedName
// behind. nullptr: none.
const Allocation* FindFreed(uint64_t address);

}  // namespace lockstep::vgpu
