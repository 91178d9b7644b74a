#include "vgpu/exec/warp_state.h"

#include <algorithm>
#include <cstring>

#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

// clear: a lane may read a register that it has not written.
void EnsureRows(Frame& frame, const FunctionInfo& function, bool clear, uint8_t value = 0) {
  const size_t bytes = function.frame_bytes + size_t{kWarpSize} * function.area_bytes;
  if (frame.capacity < bytes || frame.rows == nullptr) {
    frame.rows = MakeAlignedBytes(std::max<size_t>(bytes, 64));
    frame.capacity = bytes;
  }
  // Stale values would depend on what ran here before, and so on the number of CPU threads.
  if (clear) std::memset(frame.rows.get(), value, function.register_bytes);
  std::memset(frame.rows.get() + function.frame_bytes, 0, size_t{kWarpSize} * function.area_bytes);
}

// Resets the local memory of a frame before it is used.
void ForgetLocal(WarpState& s, const Program& program, LaneMask lanes, uint32_t base, uint32_t bytes) {
  if (bytes == 0) return;
  for (const size_t lane : EachLane(lanes)) {
    std::memset(s.local.get() + lane * program.local_stride + base, kUnwritten, bytes);
  }
}

void SetEntry(Warp& warp, int32_t entry) {
  WarpState& s = *warp.state;
  s.groups[s.current].entry = entry;
  s.reconverge_pc = entry < 0 ? kNoPc : s.entries[entry].pc;
}

int32_t NewEntry(WarpState& s, uint32_t pc, Frame* frame, LaneMask expected, int32_t parent) {
  int32_t k = 0;
  while (k < static_cast<int32_t>(s.entries.size()) && s.entries[k].pc != kNoPc) ++k;
  if (k == static_cast<int32_t>(s.entries.size())) s.entries.emplace_back();
  s.entries[k] = {pc, parent, frame, expected};
  return k;
}

// Finds lanes that a convergence point expects but that wait at a .sync instruction for lanes already at that point: a
// deadlock unless one side is released.
void NotePassedSyncs(WarpState& s) {
  for (const Group& group : s.groups) {
    if (group.status != GroupStatus::kAtWarpSync) continue;
    for (ConvergenceEntry& entry : s.entries) {
      if (entry.pc == kNoPc || (entry.arrived & group.members) == 0 || (entry.expected & group.mask) == 0) continue;
      entry.passed_sync = group.wait_pc;
      entry.passed = entry.arrived & group.members;
    }
  }
}

// The waiting lanes have reached the convergence point too. If they had left the kernel instead, as in `if (c) {
// __syncwarp(); return; }`, the other lanes could have reached a __syncwarp of their own.
void ReportPassedSync(Warp& warp, const ConvergenceEntry& entry) {
  if (entry.passed_sync != kNoPc) warp.engine->ReportPassedSync(warp, entry);
}

}  // namespace

void AddReady(WarpState& s, LaneMask mask, uint32_t pc, Frame* frame, int32_t entry) {
  Group group;
  group.mask = mask;
  group.pc = pc;
  group.frame = frame;
  group.entry = entry;
  s.groups.push_back(group);
}

void StartWarp(Warp& warp, const Program& program, LaneMask lanes) {
  WarpState& s = *warp.state;
  const FunctionInfo& entry = program.functions[0];
  s.entry_frame.function = &entry;
  s.entry_frame.lanes = lanes;
  std::fill_n(s.entry_frame.dynamic, kWarpSize, 0);
  // A variable that a kernel uses before it has set it holds garbage; zeros would make it look right.
  EnsureRows(s.entry_frame, entry, entry.reads_unwritten || program.lanes_exchange,
             entry.reads_unwritten ? kUnwrittenRegister : 0);
  if (program.local_stride > 0) {
    const size_t bytes = size_t{kWarpSize} * program.local_stride;
    if (s.local_capacity < bytes) {
      s.local.reset(new uint8_t[bytes]);
      s.local_capacity = bytes;
    }
    ForgetLocal(s, program, lanes, 0, entry.local_bytes);
  }
  s.groups.clear();
  s.entries.clear();
  s.free_frames.clear();
  for (const auto& frame : s.frames) s.free_frames.push_back(frame.get());
  AddReady(s, lanes, entry.entry_pc, &s.entry_frame, -1);
  s.current = -1;
  s.executed = 0;
  s.waited = s.slept = s.waits_in = 0;
  s.wrote = false;  // clears what the previous block left; else the first wait would take one more turn
  s.async_copies.reset();
  s.undefined.reset();
  s.entry_frame.undefined.reset();
  s.cluster_arrived = 0;
  s.reason = StopReason::kNone;
  warp.alive = lanes;
  warp.stop = false;
  warp.base[1] = program.constants.get();
}

void DropCurrent(Warp& warp) {
  WarpState& s = *warp.state;
  s.groups[s.current] = s.groups.back();
  s.groups.pop_back();
  s.current = -1;
  s.reason = StopReason::kSwitched;
  warp.stop = true;
}

void BlockCurrent(Warp& warp, GroupStatus status) {
  WarpState& s = *warp.state;
  SaveGroup(warp);
  s.groups[s.current].status = status;
  s.groups[s.current].wait_pc = warp.pc - 1;
  s.reason = StopReason::kSwitched;
  warp.stop = true;
}

void SplitOff(Warp& warp, LaneMask mask) {
  const LaneMask rest = warp.active & ~mask;
  if (rest == 0) return;
  WarpState& s = *warp.state;
  const Group g = s.groups[s.current];
  AddReady(s, rest, warp.pc, g.frame, g.entry);
  warp.active = mask;
}

void Diverge(Warp& warp, LaneMask taken, uint32_t target, uint32_t reconvergence) {
  WarpState& s = *warp.state;
  const LaneMask rest = warp.active & ~taken;
  Frame* frame = s.groups[s.current].frame;
  int32_t entry = s.groups[s.current].entry;
  if (reconvergence != kNoPc) {
    if (entry < 0 || s.entries[entry].pc != reconvergence || s.entries[entry].frame != frame) {
      entry = NewEntry(s, reconvergence, frame, warp.active, entry);
      SetEntry(warp, entry);
    }
    // Lanes whose branch target is the convergence point have arrived.
    if (target == reconvergence) {
      s.entries[entry].arrived |= taken;
      warp.active = rest;
      return;
    }
    if (warp.pc == reconvergence) {
      s.entries[entry].arrived |= rest;
      warp.active = taken;
      warp.pc = target;
      return;
    }
  }
  AddReady(s, taken, target, frame, entry);
  warp.active = rest;
}

void Converge(Warp& warp, const Insn&, LaneMask) {
  WarpState& s = *warp.state;
  if (s.reconverge_pc != warp.pc - 1) return;
  const Group& g = s.groups[s.current];
  ConvergenceEntry& entry = s.entries[g.entry];
  if (entry.frame != g.frame) return;  // the same point, deeper in a recursion
  entry.arrived |= warp.active;
  if (entry.arrived != entry.expected) {
    DropCurrent(warp);
    return;
  }
  warp.active = entry.expected;
  ReportPassedSync(warp, entry);
  warp.pc -= 1;  // the parent may wait for the same point
  entry.pc = kNoPc;
  SetEntry(warp, entry.parent);
}

void ExitLanes(Warp& warp, LaneMask mask) {
  WarpState& s = *warp.state;
  warp.alive &= ~mask;
  warp.active &= ~mask;
  if (warp.active == 0) DropCurrent(warp);
  for (ConvergenceEntry& entry : s.entries) {
    if (entry.pc == kNoPc) continue;
    entry.expected &= ~mask;
    if (entry.expected != entry.arrived) continue;
    if (entry.expected != 0) {
      ReportPassedSync(warp, entry);
      AddReady(s, entry.expected, entry.pc, entry.frame, entry.parent);
    }
    entry.pc = kNoPc;
  }
}

bool ReleaseParked(WarpState& s) {
  bool any = false;
  NotePassedSyncs(s);
  for (ConvergenceEntry& entry : s.entries) {
    if (entry.pc == kNoPc || entry.arrived == 0) continue;
    AddReady(s, entry.arrived, entry.pc, entry.frame, entry.parent);
    entry.expected &= ~entry.arrived;
    entry.arrived = 0;
    any = true;
  }
  return any;
}

int NextReady(const WarpState& s) {
  const int n = static_cast<int>(s.groups.size());
  int at = std::max(s.current, -1);
  for (int k = 0; k < n; ++k) {
    if (++at >= n) at = 0;
    if (s.groups[at].status == GroupStatus::kReady && !s.groups[at].spun) return at;
  }
  return -1;
}

Frame* PushFrame(Warp& warp, const FunctionInfo& function, const CallSite& site) {
  WarpState& s = *warp.state;
  Frame* parent = s.groups[s.current].frame;
  const size_t bytes = function.frame_bytes + size_t{kWarpSize} * function.area_bytes;
  // Best fit: keeps a recursive function from reallocating frames.
  auto best = s.free_frames.end();
  for (auto it = s.free_frames.begin(); it != s.free_frames.end(); ++it) {
    if ((*it)->capacity >= bytes && (best == s.free_frames.end() || (*it)->capacity < (*best)->capacity)) best = it;
  }
  Frame* frame;
  if (best != s.free_frames.end()) {
    frame = *best;
    s.free_frames.erase(best);
  } else {
    s.frames.push_back(std::make_unique<Frame>());
    frame = s.frames.back().get();
  }
  frame->parent = parent;
  frame->function = &function;
  frame->site = &site;
  frame->return_pc = warp.pc;
  frame->local_base = parent->local_base + parent->function->local_bytes + parent->MostDynamic();
  std::fill_n(frame->dynamic, kWarpSize, 0);
  frame->depth = parent->depth + 1;
  frame->lanes = warp.active;
  frame->undefined.reset();
  ForgetLocal(s, warp.engine->program(), warp.active, frame->local_base, function.local_bytes);
  EnsureRows(*frame, function, true, function.reads_unwritten ? kUnwrittenRegister : 0);
  s.groups[s.current].frame = frame;
  warp.base[0] = frame->rows.get();
  warp.pc = function.entry_pc;
  return frame;
}

void PopFrame(Warp& warp) {
  WarpState& s = *warp.state;
  Frame* frame = s.groups[s.current].frame;
  warp.pc = frame->return_pc;
  s.groups[s.current].frame = frame->parent;
  warp.base[0] = frame->parent->rows.get();
  frame->lanes &= ~warp.active;
  if ((frame->lanes & warp.alive) == 0) s.free_frames.push_back(frame);
}

}  // namespace lockstep::vgpu
