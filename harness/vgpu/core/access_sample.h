// One execution of a memory instruction or branch, kept for a picture of it. For memory, the first on its line that
// exceeds its ideal cost by most; for a branch, the first in which the warp diverged.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>

#include "vgpu/core/finding.h"
#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

struct AccessSample {
  bool is_branch = false;                    // then `at` is 1 for lanes that take it; cost: number of paths taken
  MemorySpace space = MemorySpace::kGlobal;  // or kShared
  AccessKind access = AccessKind::kLoad;
  LaneMask mask = 0;
  uint32_t bytes = 0;                       // per lane
  uint32_t cost = 0, ideal = 0;             // sectors of global memory, passes through shared memory
  uint32_t block = 0, warp = 0;             // which warp: an index in the grid, and one in the block
  std::array<uint64_t, kWarpSize> at = {};  // each lane's address; 0 for lanes that are not in the mask

  uint32_t excess() const { return cost - ideal; }
  bool operator==(const AccessSample&) const = default;
};

// Where a picture of the access begins: the lowest address, rounded down to 128 bytes.
inline uint64_t OriginOf(const AccessSample& sample) {
  uint64_t lowest = ~uint64_t{0};
  for (size_t lane = 0; lane < kWarpSize; ++lane) {
    if ((sample.mask >> lane & 1) != 0) lowest = std::min(lowest, sample.at[lane]);
  }
  return lowest & ~uint64_t{127};
}

using KeptSample = std::shared_ptr<const AccessSample>;

// Replaces the sample if the other is worse, or equally bad and from an earlier block. Either may be null.
inline void KeepWorse(KeptSample& kept, const KeptSample& other) {
  if (other == nullptr) return;
  if (kept == nullptr || other->excess() > kept->excess() ||
      (other->excess() == kept->excess() && other->block < kept->block)) {
    kept = other;
  }
}

}  // namespace lockstep::vgpu
