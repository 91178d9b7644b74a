// Finds uses of values that a shuffle has read from a lane that does not take part in it.
//
// Such a value is undefined. Most are harmless: the last steps of a shuffle tree add garbage in lanes whose sum is
// never needed. The guarantee: a finding is made exactly when such a value has a visible effect, that is, when it
// reaches global memory, an address, or the condition of a branch that decides whether the thread gets to a store, a
// barrier or its end.
//
// Theory of operation. The engine runs a private copy of the program's code. The copy is unmodified until a shuffle
// reads from a missing lane. Then each instruction with a step in the program's DefinednessPlan, each convergence point
// and each return gets a handler that calls the tracker, which calls the previous handler (perhaps the read tracker's).
// Because the copy is patched in place, the interpreter loop needs no check, and the order of warps does not change.
//
// Afterwards each register has a mask of lanes in which it is undefined, and each byte of shared memory, local memory
// and parameters has a mark. A result is undefined in every lane where an operand that affects it is undefined. An
// operand that another one masks (in an `and`, a select or a product) does not affect it. A load returns the state of
// the stored bytes.
//
// A branch on an undefined condition is not a use in itself: a lane whose result is never needed may use it to choose
// the larger of two values. Until the two paths reconverge, such lanes are *astray*: everything that they compute is
// undefined, and every visible effect is a use. The path not taken would have computed undefined values too, so all
// registers that either path writes become undefined at the branch.
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
  // The program must have a DefinednessPlan. code: the code that the engine runs; it must not move.
  DefinednessTracker(Engine& engine, std::vector<Insn>& code);
  DefinednessTracker(const DefinednessTracker&) = delete;
  DefinednessTracker& operator=(const DefinednessTracker&) = delete;

  void BeginBlock(const Block& block) { shared_.erase(&block); }

  // False: this shuffle yields no undefined value. members: the row of the member masks, or kNoRow.
  bool Concerns(const Warp& warp, LaneMask mask, RowRef members) const {
    if (!inner_.empty() || mask != kFullMask) return true;
    if (members == kNoRow) return false;
    LaneMask named = kFullMask;
    for (int lane = 0; lane < kWarpSize; ++lane) named &= Source<LaneMask>(warp, members)[lane];
    return named != kFullMask;
  }
  // Handles a shuffle for which Concerns is true. Lanes `mask` read from lanes source[]; a source lane takes part if
  // members[] of the reader names it (nullptr: all do). Call it before the results are written.
  void Shuffle(Warp& warp, LaneMask mask, const int32_t source[kWarpSize], const uint32_t* members);

  // Runs the instruction before warp.pc.
  void Run(Warp& warp, LaneMask mask);

  // Reports the uses found, once for each pair of shuffle and use.
  void Tell();

 private:
  using Step = DefinednessPlan::Step;
  struct Found {
    uint32_t block_index, thread_index;
    UndefinedOrigin origin;
    uint64_t count;
  };
  struct Memory {
    UndefinedBytes* bytes = nullptr;  // nullptr: global memory, or not tracked
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

  // The lanes in which a source is undefined and affects the result.
  LaneMask Shown(const Warp& warp, const Insn& insn, const DefinednessPlan::Source& source,
                 const UndefinedValues& values) const;
  // Join adds the given lanes of `from`; Put replaces them.
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
  std::vector<Handler> inner_;  // by pc: the original handler; empty until the first undefined value
  std::vector<uint8_t> inner_flags_;
  std::unordered_map<const Block*, UndefinedBytes> shared_;
  std::unordered_map<uint32_t, std::vector<uint32_t>> written_;  // by pc of a branch: slots written on its paths
  std::map<std::pair<uint32_t, uint32_t>, Found> found_;         // by pc of the use and of the shuffle
};

}  // namespace lockstep::vgpu
