// Products and sums that become one multiply-add with one rounding, as ptxas compiles them.
// PTX leaves it to the assembler where neither mul nor add or sub names a rounding. nvcc contracts most such pairs of
// single and double precision itself; operators of half precision and functions of its device library are left.
#pragma once

#include <optional>

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

// The function with its pairs contracted; nullopt if it has none, or is compiled for a debugger.
std::optional<ptx::Function> Contracted(const FunctionOpcodes& opcodes);

}  // namespace lockstep::vgpu
