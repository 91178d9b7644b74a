// What an integer instruction costs beside others, which the operands decide as much as the opcode.
#pragma once

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// `by_row` is the class that the opcode's row gives; kInteger is told apart, others stay.
InsnClass CostClassOf(const ptx::Instruction& instruction, Meaning meaning, InsnClass by_row);

}  // namespace lockstep::vgpu
