// Plans that the decoder makes from a function's instructions, for what follows values at run time. pc: by instruction,
// its position in the program.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/analysis/control_flow_graph.h"
#include "vgpu/core/copy_plan.h"
#include "vgpu/core/definedness_plan.h"
#include "vgpu/core/opcode_table.h"
#include "vgpu/core/program.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

bool HasShuffles(const FunctionOpcodes& opcodes);

// How each instruction propagates undefined values. Adds a function's plan; call it in the order of the program's
// functions.
void PlanDefinedness(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, DefinednessPlan& plan);

// Finds loads whose values are only stored again, as in copies of structs. Adds the function's plan, if it has one.
void PlanCopies(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc, std::shared_ptr<CopyPlan>& plan);

// Finds the kernel parameters that addresses come from, and loads and stores that together update an element.
// Adds the function's accesses to `origins`. parameter: the offset of a kernel parameter by its name; empty for other
// symbols.
void FindAccessOrigins(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc,
                       const std::function<std::optional<uint32_t>(const std::string&)>& parameter,
                       AccessOrigins& origins);

// Finds loads whose values may be unused, and the instructions through which such values flow. Adds the function's plan,
// if it has one.
void PlanUses(const FunctionOpcodes& opcodes, const ControlFlowGraph& graph, const std::vector<uint32_t>& pc,
              std::shared_ptr<UsePlan>& plan);

}  // namespace lockstep::vgpu
