// .sync instructions: gathering the lanes that the member mask names.
//
// A lane that comes early waits as part of a group of its own. When all named lanes that have not exited are there, the
// instruction's handler runs once for all of them, and each group goes on by itself.
#include <bit>
#include <cstdio>
#include <cstring>

#include "vgpu/exec/engine.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::vgpu {
namespace {

// Lanes that wait at .sync instructions together with those of `groups[index]`: at the same instruction, or at any
// bar.warp.sync when this one is; with the same member mask.
bool WaitsWith(const Program& program, const Group& a, const Group& b) {
  if (b.status != GroupStatus::kAtWarpSync || a.members != b.members) return false;
  if (a.wait_pc == b.wait_pc) return true;
  return program.synchronous[a.wait_pc].any_place && program.synchronous[b.wait_pc].any_place;
}

// Copies the columns of the lanes, in the rows that the instruction names, from one call frame to another.
void CopyColumns(const Insn& insn, const SynchronousInfo& info, LaneMask lanes, const uint8_t* from, uint8_t* to) {
  for (int k = 0; k < 8; ++k) {
    const RowRef row = insn.row[k];
    if (row == kNoRow || (row & kConstantPool) != 0) continue;
    const size_t bytes = info.element_bytes[k];
    if (bytes == 0) {
      LaneMask source, target;
      std::memcpy(&source, from + row, sizeof source);
      std::memcpy(&target, to + row, sizeof target);
      target = (target & ~lanes) | (source & lanes);
      std::memcpy(to + row, &target, sizeof target);
      continue;
    }
    for (LaneMask left = lanes; left != 0; left &= left - 1) {
      const size_t lane = static_cast<size_t>(std::countr_zero(left));
      std::memcpy(to + row + lane * bytes, from + row + lane * bytes, bytes);
    }
  }
}

// Runs the instruction at which groups[index] waits if all lanes that it needs have come.
bool TryGather(Warp& warp, size_t index) {
  WarpState& s = *warp.state;
  const Program& program = warp.engine->program();
  const Group waiting = s.groups[index];
  LaneMask here = 0;
  for (const Group& g : s.groups) here |= WaitsWith(program, waiting, g) ? g.mask : 0;
  if ((waiting.members & warp.alive & ~here) != 0) return false;

  uint8_t* const base = warp.base[0];
  const LaneMask active = warp.active;
  const uint32_t pc = warp.pc;
  warp.base[0] = waiting.frame->rows.get();
  warp.active = here;
  warp.pc = waiting.wait_pc + 1;
  // Lanes may have come through different calls of one function. A lane has one frame of it, so its columns in the
  // others' frames are free.
  const Insn& insn = program.code[waiting.wait_pc];
  const SynchronousInfo& info = program.synchronous[waiting.wait_pc];
  const auto for_other_frames = [&](const auto& f) {
    if (info.any_place) return;
    for (const Group& g : s.groups) {
      if (WaitsWith(program, waiting, g) && g.frame != waiting.frame) f(g);
    }
  };
  for_other_frames([&](const Group& g) { CopyColumns(insn, info, g.mask, g.frame->rows.get(), warp.base[0]); });
  info.handler(warp, insn, here);
  for_other_frames([&](const Group& g) { CopyColumns(insn, info, g.mask, warp.base[0], g.frame->rows.get()); });
  warp.base[0] = base;
  warp.active = active;
  warp.pc = pc;
  for (Group& g : s.groups) {
    if (WaitsWith(program, waiting, g)) g.status = GroupStatus::kReady;
  }
  return true;
}

}  // namespace

void CheckGathers(Warp& warp) {
  for (size_t k = 0; k < warp.state->groups.size(); ++k) {
    if (warp.state->groups[k].status == GroupStatus::kAtWarpSync) TryGather(warp, k);
  }
}

void GatherAndRun(Warp& warp, const Insn& insn, LaneMask mask) {
  const Program& program = warp.engine->program();
  const uint32_t pc = warp.pc - 1;
  const SynchronousInfo& info = program.synchronous[pc];
  LaneMask members[kWarpSize];
  std::memcpy(members, warp.base[info.members >> 31] + (info.members & ~kConstantPool), sizeof members);
  const LaneMask first = members[std::countr_zero(mask)];
  LaneMask different = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) different |= static_cast<LaneMask>(members[lane] != first) << lane;
  different &= mask;
  if (different == 0 && (first & warp.alive) == mask) {
    info.handler(warp, insn, mask);
    return;
  }

  // A lane outside its own mask is undefined behaviour; it takes part with the lanes that carry the same mask.
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    if ((members[lane] >> lane) & 1) continue;
    char mask_text[16];
    std::snprintf(mask_text, sizeof mask_text, "0x%08x", members[lane]);
    warp.engine->Report(warp, warp.engine->MakeFinding(warp, pc, lane, FindingKind::kWarpSyncMismatch,
                                                       "thread executes " + program.Text(pc) + " with mask " +
                                                           mask_text + ", which does not name it"));
    break;
  }
  LaneMask complete = 0;
  std::vector<LaneMask> complete_parts;
  struct Part {
    LaneMask members, lanes;
  };
  std::vector<Part> incomplete;
  for (LaneMask left = mask; left != 0;) {
    const LaneMask wanted = members[std::countr_zero(left)];
    LaneMask lanes = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) lanes |= static_cast<LaneMask>(members[lane] == wanted) << lane;
    lanes &= left;
    left &= ~lanes;
    if ((wanted & warp.alive & ~lanes) == 0) {
      complete |= lanes;
      complete_parts.push_back(lanes);
    } else {
      incomplete.push_back({wanted, lanes});
    }
  }
  // Values are exchanged lane by lane, at once; but a barrier is one for each mask.
  const auto run_complete = [&] {
    if (!info.any_place) complete_parts = {complete};
    for (const LaneMask lanes : complete_parts) info.handler(warp, insn, lanes);
  };
  if (incomplete.empty()) {
    run_complete();
    return;
  }
  WarpState& s = *warp.state;
  SplitOff(warp, mask);
  const LaneMask together = complete != 0 ? complete : incomplete.front().lanes;
  Frame* const frame = s.groups[s.current].frame;
  const int32_t entry = s.groups[s.current].entry;
  size_t first_waiting = s.groups.size();
  for (const Part& part : incomplete) {
    if (part.lanes == together) continue;
    AddReady(s, part.lanes, warp.pc, frame, entry);
    s.groups.back().status = GroupStatus::kAtWarpSync;
    s.groups.back().wait_pc = pc;
    s.groups.back().members = part.members;
  }
  warp.active = together;
  if (complete != 0) {
    run_complete();
  } else {
    BlockCurrent(warp, GroupStatus::kAtWarpSync);
    s.groups[s.current].members = incomplete.front().members;
    TryGather(warp, s.current);
  }
  for (; first_waiting < s.groups.size(); ++first_waiting) {
    if (s.groups[first_waiting].status == GroupStatus::kAtWarpSync) TryGather(warp, first_waiting);
  }
}

}  // namespace lockstep::vgpu
