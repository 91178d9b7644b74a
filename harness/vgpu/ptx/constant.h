// Constant expressions (PTX ISA 4.5): C's operators on 64-bit integers; on decimal floats
// those of arithmetic and comparison.
#pragma once

#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu::ptx {

// Whether the next token can start a constant expression.
bool AtConstant(Cursor& cursor);

// A whole expression with C's precedence, including the conditional operator.
Number ParseConstant(Cursor& cursor);

// One term of a sum: stops before a binary + or -.
Number ParseConstantTerm(Cursor& cursor);

// A constant that must be an integer from minimum to maximum.
int64_t ParseConstantInteger(Cursor& cursor, int64_t minimum, int64_t maximum);

}  // namespace lockstep::vgpu::ptx
