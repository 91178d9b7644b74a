// The cost class of an integer instruction, which depends on the operands as well as the opcode.
#pragma once

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// `by_row` is the class from the opcode's row; kInteger is refined, other classes are returned unchanged.
InsnClass CostClassOf(const ptx::Instruction& instruction, Meaning meaning, InsnClass by_row);

}  // namespace lockstep::vgpu
