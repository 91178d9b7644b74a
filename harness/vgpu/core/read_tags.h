// Which loads the values in a warp's registers come from; maintained by exec/read_tracker.h.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

// In these lanes, the value comes from element `part` of this read.
struct ReadTag {
  uint32_t read;
  uint32_t part;
  LaneMask lanes;
};

struct ReadTags {
  std::vector<std::vector<ReadTag>> slots;  // by slot of the program's UsePlan
  std::vector<uint64_t> held;               // a bit for each slot: set where it may hold tags
  std::vector<uint32_t> reads;              // reads that some slot may hold

  explicit ReadTags(size_t count) : slots(count), held((count + 63) / 64) {}
  void Hold(uint32_t slot) { held[slot / 64] |= uint64_t{1} << slot % 64; }
  // Calls f for every slot that holds tags.
  template <typename F>
  void ForHeld(const F& f) {
    for (size_t word = 0; word < held.size(); ++word) {
      for (uint64_t left = held[word]; left != 0; left &= left - 1) {
        std::vector<ReadTag>& slot = slots[word * 64 + static_cast<size_t>(std::countr_zero(left))];
        if (!slot.empty()) f(slot);
        if (slot.empty()) held[word] &= ~(left & -left);
      }
    }
  }
};

}  // namespace lockstep::vgpu
