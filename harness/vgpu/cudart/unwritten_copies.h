// Finds copies to the host of memory that nothing has written: a tail that no thread computes, as the grid is n / threads
// blocks, or a result of a kernel that was never launched.
#pragma once

#include <cstdint>

#include "vgpu/cudart/backend.h"

namespace lockstep::vgpu::cudart {

// The range is inside one live allocation. Padding of structs, which nobody writes, is no finding.
void CheckUnwritten(Device& device, uint64_t address, uint64_t bytes, const Origin& copy);

}  // namespace lockstep::vgpu::cudart
