// Branches, exits, traps, fences.
#include "vgpu/exec/control.h"

#include <bit>

#include "vgpu/core/opcode_table.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/read_tracker.h"
#include "vgpu/isa/memory/async_copy.h"
#include "vgpu/isa/memory/bulk_copy.h"

namespace lockstep::vgpu {
namespace {

// Counts a divergent branch.
void CountDivergence(Warp& warp, LaneMask taken) {
  PcMemory* c = warp.engine->memory_counters(warp.pc - 1);
  if (c == nullptr) return;
  c->divergent += 1;
  warp.engine->KeepBranch(warp, taken);
}

// An iteration of a loop that may wait for other threads. If it wrote something, it counts as work, not as waiting.
void CountSpin(Warp& warp) {
  WarpState& s = *warp.state;
  if (s.wrote) {
    s.wrote = false;
    return;
  }
  if (--s.spin_budget > 0) return;
  s.reason = StopReason::kSpun;
  warp.stop = true;
}

}  // namespace

void Branch(Warp& warp, const Insn& insn, LaneMask mask) {
  if (mask == warp.active) {
    warp.pc = static_cast<uint32_t>(insn.immediate);
    return;
  }
  if (mask == 0) return;
  CountDivergence(warp, mask);
  Diverge(warp, mask, static_cast<uint32_t>(insn.immediate), static_cast<uint32_t>(insn.extra));
}

void SpinBranch(Warp& warp, const Insn& insn, LaneMask mask) {
  Branch(warp, insn, mask);
  if (mask != 0) CountSpin(warp);
}

void IndexedBranch(Warp& warp, const Insn& insn, LaneMask mask) {
  const std::vector<uint32_t>& table = warp.engine->program().branch_tables[insn.immediate];
  const uint32_t* index = Source<uint32_t>(warp, insn.row[0]);
  const uint32_t pc = warp.pc - 1;
  const int first = std::countr_zero(mask);
  if (index[first] >= table.size()) {
    warp.engine->Fault(warp, warp.engine->MakeFinding(warp, pc, first, FindingKind::kTrap,
                                                      "an index of brx.idx lies beyond its list of targets"));
    return;
  }
  LaneMask same = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) same |= static_cast<LaneMask>(index[lane] == index[first]) << lane;
  same &= mask;
  const uint32_t target = table[index[first]];
  if (same == warp.active) {
    warp.pc = target;
    return;
  }
  CountDivergence(warp, mask);
  // The lanes of one target jump; the others will re-execute this instruction. Lanes that fail the guard continue.
  SplitOff(warp, mask);
  warp.pc = pc;
  if (same == mask) {
    warp.pc = target;
    return;
  }
  Diverge(warp, same, target, static_cast<uint32_t>(insn.extra));
}

void Exit(Warp& warp, const Insn&, LaneMask mask) {
  Block& block = *warp.block;
  if (ReadTracker* tracker = warp.engine->read_tracker()) tracker->Exit(warp, mask);
  for (Observer* observer : warp.engine->observers()) {
    observer->OnExit({mask, warp.pc - 1, block.index, warp.index});
  }
  if (warp.state->async_copies != nullptr) {
    CompleteAllCopies(warp, mask);
    CompleteAllBulk(warp, mask);
  }
  LeaveCluster(warp, mask);
  ExitLanes(warp, mask);
  block.last_event = block.instructions;
  if (warp.alive == 0) block.live_warps &= ~(uint64_t{1} << warp.index);
  CheckGathers(warp);
  CheckBarriers(warp);
}

void RaiseUnsupported(Warp& warp, const Insn& insn, LaneMask mask) {
  warp.engine->Fault(warp,
                     warp.engine->MakeFinding(warp, warp.pc - 1, std::countr_zero(mask), FindingKind::kUnsupported,
                                              warp.engine->program().unsupported[insn.immediate]));
}

void PauseForClock(Warp& warp, const Insn& insn, LaneMask) {
  if (insn.extra != 0) {
    warp.engine->PassTime(warp, static_cast<uint32_t>(insn.immediate), static_cast<uint32_t>(insn.extra));
  }
  warp.state->reason = StopReason::kPaused;
  warp.stop = true;
}

namespace {

void Trap(Warp& warp, const Insn&, LaneMask mask) {
  warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, std::countr_zero(mask), FindingKind::kTrap,
                                                    "the kernel executed a trap"));
}

void Sleep(Warp& warp, const Insn& insn, LaneMask mask) {
  warp.state->slept += Source<uint32_t>(warp, insn.row[0])[std::countr_zero(mask)];
  warp.state->reason = StopReason::kSpun;
  warp.stop = true;
}

void Fence(Warp& warp, const Insn& insn, LaneMask mask) {
  warp.engine->FlushSharedNotes();
  for (Observer* observer : warp.engine->observers()) {
    observer->OnFence({mask, warp.pc - 1, warp.block->index, warp.index}, static_cast<MemoryScope>(insn.extra));
  }
}

Selection SelectTrap(Modifiers&) { return {Trap}; }
Selection SelectSleep(Modifiers& m) {
  return m.type_count() == 1 && m.type(0) == ptx::Type::kU32 ? Selection{Sleep} : Selection{};
}

// Hints to the hardware that do not affect results.
void Nothing(Warp&, const Insn&, LaneMask) {}
Selection SelectNothing(Modifiers&) { return {Nothing}; }

Selection FenceOf(const std::string& scope) {
  const MemoryScope value = scope == "cta"       ? MemoryScope::kCta
                            : scope == "cluster" ? MemoryScope::kCluster
                            : scope == "sys"     ? MemoryScope::kSystem
                                                 : MemoryScope::kGpu;
  return {Fence, InsnClass::kOther, 0, static_cast<uint64_t>(value)};
}

// Proxy fences order accesses that are always in order here. The tensor map proxy is not supported and is left to be
// refused.
Selection SelectProxyFence(Modifiers& m) {
  if (m.TakeAny({"alias", "async", "async::generic"}).empty()) return {};
  m.TakeAny({"global", "shared::cta", "shared::cluster"});
  m.TakeAny({"acquire", "release"});
  m.TakeAny({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  m.Take("cluster");
  return FenceOf("cta");
}

Selection SelectMembar(Modifiers& m) {
  const std::string scope = m.TakeAny({"cta", "gl", "sys"});
  return scope.empty() ? Selection{} : FenceOf(scope);
}

Selection SelectFence(Modifiers& m) {
  m.TakeAny({"sc", "acq_rel", "acquire", "release"});
  m.TakeAny({"sync_restrict::shared::cta", "sync_restrict::shared::cluster"});
  const std::string scope = m.TakeAny({"cta", "cluster", "gpu", "sys"});
  return scope.empty() ? Selection{} : FenceOf(scope);
}

Selection SelectInitFence(Modifiers& m) {
  return m.Take("release") && m.Take("cluster") ? FenceOf("cluster") : Selection{};
}

LOCKSTEP_OPCODES(control,
                 {
                     {"trap", "", SelectTrap, InsnClass::kOther, kAnyOrder, Meaning::kTrap},
                     {"brkpt", "", SelectTrap, InsnClass::kOther, kAnyOrder},
                     {"griddepcontrol.launch_dependents", "", SelectNothing, InsnClass::kOther, kAnyOrder},
                     {"griddepcontrol.wait", "", SelectNothing, InsnClass::kOther, kAnyOrder},
                     {"pmevent", "su32", SelectNothing, InsnClass::kOther, kAnyOrder},
                     {"pmevent.mask", "su32", SelectNothing, InsnClass::kOther, kAnyOrder},
                     {"nanosleep", "s0", SelectSleep, InsnClass::kOther, kAnyOrder | kPolls},
                     {"membar", "", SelectMembar, InsnClass::kFence, kOrderUnlessOfBlock | kFence},
                     {"membar.proxy", "", SelectProxyFence, InsnClass::kFence, kOrderUnlessOfBlock | kFence},
                     {"fence.proxy", "", SelectProxyFence, InsnClass::kFence,
                      kOrderUnlessOfBlock | kFence | kAsynchronous},
                     {"fence.mbarrier_init", "", SelectInitFence, InsnClass::kFence, kOrderUnlessOfBlock | kFence},
                     {"fence", "", SelectFence, InsnClass::kFence, kOrderUnlessOfBlock | kFence},
                 });

}  // namespace
}  // namespace lockstep::vgpu
