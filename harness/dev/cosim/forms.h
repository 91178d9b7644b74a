// The instructions for random kernels, except those that need a context (memory, control flow, warps).
#pragma once

#include <string>
#include <vector>

namespace lockstep::cosim {

struct Form {
  std::string name;      // opcode with its modifiers
  std::string operands;  // one letter each, destinations first; '|' joins a second destination
  bool guarded;          // sometimes guarded
};

// Form::operands has one letter per operand. Each line of the table gives one group.
// Registers: h = b16, r = b32, d = b64, f = f32, e = f64, g = f16, b = bf16, x = f16x2, y = bf16x2, p = predicate.
// A source h, r, d, f or e may be an immediate; H, R and D are the same types, but never immediates.
// F, E, G, B, X, Y: as the small letter, but every NaN is made canonical first, because the ISA leaves a NaN's bits
// open and these instructions show them.
// Sources only: s = shift count; c = a field's position or length; z, w, Z = divisor of 32, 16, 64 bits; i = number
// below 32; l = byte; k = constant for fns.
const std::vector<std::vector<Form>>& Forms();

}  // namespace lockstep::cosim
