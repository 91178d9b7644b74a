// Finds out which lanes use what a load has brought: which of them it reaches a side effect of.
//
// A compiler loads early and for all lanes what only some of them want, and drops it again: `if (t == 0) v += s;` is a
// load by all lanes and a selp. In the program's terms the others do not read s, so the checkers must not charge them.
// The guarantee: an observer that asks for it (Observer::WantsUsedReads) is told exactly those reads whose value
// reaches a store, an address, a branch, a guard of such, a call or another lane, at the place and time of their load.
//
// Theory of operation. Most loads are sure to be used, which the decoder knows (analysis/value_use.h); they are told at
// once and cost nothing. Any other load is a read, and a *tag* (core/read_tags.h) stands for it in the slots of the
// registers that it has gone to. Tags follow the value, lane by lane, through the instructions that have a step in the
// program's UsePlan: out of the operands that have a say in the result, into the result, where they take the place of
// what stood there. An instruction that does more than to make registers uses the tags that it reads, and so does one
// whose result is sure to be used. A register that nobody reads any more loses its tags, as those of lanes that exit
// do. When no slot holds a read's tag any more, each of its lanes has used it or never will, and the read is told;
// until then it and what happens after it waits (observers/delayed_events.h).
//
// The engine then runs a copy of the program in which those instructions call the tracker first; the others are as they
// were. Functions that may be entered again before they return (recursion, indirect calls) are not followed: their
// registers exist several times. Of a load there, all is used but for elements whose register no instruction names.
//
// A read that waits behind too many events, or of a warp with too many such reads, counts for the lanes that have used
// it by then, and for no others.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "vgpu/core/program.h"
#include "vgpu/core/read_tags.h"
#include "vgpu/core/use_plan.h"
#include "vgpu/core/warp.h"
#include "vgpu/observers/delayed_events.h"

namespace lockstep::vgpu {

class ReadTracker {
 public:
  static constexpr size_t kMostReads = 128;  // of a warp, that are not settled

  // A program with a UsePlan.
  ReadTracker(const Program& program, std::vector<Observer*> observers);
  ReadTracker(const ReadTracker&) = delete;
  ReadTracker& operator=(const ReadTracker&) = delete;

  DelayedEvents& events() { return events_; }
  // What the engine has to run.
  std::vector<Insn> TakeCode() { return std::move(code_); }
  // A load that must be told by itself.
  bool Reads(uint32_t pc) const { return step_[pc] != nullptr && step_[pc]->reads; }
  bool delays() const { return !events_.empty(); }
  void End() { events_.Finish(); }  // no block runs any more
  // Lanes are about to exit.
  void Exit(Warp& warp, LaneMask lanes);

  // The instruction before warp.pc, which has a step; mask: lanes that its guard lets through.
  void Run(Warp& warp, LaneMask mask);

 private:
  using Step = UsePlan::Step;

  // Of a step in a function that is not followed: a load's elements that nobody reads; nullptr: there are none.
  const Step* Unfollowed(const Step& step);
  void Execute(Warp& warp, const Insn& insn, LaneMask mask);
  void Read(Warp& warp, const Insn& insn, const Step& step, LaneMask mask, ReadTags& tags);
  void Gather(const Warp& warp, const Insn& insn, const Step& step, LaneMask mask, const ReadTags& tags);
  void Use(const std::vector<ReadTag>& tags, LaneMask lanes);
  void Drop(std::vector<ReadTag>& tags, LaneMask lanes);
  void Settle(ReadTags& tags);

  const Program& program_;
  DelayedEvents events_;
  std::vector<Insn> code_;
  std::deque<Step> unfollowed_;
  std::vector<const Step*> step_;  // by pc
  std::vector<ReadTag> gathered_;  // of the running instruction
  bool changed_ = false;           // since Settle: some slot holds less, or something is used
};

}  // namespace lockstep::vgpu
