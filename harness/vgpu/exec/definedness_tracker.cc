#include "vgpu/exec/definedness_tracker.h"

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>

#include "vgpu/exec/block.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/shown_lanes.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {
namespace {

using Effect = DefinednessPlan::Effect;
using Shows = UsePlan::Shows;
using Space = DefinednessPlan::Space;

constexpr uint32_t kNoSlot = DefinednessPlan::kNoSlot;
constexpr uint64_t kLowHalf = 0xffffffffu;

void RunTracked(Warp& warp, const Insn&, LaneMask mask) { warp.engine->definedness_tracker()->Run(warp, mask); }

template <typename F>
void ForEachLane(LaneMask lanes, const F& f) {
  for (; lanes != 0; lanes &= lanes - 1) f(std::countr_zero(lanes));
}

std::string TextOf(const UndefinedOrigin& origin, uint64_t threads) {
  const std::string text =
      "the kernel uses a value that a shuffle read from lane " + std::to_string(origin.lane) + ", which ";
  switch (origin.why) {
    case UndefinedOrigin::Why::kReturned:
      return text + "has returned";
    case UndefinedOrigin::Why::kBeyondBlock:
      return text + "the block of " + std::to_string(threads) + (threads == 1 ? " thread" : " threads") +
             " does not have";
    case UndefinedOrigin::Why::kTakesNoPart:
      break;
  }
  return text + "takes no part in it";
}

bool InArea(const ValuePlace& place) { return place.row == kNoRow && !place.local; }

}  // namespace

DefinednessTracker::DefinednessTracker(Engine& engine, std::vector<Insn>& code)
    : engine_(engine), program_(engine.program()), plan_(*program_.definedness), code_(code) {}

void DefinednessTracker::Activate() {
  inner_.resize(code_.size());
  inner_flags_.resize(code_.size());
  for (uint32_t pc = 0; pc < code_.size(); ++pc) {
    inner_[pc] = code_[pc].handler;
    inner_flags_[pc] = code_[pc].flags;
    const Handler own = program_.code[pc].handler;
    if (plan_.StepAt(pc) == nullptr && own != Converge && own != Return) continue;
    code_[pc].handler = RunTracked;
    if (code_[pc].guard != kNoRow) code_[pc].flags |= kAlwaysCall;
  }
}

void DefinednessTracker::Execute(Warp& warp, uint32_t pc, LaneMask mask) const {
  if (mask != 0 || (inner_flags_[pc] & kAlwaysCall) != 0) inner_[pc](warp, program_.code[pc], mask);
}

bool DefinednessTracker::IsClean(const Warp& warp, const Frame& frame) const {
  return frame.undefined == nullptr && warp.state->undefined == nullptr && !shared_.contains(warp.block);
}

UndefinedValues& DefinednessTracker::ValuesOf(Frame& frame) const {
  if (frame.undefined == nullptr) {
    frame.undefined = std::make_unique<UndefinedValues>();
    frame.undefined->slots.resize(plan_.slots[static_cast<size_t>(frame.function - program_.functions.data())]);
  }
  return *frame.undefined;
}

void DefinednessTracker::Join(UndefinedSlot& into, const UndefinedSlot& from, LaneMask lanes) {
  lanes &= from.lanes & ~into.lanes;
  ForEachLane(lanes,
              [&](int lane) { into.origin[static_cast<size_t>(lane)] = from.origin[static_cast<size_t>(lane)]; });
  into.lanes |= lanes;
}

void DefinednessTracker::Put(UndefinedSlot& into, const UndefinedSlot& from, LaneMask lanes) {
  into.lanes &= ~lanes;
  Join(into, from, lanes);
}

void DefinednessTracker::JoinAstray(const Warp& warp, LaneMask lanes, UndefinedSlot& into) const {
  if (warp.state->undefined == nullptr) return;
  for (const UndefinedWarp::Astray& astray : warp.state->undefined->astray) Join(into, astray.lanes, lanes);
}

// Whether or not the instruction executes, its effect reveals the guard's value.
UndefinedSlot DefinednessTracker::Guards(const Warp& warp, const Step& step, const UndefinedValues& values) const {
  UndefinedSlot undefined;
  if (step.guard != kNoSlot) Join(undefined, values.slots[step.guard], warp.active);
  return undefined;
}

UndefinedSlot DefinednessTracker::Addresses(const Step& step, LaneMask mask, const UndefinedValues& values) const {
  UndefinedSlot undefined;
  if (step.space == Space::kArea) return undefined;
  for (const uint32_t slot : plan_.Addresses(step)) Join(undefined, values.slots[slot], mask);
  return undefined;
}

LaneMask DefinednessTracker::Shown(const Warp& warp, const Insn& insn, const DefinednessPlan::Source& source,
                                   const UndefinedValues& values) const {
  const LaneMask lanes = values.slots[source.slot].lanes;
  if (lanes == 0 || source.shows == Shows::kAlways) return lanes;
  const uint64_t bits = source.part == 0 ? ~uint64_t{0} : source.part == 1 ? kLowHalf : ~kLowHalf;
  LaneMask shown = ShownLanes(warp, insn, source.shows, source.bytes, source.row, bits);
  for (uint32_t k = 0; k < source.deciders; ++k) shown |= values.slots[source.decider + k].lanes;
  return lanes & shown;
}

void DefinednessTracker::Shuffle(Warp& warp, LaneMask mask, const int32_t source[kWarpSize], const uint32_t* members) {
  LaneMask missing = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const LaneMask here = (members == nullptr ? mask : mask & members[lane]) | LaneMask{1} << lane;
    missing |= (~here >> source[lane] & 1) << lane;
  }
  missing &= mask;
  if (missing == 0 && inner_.empty()) return;
  if (inner_.empty()) Activate();

  // Lanes gathered for one shuffle may be at different instructions, in different frames.
  struct Part {
    Frame* frame;
    uint32_t pc;
    LaneMask lanes;
  };
  std::vector<Part> parts;
  WarpState& s = *warp.state;
  LaneMask rest = mask;
  for (const Group& group : s.groups) {
    if (group.status != GroupStatus::kAtWarpSync || (group.mask & rest) == 0) continue;
    parts.push_back({group.frame, group.wait_pc, group.mask & rest});
    rest &= ~group.mask;
  }
  if (rest != 0) parts.push_back({s.groups[s.current].frame, warp.pc - 1, rest});

  UndefinedSlot values, others;  // the lanes' values; what determines each lane's source
  for (const Part& part : parts) {
    if (part.frame->undefined == nullptr) continue;
    const Step& step = *plan_.StepAt(part.pc);
    if (step.effect != Effect::kShuffle) continue;
    const auto sources = plan_.Sources(step);
    const auto& slots = part.frame->undefined->slots;
    if (sources[0].slot != kNoSlot) Join(values, slots[sources[0].slot], part.lanes);
    for (const auto& source : sources.subspan(1)) {
      if (source.slot != kNoSlot) Join(others, slots[source.slot], part.lanes);
    }
  }
  JoinAstray(warp, mask, values);
  JoinAstray(warp, mask, others);
  const uint64_t threads = engine_.launch().info.block.Count() - uint64_t{warp.index} * kWarpSize;
  for (const Part& part : parts) {
    const Step& step = *plan_.StepAt(part.pc);
    if (step.effect != Effect::kShuffle) continue;
    UndefinedSlot result;
    Join(result, others, part.lanes);
    ForEachLane(part.lanes & ~result.lanes, [&](int lane) {
      const LaneMask bit = LaneMask{1} << lane;
      const auto from = static_cast<size_t>(source[lane]);
      UndefinedOrigin origin;
      if ((missing & bit) != 0) {
        origin.pc = part.pc;
        origin.reader = static_cast<uint16_t>(warp.index * kWarpSize + static_cast<uint32_t>(lane));
        origin.lane = static_cast<uint8_t>(from);
        origin.why = from >= threads                 ? UndefinedOrigin::Why::kBeyondBlock
                     : (warp.alive >> from & 1) == 0 ? UndefinedOrigin::Why::kReturned
                                                     : UndefinedOrigin::Why::kTakesNoPart;
      } else if ((values.lanes >> from & 1) != 0) {
        origin = values.origin[from];
      } else {
        return;
      }
      result.lanes |= bit;
      result.origin[static_cast<size_t>(lane)] = origin;
    });
    if (result.lanes == 0 && part.frame->undefined == nullptr) continue;
    UndefinedValues& own = ValuesOf(*part.frame);
    const auto results = plan_.Results(step);
    if (results[0].slot != kNoSlot) Put(own.slots[results[0].slot], result, part.lanes);
    if (results.size() > 1 && results[1].slot != kNoSlot) Put(own.slots[results[1].slot], others, part.lanes);
  }
}

void DefinednessTracker::Run(Warp& warp, LaneMask mask) {
  const uint32_t pc = warp.pc - 1;
  Frame& frame = FrameOf(warp);
  if (IsClean(warp, frame)) return Execute(warp, pc, mask);
  const Step* step = plan_.StepAt(pc);
  if (step == nullptr) {
    if (program_.code[pc].handler == Return) {
      RunReturn(warp, mask);
    } else {
      Meet(warp);
      Execute(warp, pc, mask);
    }
    return;
  }
  UndefinedValues& values = ValuesOf(frame);
  switch (step->effect) {
    case Effect::kPure:
      return RunPure(warp, *step, mask, values);
    case Effect::kLoad:
      return RunLoad(warp, *step, mask, values);
    case Effect::kStore:
    case Effect::kAtomic:
      return RunStore(warp, *step, mask, values);
    case Effect::kBranch:
    case Effect::kLeave:
      return RunBranch(warp, *step, mask, values);
    case Effect::kCall:
      return RunCall(warp, *step, mask, values);
    default:
      return RunOther(warp, *step, mask, values);
  }
}

void DefinednessTracker::RunPure(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values) {
  const uint32_t pc = warp.pc - 1;
  const Insn& insn = program_.code[pc];
  UndefinedSlot by_part[4];
  for (const auto& source : plan_.Sources(step)) {
    if (values.slots[source.slot].lanes == 0) continue;
    Join(by_part[source.part], values.slots[source.slot], Shown(warp, insn, source, values) & mask);
  }
  UndefinedSlot always = Guards(warp, step, values);
  const LaneMask written = mask | always.lanes;
  JoinAstray(warp, mask, always);
  Join(always, by_part[0], mask);
  Execute(warp, pc, mask);
  for (const auto& result : plan_.Results(step)) {
    UndefinedSlot& slot = values.slots[result.slot];
    if (result.part != 0) Join(by_part[result.part], always, written);
    Put(slot, result.part == 0 ? always : by_part[result.part], written);
  }
}

DefinednessTracker::Memory DefinednessTracker::MemoryAt(Warp& warp, const Step& step, UndefinedValues& values, int lane,
                                                        uint64_t address) {
  const auto shared = [&](uint64_t offset) -> Memory {
    const Block* block = warp.block;
    if (IsOfOtherBlock(offset)) {
      const uint64_t rank = (offset >> kRankShift) - 1;
      const auto& cluster = block->cluster;
      block = cluster == nullptr || rank >= cluster->blocks.size() ? nullptr : cluster->blocks[rank];
      if (block == nullptr) return {};
    }
    return {&shared_[block], offset & kOffsetMask};
  };
  const auto local = [&](uint64_t offset) -> Memory {
    if (warp.state->undefined == nullptr) warp.state->undefined = std::make_unique<UndefinedWarp>();
    return {&warp.state->undefined->local, UndefinedBytes::LaneBase(lane) + offset};
  };
  switch (step.space) {
    case Space::kShared:
      return shared(address);
    case Space::kLocal:
      return local(address);
    case Space::kArea:
      return {&values.area, UndefinedBytes::LaneBase(lane) + address};
    case Space::kGeneric:
      if (InWindow(address, kSharedWindow)) return shared(address - kSharedWindow);
      if (InWindow(address, kLocalWindow)) return local(address - kLocalWindow);
      return {};
    default:
      return {};
  }
}

namespace {

// The lanes' addresses as the access computes them.
std::array<uint64_t, kWarpSize> LaneAddresses(const Warp& warp, const Insn& insn, const DefinednessPlan::Step& step) {
  std::array<uint64_t, kWarpSize> addresses{};
  const RowRef row = insn.Row(step.address_row);
  for (size_t lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t base = row == kNoRow ? 0
                          : step.narrow ? Source<uint32_t>(warp, row)[lane]
                                        : Source<uint64_t>(warp, row)[lane];
    addresses[lane] = base + insn.immediate;
    if (step.narrow) addresses[lane] &= kLowHalf;
  }
  return addresses;
}

}  // namespace

void DefinednessTracker::RunLoad(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values) {
  const uint32_t pc = warp.pc - 1;
  Use(warp, Addresses(step, mask, values));
  UndefinedSlot always = Guards(warp, step, values);
  const LaneMask written = mask | always.lanes;
  JoinAstray(warp, mask, always);
  const auto results = plan_.Results(step);
  std::vector<UndefinedSlot> brought(results.size(), always);
  if (step.space != Space::kGlobal && step.space != Space::kReadOnly) {
    const auto addresses = LaneAddresses(warp, program_.code[pc], step);
    ForEachLane(mask, [&](int lane) {
      const auto index = static_cast<size_t>(lane);
      const Memory memory = MemoryAt(warp, step, values, lane, addresses[index]);
      if (memory.bytes == nullptr || memory.bytes->empty()) return;
      for (size_t k = 0; k < results.size(); ++k) {
        const UndefinedOrigin* origin = memory.bytes->Find(memory.address + results[k].at, results[k].bytes);
        if (origin == nullptr || (brought[k].lanes >> lane & 1) != 0) continue;
        brought[k].lanes |= LaneMask{1} << lane;
        brought[k].origin[index] = *origin;
      }
    });
  }
  Execute(warp, pc, mask);
  for (size_t k = 0; k < results.size(); ++k) Put(values.slots[results[k].slot], brought[k], written);
}

void DefinednessTracker::RunStore(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values) {
  const uint32_t pc = warp.pc - 1;
  const auto sources = plan_.Sources(step);
  const auto results = plan_.Results(step);
  Use(warp, Addresses(step, mask, values));
  // Origins that affect whether anything is stored, and so every byte of the store.
  UndefinedSlot whole = Guards(warp, step, values);
  const LaneMask concerned = mask | whole.lanes;
  JoinAstray(warp, mask, whole);
  UndefinedSlot used, old;
  const bool atomic = step.effect == Effect::kAtomic;
  const auto addresses = LaneAddresses(warp, program_.code[pc], step);
  ForEachLane(concerned, [&](int lane) {
    const auto index = static_cast<size_t>(lane);
    const LaneMask bit = LaneMask{1} << lane;
    const Memory memory = MemoryAt(warp, step, values, lane, addresses[index]);
    if (memory.bytes == nullptr) {
      Join(used, whole, bit);
      for (const auto& source : sources) Join(used, values.slots[source.slot], bit);
      return;
    }
    if (atomic) {
      if (const UndefinedOrigin* origin = memory.bytes->Find(memory.address, step.bytes)) {
        old.lanes |= bit;
        old.origin[index] = *origin;
      }
    }
    if ((mask & bit) != 0 && (!atomic || step.replaces)) memory.bytes->Erase(memory.address, step.bytes);
    for (const auto& source : sources) {
      const UndefinedSlot& slot = values.slots[source.slot];
      if ((slot.lanes & mask & bit) != 0)
        memory.bytes->Set(memory.address + source.at, source.bytes, slot.origin[index]);
    }
    if ((whole.lanes & bit) != 0) memory.bytes->Set(memory.address, step.bytes, whole.origin[index]);
  });
  Use(warp, used);
  Join(old, whole, concerned);
  Execute(warp, pc, mask);
  for (const auto& result : results) Put(values.slots[result.slot], old, concerned);
}

void DefinednessTracker::CopyArea(const Frame& from, const std::vector<ValuePlace>& sources, Frame& to,
                                  const std::vector<ValuePlace>& targets, LaneMask lanes) const {
  const size_t n = std::min(sources.size(), targets.size());
  for (size_t k = 0; k < n; ++k) {
    if (!InArea(targets[k])) continue;
    ForEachLane(lanes, [&](int lane) {
      const uint64_t base = UndefinedBytes::LaneBase(lane);
      if (to.undefined != nullptr) to.undefined->area.Erase(base + targets[k].offset, targets[k].bytes);
      if (!InArea(sources[k]) || from.undefined == nullptr || from.undefined->area.empty()) return;
      for (uint32_t at = 0; at < std::min(sources[k].bytes, targets[k].bytes); ++at) {
        const UndefinedOrigin* origin = from.undefined->area.Find(base + sources[k].offset + at, 1);
        if (origin != nullptr) ValuesOf(to).area.Set(base + targets[k].offset + at, 1, *origin);
      }
    });
  }
}

void DefinednessTracker::RunCall(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values) {
  const uint32_t pc = warp.pc - 1;
  Use(warp, Guards(warp, step, values));
  for (const auto& result : plan_.Results(step)) values.slots[result.slot].lanes &= ~mask;
  Frame& caller = FrameOf(warp);
  Execute(warp, pc, mask);
  WarpState& s = *warp.state;
  const Insn& insn = program_.code[pc];
  if (insn.handler != Call || s.current < 0 || s.reason == StopReason::kFault || &FrameOf(warp) == &caller) return;
  Frame& callee = FrameOf(warp);
  if (s.undefined != nullptr) {
    ForEachLane(warp.active, [&](int lane) {
      s.undefined->local.Erase(UndefinedBytes::LaneBase(lane) + callee.local_base, callee.function->local_bytes);
    });
  }
  CopyArea(caller, program_.calls[insn.immediate].arguments, callee, callee.function->parameters, warp.active);
}

void DefinednessTracker::RunReturn(Warp& warp, LaneMask mask) {
  const uint32_t pc = warp.pc - 1;
  const Frame& callee = FrameOf(warp);
  CopyArea(callee, callee.function->returns, *callee.parent, callee.site->returns, mask);
  Execute(warp, pc, mask);
}

void DefinednessTracker::RunOther(Warp& warp, const Step& step, LaneMask mask, UndefinedValues& values) {
  const uint32_t pc = warp.pc - 1;
  UndefinedSlot undefined = Guards(warp, step, values);
  if (step.effect == Effect::kBarrier) JoinAstray(warp, mask, undefined);
  Use(warp, undefined);
  // A copy that arrives later, or in another block, may overwrite any byte, so none counts as undefined from now on.
  if (step.effect == Effect::kAsynchronous) shared_.clear();
  if (step.effect != Effect::kShuffle) {
    UndefinedSlot made;
    JoinAstray(warp, mask, made);
    for (const auto& result : plan_.Results(step)) {
      if (result.slot != kNoSlot) Put(values.slots[result.slot], made, mask);
    }
  }
  Execute(warp, pc, mask);
}

void DefinednessTracker::Use(const Warp& warp, const UndefinedSlot& undefined) {
  if (undefined.lanes == 0) return;
  const auto lane = static_cast<uint32_t>(std::countr_zero(undefined.lanes));
  const UndefinedOrigin& origin = undefined.origin[lane];
  const Found use{warp.block->index, warp.index * kWarpSize + lane, origin, 1};
  const auto [found, fresh] = found_.try_emplace({warp.pc - 1, origin.pc}, use);
  if (fresh) return;
  const uint64_t count = found->second.count + 1;
  if (use.block_index < found->second.block_index) found->second = use;
  found->second.count = count;
}

void DefinednessTracker::Tell() {
  const LaunchState& launch = engine_.launch();
  for (const auto& [places, found] : found_) {
    const UndefinedOrigin& origin = found.origin;
    Finding finding = engine_.MakeFinding(DescribeThread(launch, found.block_index, found.thread_index, places.first),
                                          FindingKind::kUndefinedShuffle, TextOf(origin, launch.info.block.Count()));
    finding.second = DescribeThread(launch, found.block_index, origin.reader, origin.pc);
    finding.count = found.count;
    engine_.Report(found.block_index, std::move(finding));
  }
  found_.clear();
}

}  // namespace lockstep::vgpu
