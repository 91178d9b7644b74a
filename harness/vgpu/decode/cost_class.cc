#include "vgpu/decode/cost_class.h"

#include <bit>
#include <variant>

namespace lockstep::vgpu {
namespace {

const ptx::IntegerImmediate* ImmediateOf(const ptx::Instruction& instruction, size_t operand) {
  if (operand >= instruction.operands.size()) return nullptr;
  return std::get_if<ptx::IntegerImmediate>(&instruction.operands[operand].value);
}

bool IsPowerOfTwo(const ptx::IntegerImmediate* immediate) {
  return immediate != nullptr && std::has_single_bit(static_cast<uint64_t>(immediate->value));
}

}  // namespace

InsnClass CostClassOf(const ptx::Instruction& instruction, Meaning meaning, InsnClass by_row) {
  if (by_row != InsnClass::kInteger) return by_row;
  const ptx::IntegerImmediate* const right = ImmediateOf(instruction, 2);
  switch (meaning) {
    case Meaning::kMultiply:
    case Meaning::kMultiplyAdd:
      // ptxas replaces such a multiplication by a shift.
      return IsPowerOfTwo(ImmediateOf(instruction, 1)) || IsPowerOfTwo(right) ? by_row : InsnClass::kIntegerMultiply;
    case Meaning::kDivide:
    case Meaning::kRemainder:
      if (IsPowerOfTwo(right)) return by_row;
      // By a constant: ptxas multiplies by the reciprocal.
      return right != nullptr ? InsnClass::kIntegerMultiply : InsnClass::kIntegerDivide;
    default:
      return by_row;
  }
}

}  // namespace lockstep::vgpu
