// A thread block: its warps, shared memory and barriers.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/core/warp.h"
#include "vgpu/exec/cluster.h"
#include "vgpu/exec/warp_state.h"
#include "vgpu/observers/shared_notes.h"

namespace lockstep::vgpu {

inline constexpr int kBarriers = 16;
// Readable bytes before and after shared memory, so that a full warp can be loaded and then blended.
inline constexpr uint32_t kMemoryPadding = 1024;

struct Barrier {
  uint64_t arrived_warps = 0;     // bit w: all lanes of warp w have arrived
  uint64_t touched_warps = 0;     // bit w: some have arrived
  std::vector<LaneMask> arrived;  // by warp
  std::vector<uint32_t> pc;       // by warp: where its first lanes arrived
  uint32_t expected_warps = 0;    // 0: all warps that have not exited
  uint32_t expected_pc = 0;       // the instruction that set expected_warps
  uint32_t popc = 0;              // bar.red
  bool all = true, any = false;
  bool all_wait = true;  // no warp has arrived by bar.arrive
};

// Instructions of turns that ended in polling for other threads: in total, and since the block last made progress.
struct Waiting {
  uint64_t instructions = 0, in_a_row = 0;
  void Add(uint64_t ran, bool waited) {
    if (waited) instructions += ran;
    in_a_row = waited ? in_a_row + ran : 0;
  }
};

class Block {
 public:
  uint32_t index = 0;  // in the grid
  Dim3 id{0, 0, 0};
  uint8_t* shared = nullptr;  // shared_bytes long, padded on both sides
  uint32_t shared_bytes = 0;
  std::vector<Warp> warps;
  std::vector<WarpState> states;
  Barrier barriers[kBarriers];
  uint32_t barriers_in_use = 0;  // bit b: some lane has arrived at barrier b
  uint64_t live_warps = 0;       // bit w: warp w has lanes that have not exited
  uint64_t instructions = 0;
  uint64_t extra = 0;  // counts against the launch's budget like instructions
  Waiting waiting;
  uint64_t last_event = 0;           // `instructions` at the last barrier completed, exit, or release of parked lanes
  uint32_t rounds = 0;               // passes over all warps, counted if the schedule is perturbed
  uint32_t idle_passes = 0;          // consecutive passes over all warps in which every warp only polled
  std::string output;                // from printf
  std::shared_ptr<Cluster> cluster;  // null: launched without a cluster, and none needed so far

  AlignedBytes shared_storage;
  SharedUse shared_use;  // used while observers record accesses
};

struct BarrierArrival {
  uint32_t barrier = 0;
  uint32_t expected_warps = 0;  // 0: all
  bool waits = true;            // false: bar.arrive
  BarrierReduction reduction = BarrierReduction::kNone;
  LaneMask predicate = 0;  // for bar.red
};

// Lanes `mask` of the running group arrive.
void ArriveAtBarrier(Warp& warp, LaneMask mask, const BarrierArrival& arrival);
// All live lanes of the warp arrive at barrier 0, which waits for the whole block: the usual __syncthreads().
void ArriveWhole(Warp& warp);
void ResetBarrier(Block& block, uint32_t barrier);
// After an arrival or exit: completes barriers at which all expected warps have arrived.
void CheckBarriers(Warp& warp);

}  // namespace lockstep::vgpu
