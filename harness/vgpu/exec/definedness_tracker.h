// Finds uses of values that a shuffle has read from a lane that takes no part in it.
//
// Such a value is undefined. Most are harmless: the last steps of a tree of shuffles add garbage in lanes whose sum
// nobody wants, and pass it on. The guarantee: a finding is made where such a value reaches what others notice (global
// memory, an address, the way that a thread takes to a store, a barrier or its end), and only there.
//
// Theory of operation. The engine runs a copy of the program's code. Until a shuffle reads a lane that is not there, it
// is as the engine would run it else. Then each instruction that has a step in the program's DefinednessPlan gets a
// handler that calls the tracker, and the tracker calls what stood there: an observer's read tracker, maybe. The change
// is made in the copy itself, so the loop that runs it need not be told, and nothing about the order in which warps run
// depends on it.
//
// From then on each register has a mask of lanes in which it is undefined, and each byte of shared memory, local memory
// and parameters a mark. A result is undefined in the lanes in which an operand that has a say in it is; what the other
// operand of an and, a select or a product hides has none. A load brings what was stored.
//
// A branch by an undefined condition is not a use in itself: lanes whose result nobody wants may choose the greater of
// two values by it. Until the ways meet again, such lanes are *astray*: what they make is undefined, and what others
// can notice of them is a use. What the way not taken would have made is undefined as well, so the registers that
// either way writes are undefined from the branch on.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/core/definedness_plan.h"
#include "vgpu/core/finding.h"
#include "vgpu/core/program.h"
#include "vgpu/core/row.h"
#include "vgpu/core/undefined_values.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::vgpu {

class Engine;

class DefinednessTracker {
 public:
  // A program with a DefinednessPlan. code: what the engine runs; it stays where it is.
  DefinednessTracker(Engine& engine, std::vector<Insn>& code);
  DefinednessTracker(const DefinednessTracker&) = delete;
  DefinednessTracker& operator=(const DefinednessTracker&) = delete;

  void BeginBlock(const Block& block) { shared_.erase(&block); }

  // False: this shuffle brings nothing undefined. members: the row of the member masks, or none.
  bool Concerns(const Warp& warp, LaneMask mask, RowRef members) const {
    if (!inner_.empty() || mask != kFullMask) return true;
    if (members == kNoRow) return false;
    LaneMask named = kFullMask;
    for (int lane = 0; lane < kWarpSize; ++lane) named &= Source<LaneMask>(warp, members)[lane];
    return named != kFullMask;
  }
  // A shuffle that concerns it: lanes `mask` read from lanes source[], and take part for each other if members[] names
  // them; nullptr: all do. To be called before the results are written.
  void Shuffle(Warp& warp, LaneMask mask, const int32_t source[kWarpSize], const uint32_t* members);

  // The instruction before warp.pc.
  void Run(Warp& warp, LaneMask mask);

  // Uses that were found, each pair of shuffle and use once.
  void Tell();

 private:
  using Step = DefinednessPlan::Step;
  struct Found {
    uint32_t block_index, thread_index;
    UndefinedOrigin origin;
    uint64_t count;
  };
  struct Memory {
    UndefinedBytes* bytes = nullptr;  // nullptr: global memory, or none that is followed
    uint64_t address = 0;
  };

  void Activate();
  void Execute(Warp& warp, uint32_t pc, LaneMask mask) const;
  bool IsClean(const Warp& warp, const Frame& frame) const;
  UndefinedValues& ValuesOf(Frame& frame) const;
  static Frame& FrameOf(const Warp& warp) { return *warp.state->groups[warp.state->current].frame; }

  void RunPure(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values);
  void RunLoad(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values);
  void RunStore(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values);
  void RunBranch(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values);
  void RunCall(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values);
  void RunReturn(Warp& warp, LaneMask mask);
  void RunOther(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values);
  void Meet(Warp& warp);

  // Undefined lanes of a source that have a say in the result.
  LaneMask Shown(const Warp& warp, const Insn& insn, const DefinednessPlan::Source& source,
                 const UndefinedValues& values) const;
  // Adds lanes of a slot to others.
  static void Join(UndefinedSlot& into, const UndefinedSlot& from, LaneMask lanes);
  static void Put(UndefinedSlot& into, const UndefinedSlot& from, LaneMask lanes);
  UndefinedSlot Addresses(const Step& step, LaneMask mask, const UndefinedValues& values) const;
  UndefinedSlot Guards(const Warp& warp, const Step& step, const UndefinedValues& values) const;
  void JoinAstray(const Warp& warp, LaneMask lanes, UndefinedSlot& into) const;
  void Use(const Warp& warp, const UndefinedSlot& undefined);
  Memory MemoryAt(Warp& warp, const Step& step, UndefinedValues& values, int lane, uint64_t address);
  bool SurelyActs(uint32_t pc, uint32_t until) const;
  const std::vector<uint32_t>& SlotsWritten(uint32_t branch, uint32_t until);
  void CopyArea(const Frame& from, const std::vector<ValuePlace>& sources, Frame& to,
                const std::vector<ValuePlace>& targets, LaneMask lanes) const;

  Engine& engine_;
  const Program& program_;
  const DefinednessPlan& plan_;
  std::vector<Insn>& code_;
  std::vector<Handler> inner_;  // by pc: what stood there; empty: nothing has been found yet
  std::vector<uint8_t> inner_flags_;
  std::unordered_map<const Block*, UndefinedBytes> shared_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> written_;  // by pc of a branch, slots
  std::map<std::pair<uint32_t, uint32_t>, Found> found_;         // by pc of the use and of the shuffle
};

}  // namespace lockstep::vgpu
