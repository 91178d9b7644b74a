// Constant expressions (PTX ISA 4.5): C's operators over 64-bit integers; a float is a literal with a sign.
#pragma once

#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu::ptx {

// Whether a constant expression may begin with what comes next.
bool AtConstant(Cursor& cursor);

// A whole expression, C's precedence, the conditional operator included.
Number ParseConstant(Cursor& cursor);

// One term of a sum: stops before a binary + or -.
Number ParseConstantTerm(Cursor& cursor);

// The value of a constant that must be an integer from minimum to maximum.
int64_t ParseConstantInteger(Cursor& cursor, int64_t minimum, int64_t maximum);

}  // namespace lockstep::vgpu::ptx
