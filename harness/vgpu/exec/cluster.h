// Thread block clusters: blocks that run at the same time, reach each other's shared memory, and meet at a barrier.
//
// An address in the window of shared memory is an offset below 2^24, in the block's own memory, or, as mapa makes them,
// such an offset with the block's rank plus one above it: a .shared::cta address is a .shared::cluster one.
//
// The barrier counts threads. A thread that has arrived waits for the end of the phase in which it arrived; a thread
// that exits needs no waiting for.
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
  std::vector<Block*> blocks;  // by rank; null: it has ended
  uint32_t live = 0;           // threads that have not exited
  uint32_t arrived = 0;        // in this phase
  bool parity = false;         // of the phase
};

// The block's cluster; a block that was launched without one is a cluster of its own.
Cluster& ClusterOf(Block& block);
uint32_t RankOf(const Block& block);

void ArriveAtCluster(Warp& warp, LaneMask mask);
// Lanes of the mask that have arrived and whose phase has not ended.
LaneMask StillWaiting(const Warp& warp, LaneMask mask);
// Lanes exit.
void LeaveCluster(Warp& warp, LaneMask mask);

}  // namespace lockstep::vgpu
