#include "vgpu/exec/read_tracker.h"

#include <algorithm>
#include <utility>

#include "vgpu/exec/engine.h"
#include "vgpu/exec/shown_lanes.h"

namespace lockstep::vgpu {
namespace {

using Shows = UsePlan::Shows;

void RunFollowed(Warp& warp, const Insn&, LaneMask mask) { warp.engine->read_tracker()->Run(warp, mask); }

LaneMask LanesOf(const std::vector<ReadTag>& tags) {
  LaneMask lanes = 0;
  for (const ReadTag& tag : tags) lanes |= tag.lanes;
  return lanes;
}

void Add(std::vector<ReadTag>& tags, const ReadTag& more) {
  if (more.lanes == 0) return;
  for (ReadTag& tag : tags) {
    if (tag.read != more.read || tag.part != more.part) continue;
    tag.lanes |= more.lanes;
    return;
  }
  tags.push_back(more);
}

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
  std::unique_ptr<ReadTags>& tags = warp.state->read_tags;
  const bool reads = step.reads && mask != 0;
  if (!reads && (tags == nullptr || tags->reads.empty())) return Execute(warp, insn, mask);
  if (tags == nullptr) tags = std::make_unique<ReadTags>(program_.uses->slots);
  const LaneMask active = warp.active;
  auto& slots = tags->slots;

  for (const uint32_t slot : step.before) Drop(slots[slot], active);
  Gather(warp, insn, step, mask, *tags);
  if (!step.pure) Use(gathered_, kFullMask);
  for (const UsePlan::Result& result : step.results) {
    if (result.slot != UsePlan::kNoSlot) Drop(slots[result.slot], mask);
    if (!step.pure) continue;
    if (result.sure) {
      Use(gathered_, kFullMask);
    } else if (result.slot != UsePlan::kNoSlot) {
      for (const ReadTag& tag : gathered_) Add(slots[result.slot], tag);
      tags->Hold(result.slot);
    }
  }
  if (reads) {
    if (tags->reads.size() >= kMostReads) {
      for (const uint32_t number : tags->reads) {
        if (DelayedEvents::Read* read = events_.Find(number)) read->Settle();
      }
      tags->ForHeld([](std::vector<ReadTag>& slot) { slot.clear(); });
      tags->reads.clear();
      changed_ = true;
    }
    Settle(*tags);
    Read(warp, insn, step, mask, *tags);
  } else {
    // The instruction's own event comes after the reads that it uses.
    if (!step.pure) Settle(*tags);
    Execute(warp, insn, mask);
  }
  for (const uint32_t slot : step.after) Drop(slots[slot], active);
  Settle(*tags);
}

void ReadTracker::Execute(Warp& warp, const Insn& insn, LaneMask mask) {
  if (mask != 0 || (insn.flags & kAlwaysCall) != 0) insn.handler(warp, insn, mask);
}

// The load itself.
void ReadTracker::Read(Warp& warp, const Insn& insn, const Step& step, LaneMask mask, ReadTags& tags) {
  const uint32_t parts = static_cast<uint32_t>(step.results.size());
  const uint32_t number = events_.BeginRead(parts);
  insn.handler(warp, insn, mask);
  DelayedEvents::Read& read = events_.EndRead();
  for (uint32_t part = 0; part < parts; ++part) {
    const UsePlan::Result& result = step.results[part];
    if (result.sure) {
      read.used[part] = read.lanes;
    } else if (result.slot != UsePlan::kNoSlot) {
      Add(tags.slots[result.slot], {number, part, read.lanes});
      tags.Hold(result.slot);
    }
  }
  tags.reads.push_back(number);
  changed_ = true;
}

// Collects the tags that move to the instruction's results or are used by it.
void ReadTracker::Gather(const Warp& warp, const Insn& insn, const Step& step, LaneMask mask, const ReadTags& tags) {
  gathered_.clear();
  const auto take = [&](uint32_t slot, LaneMask lanes) {
    for (const ReadTag& tag : tags.slots[slot]) {
      if (events_.Find(tag.read) != nullptr) Add(gathered_, {tag.read, tag.part, tag.lanes & lanes});
    }
  };
  for (const UsePlan::Source& source : step.sources) {
    if (tags.slots[source.slot].empty()) continue;
    LaneMask lanes = mask;
    if (source.shows != Shows::kAlways) {
      LaneMask shown = ShownLanes(warp, insn, source.shows, source.bytes, source.row);
      if (source.decider != UsePlan::kNoSlot) {
        const LaneMask outweighs =
            source.own == 0 ? kFullMask : ~ShownLanes(warp, insn, source.shows, source.bytes, source.own);
        shown |= LanesOf(tags.slots[source.decider]) & outweighs;
      }
      lanes &= shown;
    }
    take(source.slot, lanes);
  }
  // A result reveals the guard's value, whether it is written or not.
  if (step.guard != UsePlan::kNoSlot) take(step.guard, warp.active);
}

void ReadTracker::Use(const std::vector<ReadTag>& tags, LaneMask lanes) {
  for (const ReadTag& tag : tags) {
    DelayedEvents::Read* read = events_.Find(tag.read);
    if (read == nullptr || (tag.lanes & lanes & ~read->used[tag.part]) == 0) continue;
    read->used[tag.part] |= tag.lanes & lanes;
    changed_ = true;
  }
}

void ReadTracker::Drop(std::vector<ReadTag>& tags, LaneMask lanes) {
  if (tags.empty()) return;
  for (ReadTag& tag : tags) {
    changed_ |= (tag.lanes & lanes) != 0;
    tag.lanes &= ~lanes;
  }
  std::erase_if(tags, [](const ReadTag& tag) { return tag.lanes == 0; });
}

// Finds the reads that no slot holds any more.
void ReadTracker::Settle(ReadTags& tags) {
  if (!std::exchange(changed_, false)) return;
  for (const uint32_t number : tags.reads) {
    if (DelayedEvents::Read* read = events_.Find(number)) read->open.fill(0);
  }
  tags.ForHeld([&](std::vector<ReadTag>& slot) {
    std::erase_if(slot, [&](ReadTag& tag) {
      DelayedEvents::Read* read = events_.Find(tag.read);
      if (read == nullptr) return true;
      tag.lanes &= ~read->used[tag.part];
      read->open[tag.part] |= tag.lanes;
      return tag.lanes == 0;
    });
  });
  std::erase_if(tags.reads, [&](uint32_t number) {
    DelayedEvents::Read* read = events_.Find(number);
    if (read == nullptr) return true;
    for (const LaneMask open : read->open) {
      if (open != 0) return false;
    }
    return read->settled = true;
  });
  events_.Drain();
}

void ReadTracker::Exit(Warp& warp, LaneMask lanes) {
  ReadTags* tags = warp.state->read_tags.get();
  if (tags == nullptr || tags->reads.empty()) return;
  tags->ForHeld([&](std::vector<ReadTag>& slot) { Drop(slot, lanes); });
  Settle(*tags);
}

}  // namespace lockstep::vgpu
