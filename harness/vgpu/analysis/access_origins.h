// Finds the kernel parameters that addresses come from, and loads and stores that together update an element.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "vgpu/core/opcode_table.h"
#include "vgpu/core/program.h"

namespace lockstep::vgpu {

// Adds the function's accesses to `origins`. pc: by instruction, its position in the program. parameter: the offset of
// a kernel parameter by its name; empty for other symbols.
void FindAccessOrigins(const FunctionOpcodes& opcodes, const std::vector<uint32_t>& pc,
                       const std::function<std::optional<uint32_t>(const std::string&)>& parameter,
                       AccessOrigins& origins);

}  // namespace lockstep::vgpu
