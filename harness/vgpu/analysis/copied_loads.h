// Finds loads whose values are only stored again, as in copies of structs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/copy_plan.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// Adds the function's plan, if it has one. pc: by instruction, its position in the program.
void PlanCopies(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan);

}  // namespace lockstep::vgpu
