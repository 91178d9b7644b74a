// The address pattern of an instruction's last shared-memory access, and the properties that follow from it.
//
// Code without unit stride (a tile's column, one row per half-warp) repeats the same pattern at different start
// addresses. Comparing 32 differences shows that two accesses have the same pattern; bank conflicts, bounds and access
// form are then known.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "vgpu/core/lane_mask.h"
#include "vgpu/core/lanes.h"
#include "vgpu/core/pc_counters.h"
#include "vgpu/memory/access_form.h"

namespace lockstep::vgpu {

struct AccessPattern {
  LaneMask mask = 0;
  uint32_t bytes = 0;  // per lane
  AccessKind access = AccessKind::kLoad;
  uint32_t low = 0;    // lowest address relative to the first active lane's; modulo 2^32
  uint32_t span = 0;   // bytes from the lowest address to the end of the highest access
  uint32_t phase = 0;  // the first active lane's offset in its 4-byte word
  PcMemory cost;       // of one such access
  AccessForm form = AccessForm::kScattered;
  bool apart = false;                // kScattered: no two active lanes use one address
  bool uniform[2] = {false, false};  // kHalves: all lanes of the half-warp use one address

  // Addresses relative to the first active lane's, 0 for inactive lanes; and ~0 for active lanes.
  alignas(64) uint32_t offset[kWarpSize];
  alignas(64) uint32_t care[kWarpSize];

  // Whether lanes at a[] repeat the pattern; first: the first active lane's address.
  [[gnu::always_inline]] bool Matches(const uint32_t* a, uint32_t first, LaneMask lanes) const {
    return lanes == mask && LanesEqual(a, offset, first, lanes, lanes == kFullMask ? nullptr : care);
  }
};

// The patterns of one engine. Instructions with the same pattern share one object: an unrolled loop has many such
// instructions.
class AccessPatterns {
 public:
  // The pattern of an access of `bytes` per lane that is valid in every lane; address[] = a[] + the instruction's
  // offset.
  std::shared_ptr<const AccessPattern> Find(const uint32_t* a, const uint64_t address[kWarpSize], LaneMask lanes,
                                            uint32_t bytes, AccessKind access);

 private:
  std::array<std::shared_ptr<const AccessPattern>, 32> recent_;
  size_t next_ = 0;
};

}  // namespace lockstep::vgpu
