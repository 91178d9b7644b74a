// Freed memory, for messages.
#pragma once

#include <cstdint>

#include "vgpu/core/finding.h"
#include "vgpu/memory/memory.h"

namespace lockstep::vgpu {

// The newest allocation that contained the address, among the last few thousand freed on any device; kFreedName is
// appended to its name. nullptr: none.
const Allocation* FindFreed(uint64_t address);

}  // namespace lockstep::vgpu
