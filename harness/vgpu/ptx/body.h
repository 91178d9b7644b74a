// The body of one function: scopes, labels, instructions.
#pragma once

#include "vgpu/ptx/cursor.h"
#include "vgpu/ptx/module.h"

namespace lockstep::vgpu::ptx {

// Parses from behind the opening brace up to and with the closing one.
void ParseBody(Cursor& cursor, Function* function);

}  // namespace lockstep::vgpu::ptx
