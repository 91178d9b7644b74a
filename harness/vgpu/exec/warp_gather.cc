// .sync instructions: gathering the lanes that the member mask names.
//
// A lane that arrives early waits as part of a group of its own. When all named lanes that have not exited have
// arrived, the instruction's handler runs once for all of them; then each group continues by itself. Lanes may arrive
// at different instructions with the same operation and use their own registers as operands, as on the hardware
// (measured on an H200).
#include <bit>
#include <cstdio>
#include <cstring>

#include "vgpu/exec/engine.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::vgpu {
namespace {

// Lanes waiting at .sync instructions for the same gathering as `a`: same operation, same member mask.
bool WaitsWith(const Program& program, const Group& a, const Group& b) {
  return b.status == GroupStatus::kAtWarpSync && a.members == b.members &&
         program.synchronous[a.wait_pc].handler == program.synchronous[b.wait_pc].handler;
}

constexpr size_t kRows = std::size(Insn().row);
struct alignas(64) Rows {
  uint8_t row[kRows][kWarpSize * sizeof(uint64_t)];
};

// Copies lanes of a row; `bytes` per element, 0 for a predicate.
void CopyLanes(const uint8_t* from, uint8_t* to, LaneMask lanes, size_t bytes) {
  if (bytes == 0) {
    LaneMask source, target;
    std::memcpy(&source, from, sizeof source);
    std::memcpy(&target, to, sizeof target);
    target = (target & ~lanes) | (source & lanes);
    std::memcpy(to, &target, sizeof target);
    return;
  }
  for (const size_t lane : EachLane(lanes)) {
    std::memcpy(to + lane * bytes, from + lane * bytes, bytes);
  }
}

// Calls f(k, row, bytes) for each operand of an instruction, results last: a result may be a source's register.
template <typename F>
void ForOperands(const Insn& insn, const SynchronousInfo& info, F f) {
  for (size_t k = kRows; k-- > 0;) {
    if (insn.row[k] != kNoRow) f(k, insn.row[k], info.element_bytes[k]);
  }
}

// Copies a group's operands to the rows shared with the other groups.
void Collect(const Warp& warp, const Group& group, Rows& rows) {
  const Program& program = warp.engine->program();
  const Insn& insn = program.code[group.wait_pc];
  ForOperands(insn, program.synchronous[group.wait_pc], [&](size_t k, RowRef row, size_t bytes) {
    const bool constant = (row & kConstantPool) != 0;
    const uint8_t* from = (constant ? warp.base[1] : group.frame->rows.get()) + (row & ~kConstantPool);
    if (bytes == 0 && (insn.negated_predicates >> k & 1) != 0) {
      LaneMask predicate;
      std::memcpy(&predicate, from, sizeof predicate);
      predicate = ~predicate;
      CopyLanes(reinterpret_cast<const uint8_t*>(&predicate), rows.row[k], group.mask, bytes);
    } else {
      CopyLanes(from, rows.row[k], group.mask, bytes);
    }
  });
}

// Copies the results back to the rows that the group's instruction names.
void Distribute(const Warp& warp, const Group& group, const Rows& rows) {
  const Program& program = warp.engine->program();
  const Insn& insn = program.code[group.wait_pc];
  ForOperands(insn, program.synchronous[group.wait_pc], [&](size_t k, RowRef row, size_t bytes) {
    if ((row & kConstantPool) != 0 || (insn.negated_predicates >> k & 1) != 0) return;
    CopyLanes(rows.row[k], group.frame->rows.get() + row, group.mask, bytes);
  });
}

// Runs the operation at which groups[index] waits, if all required lanes have arrived.
void TryGather(Warp& warp, size_t index) {
  WarpState& s = *warp.state;
  const Program& program = warp.engine->program();
  const Group waiting = s.groups[index];
  LaneMask here = 0;
  bool one_place = true;
  const auto for_gathered = [&](const auto& f) {
    for (Group& g : s.groups) {
      if (WaitsWith(program, waiting, g)) f(g);
    }
  };
  for_gathered([&](const Group& g) {
    here |= g.mask;
    one_place &= g.wait_pc == waiting.wait_pc && g.frame == waiting.frame;
  });
  if ((waiting.members & warp.alive & ~here) != 0) return;

  if (!one_place && (program.code[waiting.wait_pc].flags & kRowsInTable) != 0) {
    warp.engine->Fault(
        warp, warp.engine->MakeFinding(warp, waiting.wait_pc, std::countr_zero(here), FindingKind::kWarpSyncMismatch,
                                       "lanes of a warp execute " + program.Text(waiting.wait_pc) +
                                           " at different places; all must execute it at one"));
    return;
  }

  uint8_t* const base = warp.base[0];
  const LaneMask active = warp.active;
  const uint32_t pc = warp.pc;
  warp.active = here;
  warp.pc = waiting.wait_pc + 1;
  Insn insn = program.code[waiting.wait_pc];
  const Handler handler = program.synchronous[waiting.wait_pc].handler;
  if (one_place) {
    warp.base[0] = waiting.frame->rows.get();
    handler(warp, insn, here);
  } else {
    Rows rows{};
    for_gathered([&](const Group& g) { Collect(warp, g, rows); });
    for (size_t k = 0; k < kRows; ++k) insn.row[k] = static_cast<RowRef>(sizeof rows.row[k] * k);
    insn.negated_predicates = 0;
    warp.base[0] = rows.row[0];
    handler(warp, insn, here);
    for_gathered([&](const Group& g) { Distribute(warp, g, rows); });
  }
  warp.base[0] = base;
  warp.active = active;
  warp.pc = pc;
  for (Group& g : s.groups) {
    if (WaitsWith(program, waiting, g)) g.status = GroupStatus::kReady;
  }
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

  // A lane outside its own mask is undefined behaviour; here it joins the lanes with the same mask.
  for (const int lane : EachLane(mask)) {
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
  // Exchanges of values run once for all complete masks; a barrier runs once for each mask.
  const auto run_complete = [&] {
    if (!info.is_barrier) complete_parts = {complete};
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
