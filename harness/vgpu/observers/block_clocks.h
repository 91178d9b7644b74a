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
// Fences, atomics and strong accesses order as release and acquire do, more generously than the memory model: what any
// warp of the block has fenced is released by the next atomic or strong store of the block, and every atomic that
// returns a value and every strong load acquires all that was released until then, at whatever address. So a program
// that synchronises by documented means is never accused; one that does so by accident may escape.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/isa/insn.h"

namespace lockstep::vgpu {

class BlockClocks {
 public:
  static constexpr int kMaxWarps = 32;
  static constexpr int kBarriers = 16;

  void Begin(uint32_t threads);  // a fresh block: nothing has happened

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

  void Fence(uint32_t warp);
  // Whether the warp's last fence is more recent than its last access; Access says that there is one.
  bool JustFenced(uint32_t warp) const { return just_fenced_ >> warp & 1; }
  void Access(uint32_t warp) { just_fenced_ &= ~(uint64_t{1} << warp); }
  void AccessOf(uint32_t warps) { just_fenced_ &= ~uint64_t{warps}; }

  // A release of what was fenced; fences: the operation itself is a fence (.release). False when there is nothing new
  // to release.
  bool Release(uint32_t warp, bool fences);
  void Acquire(uint32_t warp);
  // What has been released: of each warp, accesses stamped below.
  const std::vector<uint32_t>& released() const { return released_; }

  // Another block's releases, by a number that the checker deals out: the last one that a warp has acquired.
  uint64_t acquired(uint32_t warp) const { return acquired_[warp]; }
  void set_acquired(uint32_t warp, uint64_t sequence) { acquired_[warp] = sequence; }

 private:
  using Clock = std::array<uint32_t, kMaxWarps>;
  using LaneTable = std::array<std::array<uint32_t, kWarpSize>, kWarpSize>;  // [by][lane]
  struct Meeting {
    Clock clock{};
    uint64_t acquired = 0;
    uint64_t waiting = 0;  // warps
    uint64_t staying = 0;  // warps whose clocks tick, and are joined, when the barrier is completed
  };

  void CompleteWhole(Meeting& meeting);
  static void Join(uint32_t* into, const uint32_t* from, uint32_t count);
  void JoinSeen(uint32_t* into, uint32_t warp);  // with the warp's own accesses until now

  uint32_t warps_ = 0;
  uint64_t alive_warps_ = 0;
  uint64_t just_fenced_ = 0;
  std::array<LaneMask, kMaxWarps> alive_{};
  Clock time_{};
  std::array<Clock, kMaxWarps> seen_{};
  std::array<uint64_t, kMaxWarps> acquired_{};
  std::array<Meeting, kBarriers> meeting_{};
  uint32_t met_ = 0;  // bit b: somebody has arrived at barrier b since it was completed
  std::array<std::unique_ptr<LaneTable>, kMaxWarps> lanes_;
  std::vector<uint32_t> fenced_, released_;
};

}  // namespace lockstep::vgpu
