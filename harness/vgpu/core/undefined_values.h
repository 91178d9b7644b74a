// Which registers and bytes of memory hold undefined values, and where these come from; maintained by
// exec/definedness_tracker.h.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

// The shuffle that produced an undefined value.
struct UndefinedOrigin {
  enum class Why : uint8_t { kTakesNoPart, kReturned, kBeyondBlock };
  uint32_t pc = 0;
  uint16_t reader = 0;  // the thread in the block that read the lane
  uint8_t lane = 0;     // the lane that it read
  Why why = Why::kTakesNoPart;
};

// The undefined lanes of a register, or of half of one.
struct UndefinedSlot {
  LaneMask lanes = 0;
  std::array<UndefinedOrigin, kWarpSize> origin;  // for those lanes
};

// The undefined bytes of one memory. A lane's private bytes start at LaneBase(lane).
class UndefinedBytes {
 public:
  static uint64_t LaneBase(int lane) { return static_cast<uint64_t>(lane) << 40; }

  bool empty() const { return bytes_.empty(); }
  void Clear() { bytes_.clear(); }
  void Set(uint64_t address, uint32_t count, const UndefinedOrigin& origin) {
    for (uint64_t at = address; at < address + count; ++at) bytes_[at] = origin;
  }
  void Erase(uint64_t address, uint64_t count) {
    if (bytes_.empty()) return;
    if (count > bytes_.size()) {
      std::erase_if(bytes_, [=](const auto& byte) { return byte.first - address < count; });
      return;
    }
    for (uint64_t at = address; at < address + count; ++at) bytes_.erase(at);
  }
  // The origin of the first undefined byte in the range; nullptr if there is none.
  const UndefinedOrigin* Find(uint64_t address, uint32_t count) const {
    if (bytes_.empty()) return nullptr;
    for (uint64_t at = address; at < address + count; ++at) {
      if (const auto found = bytes_.find(at); found != bytes_.end()) return &found->second;
    }
    return nullptr;
  }

 private:
  std::unordered_map<uint64_t, UndefinedOrigin> bytes_;
};

// The undefined values of a call frame. Empty slots: everything is defined.
struct UndefinedValues {
  std::vector<UndefinedSlot> slots;
  UndefinedBytes area;  // the lanes' parameter areas

  void Clear() {
    for (UndefinedSlot& slot : slots) slot.lanes = 0;
    area.Clear();
  }
};

// The undefined values of a warp.
struct UndefinedWarp {
  // Lanes that took a branch on an undefined condition, until the two paths reconverge.
  struct Astray {
    const void* frame;
    uint32_t until;  // pc
    UndefinedSlot lanes;
  };
  std::vector<Astray> astray;
  UndefinedBytes local;
};

}  // namespace lockstep::vgpu
