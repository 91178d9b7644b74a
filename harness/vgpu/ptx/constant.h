// Constant expressions (PTX ISA 4.5): C's operators on 64-bit integers; on decimal floats, only those of arithmetic and
// comparison.
#pragma once

#include "vgpu/ptx/cursor.h"

namespace lockstep::vgpu::ptx {

struct Operator {
  std::string_view symbol;
  int precedence;  // || has 1
};
// The binary operator that comes next, if its precedence is at least this; nullptr: none.
const Operator* NextOperator(Cursor& cursor, int loosest);
// Fails at the cursor if the operator does not take such numbers.
Number Apply(const Cursor& cursor, std::string_view op, const Number& left, const Number& right);

// Whether the next token can start a constant expression.
bool AtConstant(Cursor& cursor);

// A whole expression with C's precedence, including the conditional operator.
Number ParseConstant(Cursor& cursor);

// One term of a sum: stops before a binary + or -.
Number ParseConstantTerm(Cursor& cursor);

// A constant that must be an integer from minimum to maximum.
int64_t ParseConstantInteger(Cursor& cursor, int64_t minimum, int64_t maximum);

}  // namespace lockstep::vgpu::ptx
