// Which loads of a function may bring values that nobody uses, and the instructions through which such values go.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Adds the function's part, if there is one. pc: by instruction, where in the program it stands.
void PlanUses(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, const std::vector<uint32_t>& pc,
              std::shared_ptr<UsePlan>& plan);

}  // namespace lockstep::vgpu
