// Branches on undefined conditions: which threads go astray, and until which point.
#include <memory>
#include <unordered_set>

#include "vgpu/exec/control.h"
#include "vgpu/exec/definedness_tracker.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {

// Whether a thread that continues at pc is certain to have a visible effect before it reaches `until`, a call or a
// conditional branch.
bool DefinednessTracker::SurelyActs(uint32_t pc, uint32_t until) const {
  constexpr int kMostSteps = 4096;
  for (int steps = 0; pc != until && steps < kMostSteps; ++steps) {
    const Insn& insn = program_.code[pc];
    const Step* step = plan_.StepAt(pc);
    if (step == nullptr) {
      if (insn.handler == Exit || insn.handler == Return) return false;
      ++pc;
      continue;
    }
    const bool stores =
        step->effect == DefinednessPlan::Effect::kStore || step->effect == DefinednessPlan::Effect::kAtomic;
    const bool acts =
        (stores && step->space == DefinednessPlan::Space::kGlobal) || step->effect == DefinednessPlan::Effect::kBarrier;
    if (acts && insn.guard == kNoRow) return true;
    if (step->effect == DefinednessPlan::Effect::kLeave || step->effect == DefinednessPlan::Effect::kCall) return false;
    if (step->effect != DefinednessPlan::Effect::kBranch) {
      ++pc;
    } else if (insn.guard == kNoRow && insn.handler == Branch) {
      pc = static_cast<uint32_t>(insn.immediate);
    } else {
      return false;
    }
  }
  return false;
}

// The registers written on any path from a branch to its reconvergence point.
const std::vector<uint32_t>& DefinednessTracker::SlotsWritten(uint32_t branch, uint32_t until) {
  const auto [entry, fresh] = written_.try_emplace(branch);
  std::vector<uint32_t>& slots = entry->second;
  if (!fresh) return slots;
  std::vector<uint32_t> todo;
  std::unordered_set<uint32_t> seen{until};
  const auto visit = [&](uint32_t pc) {
    if (seen.insert(pc).second) todo.push_back(pc);
  };
  const auto follow = [&](uint32_t pc) {
    const Insn& insn = program_.code[pc];
    const Step* step = plan_.StepAt(pc);
    const bool branches = step != nullptr && step->effect == DefinednessPlan::Effect::kBranch;
    if (branches && insn.handler == IndexedBranch) {
      for (const uint32_t target : program_.branch_tables[insn.immediate]) visit(target);
    } else if (branches && insn.handler != RaiseUnsupported) {
      visit(static_cast<uint32_t>(insn.immediate));
    }
    const bool ends = insn.handler == Exit || insn.handler == Return;
    if (insn.guard != kNoRow || (!branches && !ends)) visit(pc + 1);
  };
  follow(branch);
  std::unordered_set<uint32_t> written;
  while (!todo.empty()) {
    const uint32_t pc = todo.back();
    todo.pop_back();
    if (const Step* step = plan_.StepAt(pc)) {
      for (const auto& result : plan_.Results(*step)) {
        if (result.slot != DefinednessPlan::kNoSlot && written.insert(result.slot).second) slots.push_back(result.slot);
      }
    }
    follow(pc);
  }
  return slots;
}

void DefinednessTracker::RunBranch(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values) {
  const uint32_t pc = warp.pc - 1;
  const Insn& insn = program_.code[pc];
  UndefinedSlot undefined = Guards(warp, step, values);
  for (const auto& source : plan_.Sources(step)) Join(undefined, values.slots[source.slot], mask);
  if (undefined.lanes == 0) return Execute(warp, pc, mask);

  const bool leaves = step.effect == DefinednessPlan::Effect::kLeave;
  const bool ways = !leaves && insn.handler != IndexedBranch;
  const uint32_t until = leaves ? kNoPc : static_cast<uint32_t>(insn.extra);
  UndefinedSlot used;
  if (SurelyActs(pc + 1, until)) Join(used, undefined, mask);
  if (ways && SurelyActs(static_cast<uint32_t>(insn.immediate), until)) Join(used, undefined, ~mask);
  Use(warp, used);
  if (warp.state->undefined == nullptr) warp.state->undefined = std::make_unique<UndefinedWarp>();
  warp.state->undefined->astray.push_back({&FrameOf(warp), until, undefined});
  if (until != kNoPc) {
    for (const uint32_t slot : SlotsWritten(pc, until)) Join(values.slots[slot], undefined, undefined.lanes);
  }
  Execute(warp, pc, mask);
}

// Called when control reaches a reconvergence point.
void DefinednessTracker::Meet(Warp& warp) {
  if (warp.state->undefined == nullptr || warp.state->undefined->astray.empty()) return;
  const Frame& frame = FrameOf(warp);
  std::erase_if(warp.state->undefined->astray, [&](UndefinedWarp::Astray& astray) {
    if (astray.until == warp.pc - 1 && astray.frame == &frame) astray.lanes.lanes &= ~warp.active;
    return (astray.lanes.lanes & warp.alive) == 0;
  });
}

}  // namespace lockstep::vgpu
