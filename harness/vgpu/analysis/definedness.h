// How each instruction of a function propagates undefined values.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/definedness_plan.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

bool HasShuffles(const FunctionOpcodes& opcodes);

// Adds a function's plan; call it in the order of the program's functions. pc: by instruction, its position in the
// program.
void PlanDefinedness(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, DefinednessPlan& plan);

}  // namespace lockstep::vgpu
