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

// Letters. Registers: h b16, r b32, d b64, f f32, e f64, g f16, b bf16, x f16x2, y bf16x2, p predicate. A source r, h,
// d, f, e may be an immediate; R, H, D never are. F, E, G, B, X, Y: as small, with the one canonical NaN, for
// instructions that show a NaN's bits, which the ISA leaves open. Sources only: s a shift count, c a field's position
// or length, z, w, Z a divisor of 32, 16, 64 bits, i a number below 32, l a byte, k a constant for fns. One group for
// each line of the table.
const std::vector<std::vector<Form>>& Forms();

}  // namespace lockstep::cosim
