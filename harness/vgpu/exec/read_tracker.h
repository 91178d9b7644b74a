// Finds out in which lanes a loaded value is used, that is, reaches a side effect.
//
// Compilers load early and for all lanes, and discard what a lane does not need: `if (t == 0) v += s;` becomes a load
// by all lanes and a selp. In the source program the other lanes do not read s, so checkers must not report them. The
// guarantee: an observer that asks for it (Observer::WantsUsedReads) gets exactly those reads whose value reaches
// a store, an address, a branch, the guard of one of these, a call or another lane. The read keeps the place and time
// of its load.
//
// Theory of operation. Most loads are certain to be used, as the decoder determines (analysis/value_use.cc); they are
// reported at once at no cost. Any other load is a *read*. The registers that its value reaches name it as their
// *origin* (exec/value_origins.h), lane by lane, through the instructions that have a step in the program's UsePlan: a
// result comes from the operands that affect it. An instruction that does more than compute registers uses the origins
// of what it reads; so does one whose result is certain to be used. A dead register has no origin, nor have lanes that
// exit. When nothing names a read any more, each lane has either used it or never will, and the read is reported. Until
// then the read and all later events wait (observers/delayed_events.h).
//
// The engine runs a copy of the program in which those instructions call the tracker first; the others are unchanged.
// Functions that may be re-entered (recursion, indirect calls) are not followed, because their registers exist several
// times. Every loaded element there counts as used, except one whose register no instruction reads.
//
// A read that has too many events waiting after it is reported with the lanes that have used it so far. If another lane
// uses it later, the launch was not fully checked, and says so (core/gap.h).
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "vgpu/core/program.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/core/warp.h"
#include "vgpu/exec/value_origins.h"
#include "vgpu/observers/delayed_events.h"

namespace lockstep::vgpu {

class ReadTracker {
 public:
  // The program must have a UsePlan.
  ReadTracker(const Program& program, std::vector<Observer*> observers);
  ReadTracker(const ReadTracker&) = delete;
  ReadTracker& operator=(const ReadTracker&) = delete;

  DelayedEvents& events() { return events_; }
  // The code that the engine has to run.
  std::vector<Insn> TakeCode() { return std::move(code_); }
  // Whether the load at pc is reported by the tracker.
  bool Reads(uint32_t pc) const { return step_[pc] != nullptr && step_[pc]->reads; }
  bool delays() const { return !events_.empty(); }
  void End() { events_.Finish(); }  // no more blocks run
  // Whether a read was reported too early, without a lane that used it later.
  bool missed_a_use() const { return missed_a_use_; }
  // Lanes are about to exit.
  void Exit(Warp& warp, LaneMask lanes);

  // Runs the instruction before warp.pc, which has a step; mask: lanes that pass its guard.
  void Run(Warp& warp, LaneMask mask);

 private:
  using Step = UsePlan::Step;

  // For a step in a function that is not followed: the load's unread elements; nullptr if there are none.
  const Step* Unfollowed(const Step& step);
  void Execute(Warp& warp, const Insn& insn, LaneMask mask);
  void Read(Warp& warp, const Insn& insn, const Step& step, LaneMask mask, ValueOrigins& origins);
  void Gather(const Warp& warp, const Insn& insn, const Step& step, LaneMask mask, ValueOrigins& origins);
  void UseGathered(ValueOrigins& origins);
  void Settle(ValueOrigins& origins);

  const Program& program_;
  DelayedEvents events_;
  std::vector<Insn> code_;
  std::deque<Step> unfollowed_;
  std::vector<const Step*> step_;             // by pc
  std::vector<ValueOrigins::Held> gathered_;  // for the running instruction
  bool missed_a_use_ = false;
};

}  // namespace lockstep::vgpu
