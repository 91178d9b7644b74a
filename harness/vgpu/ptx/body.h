// The body of one function: scopes, labels, instructions.
#pragma once

#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

constexpr int64_t kMostFiles = 1 << 16;  // that .file may number

// Parses from behind the opening brace up to and with the closing one.
void ParseBody(Cursor& cursor, Function* function);

}  // namespace lockstep::vgpu::ptx
