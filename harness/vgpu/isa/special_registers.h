// Special registers such as %tid, %laneid and %clock.
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// The handler that moves a special register ("%tid.x") into row[0] with elements of 2, 4 or 8 bytes; nullptr if there
// is no such register, or not in this width.
Handler FindSpecialRegister(std::string_view name, int element_bytes);

// The same for special registers that are predicates.
Handler FindSpecialPredicate(std::string_view name);
std::vector<std::string_view> SpecialRegisterNames();  // sorted

// The register counts instructions: the engine must update its count before the read.
bool ReadsClock(std::string_view name);

// The register refers to shared memory that the launch must reserve.
bool ReadsReservedShared(std::string_view name);

}  // namespace lockstep::vgpu
