// Loads whose elements are only copied, and the stores that copy them. Made by analysis/copied_loads.cc, used by
// observers/uninitialized_checker.cc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::vgpu {

struct CopyPlan {
  static constexpr uint32_t kNoSlot = 0xffffffffu;
  static constexpr size_t kMostElements = 8;

  struct Access {
    uint8_t elements = 0, element_bytes = 0;
    // Loads only: bit k is set if byte k is only ever stored again, unchanged.
    uint64_t copied = 0;
    // The slot of each element's register, which has exactly one writer, a load. An 8-byte element takes two
    // consecutive slots, one per 32-bit word. kNoSlot: the register is not tracked.
    std::array<uint32_t, kMostElements> slot{};
  };

  const Access* At(uint32_t pc) const {
    return pc < access_of.size() && access_of[pc] != 0 ? &accesses[access_of[pc] - 1] : nullptr;
  }

  uint32_t slots = 0;
  std::vector<uint32_t> access_of;  // by pc: index into accesses + 1; 0: none
  std::vector<Access> accesses;
};

}  // namespace lockstep::vgpu
