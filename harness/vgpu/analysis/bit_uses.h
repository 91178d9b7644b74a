// For each register of a function: which bits are used, and which are only stored again.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/analysis/value_flow.h"

namespace lockstep::vgpu::value_use {

struct BitUses {
  uint64_t used = 0, stored = 0;
  uint64_t any() const { return used | stored; }
  bool operator==(const BitUses&) const = default;
};

// Flow-insensitive: a register's bits are used if any reader of the register uses them. A bit that is only moved (by
// mov, selp, integer conversions, shifts and masks of whole bytes, prmt, or the `or` that joins such parts) is used if
// its copy is. An arithmetic result is not a copy and counts as used when it is stored, and so does a number that was
// widened. Bits dropped by a mask or shift are not used. The result is by register. copies: by instruction, whether it
// is a store that may be part of a copy.
std::vector<BitUses> FindBitUses(const FunctionOpcodes& opcodes, const Uses& uses, const std::vector<bool>& copies);

}  // namespace lockstep::vgpu::value_use
