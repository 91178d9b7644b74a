// What each instruction of a function does to values that may be undefined.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/definedness_plan.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

bool HasShuffles(const FunctionOpcodes& opcodes);

// Adds a function's part, in the order of the program's functions. pc: by instruction, where in the program it stands.
void PlanDefinedness(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, DefinednessPlan& plan);

}  // namespace lockstep::vgpu
