#include "vgpu/exec/cluster.h"

#include <algorithm>
#include <bit>

#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

void EndPhaseIfDone(Cluster& cluster) {
  if (cluster.live == 0 || cluster.arrived < cluster.live) return;
  cluster.arrived = 0;
  cluster.parity = !cluster.parity;
  for (Block* block : cluster.blocks) {
    if (block == nullptr || block->live_warps == 0) continue;
    Engine& engine = *block->warps[0].engine;
    engine.FlushSharedNotes();
    for (Observer* observer : engine.observers()) {
      observer->OnBarrierComplete(block->index, 0, block->live_warps);
    }
    block->last_event = block->instructions;
  }
}

// Lanes that have arrived in the current phase.
LaneMask Arrived(const WarpState& state, const Cluster& cluster) {
  return state.cluster_arrived & (cluster.parity ? state.cluster_parity : ~state.cluster_parity);
}

}  // namespace

Cluster& ClusterOf(Block& block) {
  if (block.cluster == nullptr) {
    block.cluster = std::make_shared<Cluster>();
    block.cluster->blocks.push_back(&block);
    for (const Warp& warp : block.warps) block.cluster->live += static_cast<uint32_t>(std::popcount(warp.alive));
  }
  return *block.cluster;
}

uint32_t RankOf(const Block& block) {
  if (block.cluster == nullptr) return 0;
  const auto& blocks = block.cluster->blocks;
  return static_cast<uint32_t>(std::find(blocks.begin(), blocks.end(), &block) - blocks.begin());
}

void ArriveAtCluster(Warp& warp, LaneMask mask) {
  Cluster& cluster = ClusterOf(*warp.block);
  WarpState& s = *warp.state;
  // A thread that arrives twice without waiting in between counts once.
  const LaneMask fresh = mask & ~Arrived(s, cluster);
  s.cluster_arrived |= mask;
  s.cluster_parity = cluster.parity ? s.cluster_parity | mask : s.cluster_parity & ~mask;
  cluster.arrived += static_cast<uint32_t>(std::popcount(fresh));
  warp.engine->FlushSharedNotes();
  for (Observer* observer : warp.engine->observers()) {
    observer->OnBarrierArrive({mask, warp.pc - 1, warp.block->index, warp.index}, 0);
  }
  EndPhaseIfDone(cluster);
}

LaneMask StillWaiting(const Warp& warp, LaneMask mask) {
  const Block& block = *warp.block;
  return block.cluster == nullptr ? 0 : mask & Arrived(*warp.state, *block.cluster);
}

void LeaveCluster(Warp& warp, LaneMask mask) {
  if (warp.block->cluster == nullptr) return;
  Cluster& cluster = *warp.block->cluster;
  WarpState& s = *warp.state;
  cluster.arrived -= static_cast<uint32_t>(std::popcount(mask & Arrived(s, cluster)));
  cluster.live -= static_cast<uint32_t>(std::popcount(mask));
  s.cluster_arrived &= ~mask;
  EndPhaseIfDone(cluster);
}

}  // namespace lockstep::vgpu
