// Finds loads whose values may be unused, and the instructions through which such values flow.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// Adds the function's plan, if it has one. pc: by instruction, its position in the program.
void PlanUses(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, const std::vector<uint32_t>& pc,
              std::shared_ptr<UsePlan>& plan);

}  // namespace lockstep::vgpu
