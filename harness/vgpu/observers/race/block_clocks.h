// Happens-before among the threads of one block.
//
// Every warp has a clock, which ticks when the warp synchronises. An access is stamped with its warp's clock. For each
// pair of warps, `seen` is one number: all accesses of the other warp stamped below it happen before everything that
// this warp does from now on. Block-wide barriers join these numbers over the participating warps.
//
// Lanes of one warp are ordered only by program order within a lane, barriers and __syncwarp. Lockstep execution does
// not count: since compute capability 7.0 it is not guaranteed. Shuffles, votes and matches exchange values; by the
// programming guide they do not order memory, so they do not count either. A __syncwarp among all live lanes advances
// one number per warp; one among some lanes creates a table with an entry per pair of lanes.
//
// Fences, atomics and strong accesses create order as described in sync_words.h. So each warp also has a clock of what
// it knows about all blocks, clocks of what has been fenced at each scope, and a clock of what it has read but not yet
// acquired. Barriers of the block propagate the first two and acquire the third.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/lane_mask.h"
#include "vgpu/observers/race/order_clock.h"
#include "vgpu/observers/race/sync_words.h"

namespace lockstep::vgpu {

// Per warp of a block: accesses stamped below this are fenced at block scope, at device scope. Empty: none.
struct FencedTimes {
  std::vector<uint32_t> block, device;

  static bool Covers(const std::vector<uint32_t>& times, uint32_t warp, uint32_t time) {
    return warp < times.size() && time < times[warp];
  }
};

class BlockClocks {
 public:
  static constexpr int kMaxWarps = 32;
  static constexpr int kBarriers = 16;

  void Begin(uint32_t threads, uint32_t block_index);  // starts a new block

  uint32_t Now(uint32_t warp) const { return time_[warp]; }
  // Whether an access by `warp` at `time` happens before everything that `by` does from now on, in all lanes.
  bool SeenByAllLanes(uint32_t warp, uint32_t time, uint32_t by) const { return time < seen_[by][warp]; }
  // The same for two lanes of one warp, if SeenByAllLanes is false.
  bool SeenByLane(uint32_t warp, uint32_t lane, uint32_t time, uint32_t by_lane) const {
    if (lane == by_lane) return true;
    return lanes_[warp] != nullptr && time < (*lanes_[warp])[by_lane][lane];
  }

  // Whether a __syncwarp among some lanes has ordered them since the last one among all.
  bool HasLaneClocks(uint32_t warp) const { return lanes_[warp] != nullptr; }

  void Exit(uint32_t warp, LaneMask lanes);
  void SyncWarp(uint32_t warp, LaneMask lanes);
  // waits: false for bar.arrive, which orders the warp's earlier accesses only. stays: the lanes do nothing else until
  // the barrier completes.
  void Arrive(uint32_t warp, uint32_t barrier, bool waits = true, bool stays = false);
  // True if every live thread waited: then all earlier accesses happen before all later ones.
  bool Complete(uint32_t barrier, uint64_t warps);

  // A fence does both, Acquire first. Only values that were read can be acquired: see pending.
  void Release(uint32_t warp, OrderLevel level);
  void Acquire(uint32_t warp, OrderLevel level);
  void NoteFence(uint32_t warp) { just_fenced_ |= uint64_t{1} << warp; }
  // Whether the warp has fenced since its last access; Access records an access.
  bool JustFenced(uint32_t warp) const { return just_fenced_ >> warp & 1; }
  void Access(uint32_t warp) { just_fenced_ &= ~(uint64_t{1} << warp); }
  void AccessOf(uint32_t warps) { just_fenced_ &= ~uint64_t{warps}; }

  // Whether a fence of this block has released anything, or a word that it has read can be acquired.
  bool orders() const { return orders_; }
  bool HasPending(uint32_t warp) const {
    return orders_ && !(order_[warp].pending[kBlockLevel].empty() && order_[warp].pending[kDeviceLevel].empty() &&
                        order_[warp].pending[kClusterLevel].empty());
  }
  LevelClocks& Pending(uint32_t warp) {
    orders_ = true;
    return order_[warp].pending;
  }
  void NoteRead(uint32_t warp) { order_[warp].fenced_narrowly = false; }  // a newly read value is pending
  LevelClocks& AcquiredState(uint32_t warp) { return order_[warp].told; }
  // Whether an atomic of the warp has read what was published after the access.
  bool HasAcquired(uint32_t warp, uint32_t block, uint32_t of_warp, uint32_t time) const {
    return orders_ && std::any_of(order_[warp].told.begin(), order_[warp].told.end(),
                                  [=](const OrderClock& clock) { return clock.Covers(block, of_warp, time); });
  }
  const LevelClocks& pending(uint32_t warp) const { return order_[warp].pending; }
  const LevelClocks& fenced(uint32_t warp) const { return order_[warp].fenced; }
  const OrderClock& known(uint32_t warp) const { return order_[warp].known; }
  // The scope of the warp's last fence was too narrow for something that it had read.
  bool fenced_narrowly(uint32_t warp) const { return order_[warp].fenced_narrowly; }
  // What any warp of the block has fenced of the block's own accesses.
  FencedTimes Fenced() const;

  // The block has read words through which other blocks may synchronise with it.
  bool heard() const { return heard_; }
  void set_heard() { heard_ = true; }

 private:
  using Clock = std::array<uint32_t, kMaxWarps>;
  using LaneTable = std::array<std::array<uint32_t, kWarpSize>, kWarpSize>;  // [by][lane]
  struct WarpOrder {
    OrderClock known;  // through synchronisation words
    LevelClocks fenced, pending;
    LevelClocks told;  // the part of pending or known that an atomic has read
    bool fenced_narrowly = false;
  };
  struct Meeting {
    Clock clock{};
    OrderClock known;
    LevelClocks fenced;
    uint64_t waiting = 0;  // warps
    uint64_t staying = 0;  // warps whose clocks tick, and are joined, when the barrier completes
  };

  void CompleteWhole(Meeting& meeting);
  static void Join(uint32_t* into, const uint32_t* from, uint32_t count);
  void JoinSeen(uint32_t* into, uint32_t warp);  // including the warp's own accesses so far
  // Order through words: what a warp contributes to a barrier, and takes from it.
  void BringOrder(Meeting& meeting, uint32_t warp);
  void TakeOrder(const Meeting& meeting, uint32_t warp);
  static void EndOrder(Meeting& meeting);

  uint32_t warps_ = 0;
  uint64_t alive_warps_ = 0;
  uint64_t just_fenced_ = 0;
  std::array<LaneMask, kMaxWarps> alive_{};
  Clock time_{};
  std::array<Clock, kMaxWarps> seen_{};
  uint32_t block_index_ = 0;
  bool orders_ = false, heard_ = false;
  std::array<WarpOrder, kMaxWarps> order_;
  std::array<Meeting, kBarriers> meeting_{};
  uint32_t met_ = 0;  // bit b: some warp has arrived at barrier b since it last completed
  std::array<std::unique_ptr<LaneTable>, kMaxWarps> lanes_;
};

}  // namespace lockstep::vgpu
