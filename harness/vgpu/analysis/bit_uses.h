// Of each register of a function, which bits somebody looks at and which are only stored again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/analysis/value_flow.h"

namespace lockstep::vgpu::value_use {

struct BitUses {
  uint64_t used = 0, stored = 0;
  uint64_t any() const { return used | stored; }
  bool operator==(const BitUses&) const = default;
};

// Without regard to order: a register's bits are used where any reader of the register uses them. A bit that is only
// moved (by mov, selp, conversions of integers, shifts and masks of whole bytes, prmt, the or that joins such) is used
// as the bit is where it comes to; what arithmetic has made of it is no copy, and counts as used where it is stored, as
// does a number that was made wider. A bit that a mask or a shift drops is not used. By register; copies: by
// instruction, whether it is a store that may be part of a copy.
std::vector<BitUses> FindBitUses(const FunctionOpcodes& opcodes, const Uses& uses, const std::vector<bool>& copies);

}  // namespace lockstep::vgpu::value_use
