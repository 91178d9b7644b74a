// Happens-before among the threads of one block.
//
// Every warp has a clock, which ticks when the warp synchronises. An access is stamped with its warp's clock. What a
// warp has seen of another is a number: accesses stamped below it are ordered before everything that the warp does from
// now on. Block-wide barriers join these numbers over the warps that take part.
//
// Lanes of one warp are ordered by nothing but program order of the same lane, barriers and __syncwarp. That they may
// run in step does not count: since compute capability 7.0 nothing promises it. Shuffles, votes and matches exchange
// values; by the programming guide they order no memory, so they do not count either. A __syncwarp among all lanes that
// are left moves one number a warp; one among some lanes opens a table, lane by lane.
//
// Fences, atomics and strong accesses order as sync_words.h says. For that each warp has, beside what it has seen of
// its own block, a clock of what it knows of all blocks, of what has been fenced at each scope, and of what it has read
// and not yet acquired. Barriers of the block pass on the first two and acquire the third.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/core/insn.h"
#include "vgpu/observers/race/order_clock.h"
#include "vgpu/observers/race/sync_words.h"

namespace lockstep::vgpu {

// Of a block's warps, accesses stamped below: at the scope of the block, and of the device. Empty: none.
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

  void Begin(uint32_t threads, uint32_t block_index);  // a fresh block: nothing has happened

  uint32_t Now(uint32_t warp) const { return time_[warp]; }
  // Whether an access that `warp` stamped `time` comes before all that `by` does from now on, whatever the lanes.
  bool SeenByAllLanes(uint32_t warp, uint32_t time, uint32_t by) const { return time < seen_[by][warp]; }
  // The same for two lanes of one warp, where SeenByAllLanes is false.
  bool SeenByLane(uint32_t warp, uint32_t lane, uint32_t time, uint32_t by_lane) const {
    if (lane == by_lane) return true;
    return lanes_[warp] != nullptr && time < (*lanes_[warp])[by_lane][lane];
  }

  // Whether a __syncwarp among some of its lanes has ordered them since the last one among all.
  bool TellsLanesApart(uint32_t warp) const { return lanes_[warp] != nullptr; }

  void Exit(uint32_t warp, LaneMask lanes);
  void SyncWarp(uint32_t warp, LaneMask lanes);
  // waits: not so for bar.arrive, by which a warp orders what it did before and nothing that it will do. stays: the
  // lanes do nothing more until the barrier is completed.
  void Arrive(uint32_t warp, uint32_t barrier, bool waits = true, bool stays = false);
  // True when every thread that has not exited waited: then all accesses until now come before all from now on.
  bool Complete(uint32_t barrier, uint64_t warps);

  // A fence is both, acquiring first. What is acquired has been read: see pending.
  void Release(uint32_t warp, OrderLevel level);
  void Acquire(uint32_t warp, OrderLevel level);
  void NoteFence(uint32_t warp) { just_fenced_ |= uint64_t{1} << warp; }
  // Whether the warp's last fence is more recent than its last access; Access says that there is one.
  bool JustFenced(uint32_t warp) const { return just_fenced_ >> warp & 1; }
  void Access(uint32_t warp) { just_fenced_ &= ~(uint64_t{1} << warp); }
  void AccessOf(uint32_t warps) { just_fenced_ &= ~uint64_t{warps}; }

  // Whether a fence of this block has released anything, or a word that it read could be acquired.
  bool orders() const { return orders_; }
  bool HasPending(uint32_t warp) const {
    return orders_ && !(order_[warp].pending[kBlockLevel].empty() && order_[warp].pending[kDeviceLevel].empty() &&
                        order_[warp].pending[kClusterLevel].empty());
  }
  LevelClocks& Pending(uint32_t warp) {
    orders_ = true;
    return order_[warp].pending;
  }
  void NoteRead(uint32_t warp) { order_[warp].fenced_narrowly = false; }  // something new is pending
  LevelClocks& Told(uint32_t warp) { return order_[warp].told; }
  // Whether an atomic operation of the warp has read what was published behind the access.
  bool IsTold(uint32_t warp, uint32_t block, uint32_t of_warp, uint32_t time) const {
    return orders_ && std::any_of(order_[warp].told.begin(), order_[warp].told.end(),
                                  [=](const OrderClock& clock) { return clock.Covers(block, of_warp, time); });
  }
  const LevelClocks& pending(uint32_t warp) const { return order_[warp].pending; }
  const LevelClocks& fenced(uint32_t warp) const { return order_[warp].fenced; }
  const OrderClock& known(uint32_t warp) const { return order_[warp].known; }
  // The warp's last fence was too narrow for something that it had read.
  bool fenced_narrowly(uint32_t warp) const { return order_[warp].fenced_narrowly; }
  // What any warp has fenced of its own block's accesses.
  FencedTimes Fenced() const;

  // The block has read words by which others may have told it something.
  bool heard() const { return heard_; }
  void set_heard() { heard_ = true; }

 private:
  using Clock = std::array<uint32_t, kMaxWarps>;
  using LaneTable = std::array<std::array<uint32_t, kWarpSize>, kWarpSize>;  // [by][lane]
  struct WarpOrder {
    OrderClock known;  // by way of words
    LevelClocks fenced, pending;
    LevelClocks told;  // of what is pending or known, that which an atomic operation has read
    bool fenced_narrowly = false;
  };
  struct Meeting {
    Clock clock{};
    OrderClock known;
    LevelClocks fenced;
    uint64_t waiting = 0;  // warps
    uint64_t staying = 0;  // warps whose clocks tick, and are joined, when the barrier is completed
  };

  void CompleteWhole(Meeting& meeting);
  static void Join(uint32_t* into, const uint32_t* from, uint32_t count);
  void JoinSeen(uint32_t* into, uint32_t warp);  // with the warp's own accesses until now
  // By way of words: what a warp brings to a meeting, and takes from it.
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
  uint32_t met_ = 0;  // bit b: somebody has arrived at barrier b since it was completed
  std::array<std::unique_ptr<LaneTable>, kMaxWarps> lanes_;
};

}  // namespace lockstep::vgpu
