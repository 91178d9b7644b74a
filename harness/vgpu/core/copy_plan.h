// Loads whose elements are only copied, and the stores that copy them, for observers/uninitialized_checker.cc;
// analysis/copied_loads.cc makes it.
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
    // Of a load, a bit for each byte: whether all that becomes of it is to be stored as it is.
    uint64_t copied = 0;
    // What stands for the element's register, which has one writer, a load; of one of 8 bytes two in a row, for its
    // words. kNoSlot: nothing is known of it.
    std::array<uint32_t, kMostElements> slot{};
  };

  const Access* At(uint32_t pc) const {
    return pc < access_of.size() && access_of[pc] != 0 ? &accesses[access_of[pc] - 1] : nullptr;
  }

  uint32_t slots = 0;
  std::vector<uint32_t> access_of;  // by pc: an index into accesses, and 1; 0: none
  std::vector<Access> accesses;
};

}  // namespace lockstep::vgpu
