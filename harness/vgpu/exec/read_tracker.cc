#include "vgpu/exec/read_tracker.h"

#include <algorithm>
#include <utility>

#include "vgpu/exec/engine.h"
#include "vgpu/exec/shown_lanes.h"

namespace lockstep::vgpu {
namespace {

using Shows = UsePlan::Shows;

void RunFollowed(Warp& warp, const Insn&, LaneMask mask) { warp.engine->read_tracker()->Run(warp, mask); }

}  // namespace

ReadTracker::ReadTracker(const Program& program, std::vector<Observer*> observers)
    : program_(program), events_(std::move(observers)), code_(program.code), step_(program.code.size()) {
  const FunctionInfo& entry = program.functions[0];
  for (uint32_t pc = 0; pc < code_.size(); ++pc) {
    const bool once = program.bounded_stack || (pc >= entry.entry_pc && pc < entry.end_pc);
    step_[pc] = program.uses->StepAt(pc);
    if (!once && step_[pc] != nullptr) step_[pc] = Unfollowed(*step_[pc]);
    if (step_[pc] == nullptr) continue;
    code_[pc].handler = RunFollowed;
    if (code_[pc].guard != kNoRow) code_[pc].flags |= kAlwaysCall;
  }
}

const UsePlan::Step* ReadTracker::Unfollowed(const Step& step) {
  const auto unread = [](const UsePlan::Result& result) { return result.unread; };
  if (!step.reads || std::none_of(step.results.begin(), step.results.end(), unread)) return nullptr;
  Step& alone = unfollowed_.emplace_back();
  alone.reads = true;
  for (const UsePlan::Result& result : step.results) alone.results.push_back({UsePlan::kNoSlot, !result.unread});
  return &alone;
}

void ReadTracker::Run(Warp& warp, LaneMask mask) {
  const uint32_t pc = warp.pc - 1;
  const Insn& insn = program_.code[pc];
  const Step& step = *step_[pc];
  std::unique_ptr<ValueOrigins>& kept = warp.state->origins;
  const bool reads = step.reads && mask != 0;
  if (!reads && (kept == nullptr || kept->empty())) return Execute(warp, insn, mask);
  if (kept == nullptr) kept = std::make_unique<ValueOrigins>(program_.uses->slots);
  ValueOrigins& origins = *kept;
  const LaneMask active = warp.active;

  for (const uint32_t slot : step.before) origins.Drop(slot, active);
  Gather(warp, insn, step, mask, origins);
  // Most instructions that may meet a followed value meet none.
  if (gathered_.empty() && !reads) {
    for (const UsePlan::Result& result : step.results) {
      if (result.slot != UsePlan::kNoSlot) origins.Drop(result.slot, mask);
    }
    Settle(origins);
    Execute(warp, insn, mask);
    for (const uint32_t slot : step.after) origins.Drop(slot, active);
    Settle(origins);
    return;
  }
  if (!step.pure) UseGathered(origins);
  const bool several = step.pure && step.results.size() > 1;
  if (several) origins.Keep(gathered_);
  for (const UsePlan::Result& result : step.results) {
    const bool followed = result.slot != UsePlan::kNoSlot;
    if (step.pure && followed && !result.sure) {
      origins.Put(result.slot, mask, gathered_);
      continue;
    }
    if (step.pure && result.sure) UseGathered(origins);
    if (followed) origins.Drop(result.slot, mask);
  }
  if (several) origins.LetGo(gathered_);
  // The instruction's own event comes after the reads that it uses.
  if (!step.pure) Settle(origins);
  if (reads) {
    Read(warp, insn, step, mask, origins);
  } else {
    Execute(warp, insn, mask);
  }
  for (const uint32_t slot : step.after) origins.Drop(slot, active);
  Settle(origins);
  origins.LimitMemory();
}

void ReadTracker::Execute(Warp& warp, const Insn& insn, LaneMask mask) {
  if (mask != 0 || (insn.flags & kAlwaysCall) != 0) insn.handler(warp, insn, mask);
}

void ReadTracker::Read(Warp& warp, const Insn& insn, const Step& step, LaneMask mask, ValueOrigins& origins) {
  const uint32_t parts = static_cast<uint32_t>(step.results.size());
  const uint32_t number = events_.BeginRead(parts);
  insn.handler(warp, insn, mask);
  DelayedEvents::Read& read = events_.EndRead();
  // The memory is not observed, so the read does not matter.
  const bool asked = read.events > 0;
  for (uint32_t part = 0; part < parts && asked; ++part) {
    const UsePlan::Result& result = step.results[part];
    if (result.sure) {
      read.used[part] = read.lanes;
    } else if (result.slot != UsePlan::kNoSlot) {
      origins.Load(result.slot, {number, part}, read.lanes);
      ++read.open;
    }
  }
  if (read.open == 0) {
    read.settled = true;
    events_.Drain();
  }
}

// Collects the origins of what the instruction's results depend on, or of what it uses.
void ReadTracker::Gather(const Warp& warp, const Insn& insn, const Step& step, LaneMask mask, ValueOrigins& origins) {
  gathered_.clear();
  for (const UsePlan::Source& source : step.sources) {
    if (origins.Of(source.slot).empty()) continue;
    LaneMask lanes = mask;
    if (source.shows != Shows::kAlways) {
      LaneMask shown = ShownLanes(warp, insn, source.shows, source.bytes, source.row);
      if (source.decider != UsePlan::kNoSlot) {
        const LaneMask outweighs =
            source.own == 0 ? kFullMask : ~ShownLanes(warp, insn, source.shows, source.bytes, source.own);
        if (const LaneMask hidden = mask & outweighs & ~shown) shown |= origins.LanesOf(source.decider, hidden);
      }
      lanes &= shown;
    }
    origins.Gather(source.slot, lanes, gathered_);
  }
  // A result reveals the guard's value, whether it is written or not.
  if (step.guard != UsePlan::kNoSlot) origins.Gather(step.guard, warp.active, gathered_);
}

void ReadTracker::UseGathered(ValueOrigins& origins) {
  for (const ValueOrigins::Held& held : gathered_) {
    origins.Use(held, [&](ValueOrigins::Element element, LaneMask lanes) {
      if (DelayedEvents::Read* read = events_.Find(element.read)) {
        read->used[element.part] |= lanes;
      } else {
        missed_a_use_ = true;
      }
    });
  }
}

// Finds reads whose elements are all closed, and reports events that no longer wait.
void ReadTracker::Settle(ValueOrigins& origins) {
  bool any = false;
  origins.ForClosed([&](ValueOrigins::Element element) {
    DelayedEvents::Read* read = events_.Find(element.read);
    if (read == nullptr || --read->open != 0) return;
    read->settled = any = true;
  });
  if (any) events_.Drain();
}

void ReadTracker::Exit(Warp& warp, LaneMask lanes) {
  ValueOrigins* origins = warp.state->origins.get();
  if (origins == nullptr || origins->empty()) return;
  origins->DropAll(lanes);
  Settle(*origins);
}

}  // namespace lockstep::vgpu
