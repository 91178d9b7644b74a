// Which loads of a function bring values that are only stored again, as copies of structs do.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/copy_plan.h"
#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// Adds the function's part, if there is one. pc: by instruction, where in the program it stands.
void PlanCopies(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan);

}  // namespace lockstep::vgpu
