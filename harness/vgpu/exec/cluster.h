// Thread block clusters: blocks that run concurrently, access each other's shared memory, and synchronise at a cluster
// barrier.
//
// A shared-memory window address is either an offset below 2^24 in the block's own memory or, as returned by mapa, such
// an offset with the block's rank + 1 above it. So every .shared::cta address is also a .shared::cluster address.
//
// The barrier counts threads. A thread that has arrived waits for the end of that phase; an exited thread is not waited
// for.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/core/warp.h"

namespace lockstep::vgpu {

inline constexpr int kRankShift = 24;
inline constexpr uint64_t kOffsetMask = (uint64_t{1} << kRankShift) - 1;
inline constexpr uint32_t kMaxClusterBlocks = 16;

constexpr bool IsOfOtherBlock(uint64_t shared_address) { return shared_address > kOffsetMask; }

struct Cluster {
  std::vector<Block*> blocks;  // by rank; null: the block has ended
  uint32_t live = 0;           // threads that have not exited
  uint32_t arrived = 0;        // in this phase
  bool parity = false;         // of the current phase
};

// The block's cluster; a block launched without one forms its own.
Cluster& ClusterOf(Block& block);
uint32_t RankOf(const Block& block);

void ArriveAtCluster(Warp& warp, LaneMask mask);
// The lanes in the mask that have arrived and whose phase has not ended.
LaneMask StillWaiting(const Warp& warp, LaneMask mask);
// Lanes exit the kernel.
void LeaveCluster(Warp& warp, LaneMask mask);

}  // namespace lockstep::vgpu
