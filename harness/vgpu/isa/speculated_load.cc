#include "vgpu/isa/speculated_load.h"

#include <algorithm>
#include <string>

namespace lockstep::vgpu {
namespace {

bool Mentions(const ptx::Operand& operand, const std::string& name) {
  if (const auto* r = std::get_if<ptx::RegisterRef>(&operand.value)) {
    if (r->name == name) return true;
  }
  return std::any_of(operand.second.begin(), operand.second.end(),
                     [&](const ptx::Operand& second) { return Mentions(second, name); });
}

}  // namespace

bool GoesStraight(const ptx::Function& function, size_t first, size_t last, const std::string& name) {
  for (size_t k = first + 1; k < last; ++k) {
    const ptx::Instruction& i = function.body[k];
    if (i.call || i.opcode == "bra" || i.opcode == "brx" || i.opcode == "ret" || i.opcode == "exit") return false;
    // The predicate is what comes first in instructions that make one.
    if (!i.operands.empty() && Mentions(i.operands[0], name)) return false;
  }
  return std::none_of(function.labels.begin(), function.labels.end(),
                      [&](const ptx::Label& label) { return label.instruction > first && label.instruction <= last; });
}

}  // namespace lockstep::vgpu
