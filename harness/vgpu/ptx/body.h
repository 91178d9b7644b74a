// Parses the body of one function: scopes, labels, instructions.
#pragma once

#include <vector>

#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

constexpr int64_t kMostFiles = 1 << 16;  // largest file number in .file

// Starts after the opening brace and consumes the closing one. `module_variables`: those declared so far.
void ParseBody(Cursor& cursor, const std::vector<Variable>& module_variables, Function* function);

}  // namespace lockstep::vgpu::ptx
