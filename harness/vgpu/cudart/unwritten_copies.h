// Finds copies to the host of unwritten memory: elements that no thread computes because n / threads blocks were
// launched (rounded down), or the result of a kernel that was never launched.
#pragma once

#include <cstdint>

#include "vgpu/cudart/backend.h"

namespace lockstep::vgpu::cudart {

// The range must be inside one live allocation. Unwritten padding of structs is not reported.
void CheckUnwritten(Device& device, uint64_t address, uint64_t bytes, const Origin& copy);

}  // namespace lockstep::vgpu::cudart
