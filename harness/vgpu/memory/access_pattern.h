// How the lanes of an instruction lay in shared memory the last time, and what follows from that.
//
// Programs that don't go side by side (a tile's column, one row for each half-warp) do the same again and again with
// another start. Whether two accesses are alike takes one comparison of 32 differences; then conflicts, bounds and the
// access's form are known.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "vgpu/core/insn.h"
#include "vgpu/core/lanes.h"
#include "vgpu/core/pc_counters.h"
#include "vgpu/memory/access_form.h"

namespace lockstep::vgpu {

struct AccessPattern {
  LaneMask mask = 0;
  uint32_t bytes = 0;  // a lane
  AccessKind access = AccessKind::kLoad;
  uint32_t low = 0;    // the lowest address, from the first active lane's; modulo 2^32
  uint32_t span = 0;   // bytes from the lowest address to the end of the highest
  uint32_t phase = 0;  // the first active lane's place in a word of 4 bytes
  PcMemory cost;       // of one such access
  AccessForm form = AccessForm::kScattered;
  bool uniform[2] = {false, false};  // kHalves: the half-warp's lanes share one address

  // Addresses from the first active lane's, 0 for lanes that are not; ~0 for those that are.
  alignas(64) uint32_t offset[kWarpSize];
  alignas(64) uint32_t care[kWarpSize];

  // Whether lanes at a[] lie as they did; first: the first active lane's address.
  [[gnu::always_inline]] bool Matches(const uint32_t* a, uint32_t first, LaneMask lanes) const {
    return lanes == mask && LanesEqual(a, offset, first, lanes, lanes == kFullMask ? nullptr : care);
  }
};

// Of one engine. Instructions whose lanes lie alike share a pattern: a loop that the compiler has unrolled has many.
class AccessPatterns {
 public:
  // The pattern of an access of `bytes` a lane that is right in every lane; address[] = a[] + the instruction's offset.
  std::shared_ptr<const AccessPattern> Find(const uint32_t* a, const uint64_t address[kWarpSize], LaneMask lanes,
                                            uint32_t bytes, AccessKind access);

 private:
  std::array<std::shared_ptr<const AccessPattern>, 32> recent_;
  size_t next_ = 0;
};

}  // namespace lockstep::vgpu
