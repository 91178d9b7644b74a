// Loads that a program may make though it does not want the value: the compiler turns `if (p) x = *v;` into a load that
// always happens and a `selp` that drops what it brought. Whether the loaded bytes were ever written matters to lanes
// alone that keep the value.
#pragma once

#include <cstddef>
#include <optional>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

// The predicate under which instruction `index`, a load, is of any use; none where that isn't known when it is
// executed. `mentions`: how often the function mentions a register.
template <typename Mentions>
std::optional<ptx::RegisterRef> UsedOnlyIf(const ptx::Function& function, size_t index, const Mentions& mentions);

// Whether control comes to `last` from `first` alone, which stands before it, and what `name` holds is the same at
// both.
bool GoesStraight(const ptx::Function& function, size_t first, size_t last, const std::string& name);

template <typename Mentions>
std::optional<ptx::RegisterRef> UsedOnlyIf(const ptx::Function& function, size_t index, const Mentions& mentions) {
  constexpr size_t kFar = 64;  // instructions
  const auto register_at = [](const ptx::Instruction& i, size_t k) {
    return k < i.operands.size() ? std::get_if<ptx::RegisterRef>(&i.operands[k].value) : nullptr;
  };
  const ptx::RegisterRef* loaded = register_at(function.body[index], 0);
  if (loaded == nullptr || mentions(loaded->name) != 2) return std::nullopt;  // here, and where it is read
  for (size_t k = index + 1; k < function.body.size() && k <= index + kFar; ++k) {
    const ptx::Instruction& i = function.body[k];
    if (i.opcode != "selp" || i.guard || i.operands.size() != 4) continue;
    const ptx::RegisterRef* condition = register_at(i, 3);
    for (const size_t source : {size_t{1}, size_t{2}}) {
      const ptx::RegisterRef* chosen = register_at(i, source);
      if (chosen == nullptr || chosen->name != loaded->name) continue;
      if (condition == nullptr || !GoesStraight(function, index, k, condition->name)) return std::nullopt;
      return ptx::RegisterRef{condition->name, condition->negated != (source == 2)};
    }
  }
  return std::nullopt;
}

}  // namespace lockstep::vgpu
