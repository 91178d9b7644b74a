// Special registers: %tid, %laneid, %clock and their like.
#pragma once

#include <string_view>
#include <vector>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// The handler that moves a special register ("%tid.x") into row[0] of elements of 2, 4 or 8 bytes; nullptr: there is
// no such register, or not in this width.
Handler FindSpecialRegister(std::string_view name, int element_bytes);

// The same for one that is a predicate.
Handler FindSpecialPredicate(std::string_view name);
std::vector<std::string_view> SpecialRegisterNames();  // sorted

// It counts instructions: the engine must bring its count up to date first.
bool ReadsClock(std::string_view name);

// It names shared memory that the launch must set aside.
bool ReadsReservedShared(std::string_view name);

}  // namespace lockstep::vgpu
