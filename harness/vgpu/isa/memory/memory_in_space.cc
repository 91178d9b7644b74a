#include "vgpu/isa/memory/memory_in_space.h"

namespace lockstep::vgpu {

void MoveCluster(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t address[kWarpSize], MoveFunction shared,
                 MoveFunction lanes) {
  LaneMask far = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) far |= static_cast<LaneMask>(IsOfOtherBlock(address[lane])) << lane;
  far &= mask;
  if (far != mask) shared(warp, insn, mask & ~far, Region::kShared, address);
  if (far != 0 && !warp.stop) lanes(warp, insn, far, Region::kClusterShared, address);
}

void MoveGeneric(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t* base, MoveFunction shared,
                 MoveFunction lanes) {
  uint64_t generic[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) generic[lane] = base[lane] + insn.immediate;
  ForRegions(warp, mask, generic, [&](Region region, LaneMask in_region, const uint64_t* address) {
    (region == Region::kShared ? shared : lanes)(warp, insn, in_region, region, address);
  });
}

}  // namespace lockstep::vgpu
