// What cp.async's and the bulk copies' completion mechanisms ask of mbarriers.
#pragma once

#include <cstdint>

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// Insn::extra of an instruction on an mbarrier, beside MemoryFlags: the address is generic, or may be of another block.
inline constexpr uint64_t kGenericMbarrier = uint64_t{1} << 32;
inline constexpr uint64_t kClusterMbarrier = uint64_t{1} << 33;

// One arrival by each lane, at addresses as the instruction gives them.
void ArriveAtMbarrier(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t address[kWarpSize]);
// The bytes count as transferred; by one lane. `object`: a checked place in shared memory.
void CompleteTransaction(uint64_t* object, uint32_t bytes);

}  // namespace lockstep::vgpu
