// The mbarrier operations that complete cp.async and bulk copies.
#pragma once

#include <cstdint>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// Flags in Insn::extra of an mbarrier instruction, in addition to MemoryFlags: the address is generic, or may be in
// another block.
inline constexpr uint64_t kGenericMbarrier = uint64_t{1} << 32;
inline constexpr uint64_t kClusterMbarrier = uint64_t{1} << 33;

// One arrival per lane, at the instruction's addresses.
void ArriveAtMbarrier(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t address[kWarpSize]);
// Counts the bytes as transferred, for one lane. `object`: a checked address in shared memory.
void CompleteTransaction(uint64_t* object, uint32_t bytes);

}  // namespace lockstep::vgpu
