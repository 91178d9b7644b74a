// Extracts what a block has done to global memory from the race checker's shadow memory.
//
// A separate file because the compiler inlines less in race_checker.cc as that grows.
#pragma once

#include <cstdint>

#include "vgpu/observers/block_isolation.h"
#include "vgpu/observers/race/race_shadow.h"

namespace lockstep::vgpu {

// pages: of one block alone; its records start at `floor`.
void AddUses(ShadowPages& pages, Record floor, BlockIsolation& isolation);
// The same while the block is still running.
void CompareUses(ShadowPages& pages, Record floor, uint32_t block_index, BlockIsolation& isolation);

}  // namespace lockstep::vgpu
