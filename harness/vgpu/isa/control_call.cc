// Calls and returns. Arguments and results lie in lanes' parameter areas; a call copies them from the caller's to the
// callee's, the return the other way round.
#include <algorithm>
#include <bit>
#include <cstring>

#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/isa/control.h"
#include "vgpu/isa/frame_values.h"
#include "vgpu/isa/row.h"

namespace lockstep::vgpu {
namespace {

// Calls within calls; each takes a frame of the host's memory.
constexpr uint32_t kMaxDepth = 1024;

void Copy(const FrameValues& from, const std::vector<ValuePlace>& sources, const FrameValues& to,
          const std::vector<ValuePlace>& targets, LaneMask mask) {
  const size_t n = std::min(sources.size(), targets.size());
  for (size_t k = 0; k < n; ++k) {
    const uint32_t bytes = std::min(sources[k].bytes, targets[k].bytes);
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      std::memcpy(to.At(targets[k], lane), from.At(sources[k], lane), bytes);
    }
  }
}

// Lanes that the guard kept out of the call wait for the others behind it.
bool Enter(Warp& warp, const Insn& insn, LaneMask mask) {
  if (mask != warp.active) {
    Diverge(warp, warp.active & ~mask, static_cast<uint32_t>(insn.extra), static_cast<uint32_t>(insn.extra));
  }
  return !warp.stop;
}

}  // namespace

void Call(Warp& warp, const Insn& insn, LaneMask mask) {
  Engine& engine = *warp.engine;
  const Program& program = engine.program();
  const CallSite& site = program.calls[insn.immediate];
  const uint32_t pc = warp.pc - 1;
  uint32_t callee = site.callee;
  if (site.target != kNoRow) {
    const uint64_t* target = Source<uint64_t>(warp, site.target);
    const int first = std::countr_zero(mask);
    const auto found = program.function_of_address.find(target[first]);
    if (found == program.function_of_address.end() ||
        program.functions[found->second].parameters.size() != site.arguments.size() || found->second == 0) {
      engine.Fault(warp, engine.MakeFinding(warp, pc, first, FindingKind::kInvalidAddress,
                                            "a call goes to an address where there is no such function"));
      return;
    }
    callee = found->second;
    LaneMask same = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) same |= static_cast<LaneMask>(target[lane] == target[first]) << lane;
    same &= mask;
    if (!Enter(warp, insn, mask)) return;
    // Lanes of other targets come back to this instruction and meet these behind it.
    if (same != mask) {
      warp.pc = pc;  // these have not arrived behind the call, although that is where they return to
      Diverge(warp, mask & ~same, pc, static_cast<uint32_t>(insn.extra));
      warp.pc = pc + 1;
    }
  } else if (!Enter(warp, insn, mask)) {
    return;
  }

  const FunctionInfo& function = program.functions[callee];
  const Frame& caller = *warp.state->groups[warp.state->current].frame;
  const uint64_t local = uint64_t{caller.local_base} + caller.function->local_bytes + function.local_bytes;
  if (caller.depth >= kMaxDepth || local > program.local_stride) {
    engine.Fault(warp, engine.MakeFinding(warp, pc, std::countr_zero(warp.active), FindingKind::kStackOverflow,
                                          "too many calls within calls"));
    return;
  }
  const FrameValues from{warp.base[0], warp.base[1], caller.function};
  PushFrame(warp, function, site);
  Copy(from, site.arguments, {warp.base[0], warp.base[1], &function}, function.parameters, warp.active);
}

void Return(Warp& warp, const Insn&, LaneMask mask) {
  const Frame& frame = *warp.state->groups[warp.state->current].frame;
  const FrameValues from{warp.base[0], warp.base[1], frame.function};
  const FrameValues to{frame.parent->rows.get(), warp.base[1], frame.parent->function};
  Copy(from, frame.function->returns, to, frame.site->returns, mask);
  PopFrame(warp);
}

void LocalAddress(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t address = warp.state->groups[warp.state->current].frame->local_base + insn.immediate;
  if (insn.count == 4) {
    ForLanes<uint32_t>(warp, insn.row[0], mask, [=](int) { return static_cast<uint32_t>(address); });
  } else {
    ForLanes<uint64_t>(warp, insn.row[0], mask, [=](int) { return address; });
  }
}

}  // namespace lockstep::vgpu
