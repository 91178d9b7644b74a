// What a block has done to global memory, as the race checker's shadow of it knows at the block's end.
//
// A file of its own for the sake of race_checker.cc, in which the compiler inlines less where there is more code.
#pragma once

#include <cstdint>

#include "vgpu/observers/block_isolation.h"
#include "vgpu/observers/race/race_shadow.h"

namespace lockstep::vgpu {

// pages: of one block alone; its records begin at `floor`.
void AddUses(ShadowPages& pages, Record floor, BlockIsolation& isolation);
// The same while the block goes on.
void CompareUses(ShadowPages& pages, Record floor, uint32_t block_index, BlockIsolation& isolation);

}  // namespace lockstep::vgpu
