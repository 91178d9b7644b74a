// Calls and returns. A call copies arguments from the caller's parameter area or registers to the callee's (or to its
// local memory); a return copies results back.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/core/opcode_table.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/engine.h"
#include "vgpu/exec/frame_values.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {
namespace {

// Call depth; each call takes a frame in host memory.
constexpr uint32_t kMaxDepth = 1024;
// Limit on a warp's call frames, in host memory, assuming that all are as large as the newest.
constexpr uint64_t kMaxFrameBytes = uint64_t{8} << 20;

void Copy(const FrameValues& from, const std::vector<ValuePlace>& sources, const FrameValues& to,
          const std::vector<ValuePlace>& targets, LaneMask mask) {
  const size_t n = std::min(sources.size(), targets.size());
  for (size_t k = 0; k < n; ++k) {
    const uint32_t bytes = std::min(sources[k].bytes, targets[k].bytes);
    if (sources[k].bytes == kPredicateBytes && targets[k].bytes == kPredicateBytes) {
      LaneMask before = 0, after = 0;
      std::memcpy(&before, to.At(targets[k], 0), sizeof before);
      std::memcpy(&after, from.At(sources[k], 0), sizeof after);
      after = (before & ~mask) | (after & mask);
      std::memcpy(to.At(targets[k], 0), &after, sizeof after);
      continue;
    }
    for (const int lane : EachLane(mask)) {
      std::memcpy(to.At(targets[k], lane), from.At(sources[k], lane), bytes);
    }
  }
}

// Notifies observers that a parameter in local memory has been written.
void TellOfParameters(Warp& warp, const Frame& frame, uint32_t call_pc) {
  const uint32_t next = std::exchange(warp.pc, call_pc + 1);
  for (const ValuePlace& place : frame.function->parameters) {
    if (!place.local) continue;
    for (uint32_t at = 0; at < place.bytes; ++at) {
      uint64_t address[kWarpSize];
      std::fill_n(address, kWarpSize, uint64_t{frame.local_base} + place.offset + at);
      ObserveLanes(warp, Insn(), Region::kLocal, AccessKind::kStore, address, warp.active, 1, true);
    }
  }
  warp.pc = next;
}

// Lanes that fail the guard wait for the others after the call.
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
                                            "a call to an address that no function with such parameters has"));
      return;
    }
    callee = found->second;
    LaneMask same = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) same |= static_cast<LaneMask>(target[lane] == target[first]) << lane;
    same &= mask;
    if (!Enter(warp, insn, mask)) return;
    // Lanes with other targets re-execute this instruction and meet these after the call.
    if (same != mask) {
      warp.pc = pc;  // these have not arrived after the call, although that is their return address
      Diverge(warp, mask & ~same, pc, static_cast<uint32_t>(insn.extra));
      warp.pc = pc + 1;
    }
  } else if (!Enter(warp, insn, mask)) {
    return;
  }

  const FunctionInfo& function = program.functions[callee];
  const Frame& caller = *warp.state->groups[warp.state->current].frame;
  const uint64_t local =
      uint64_t{caller.local_base} + caller.function->local_bytes + caller.MostDynamic() + function.local_bytes;
  const uint64_t frames =
      (caller.depth + uint64_t{1}) * (function.frame_bytes + kWarpSize * uint64_t{function.area_bytes});
  if (caller.depth >= kMaxDepth || frames > kMaxFrameBytes || local > program.local_stride) {
    engine.Fault(warp, engine.MakeFinding(warp, pc, std::countr_zero(warp.active), FindingKind::kStackOverflow,
                                          "too many nested calls"));
    return;
  }
  const FrameValues from{warp.base[0], warp.base[1], caller.function};
  const Frame& frame = *PushFrame(warp, function, site);
  uint8_t* const locals = warp.state->local == nullptr ? nullptr : warp.state->local.get() + frame.local_base;
  Copy(from, site.arguments, {warp.base[0], warp.base[1], &function, locals, program.local_stride}, function.parameters,
       warp.active);
  if (engine.observed()) TellOfParameters(warp, frame, pc);
}

void Return(Warp& warp, const Insn&, LaneMask mask) {
  const Frame& frame = *warp.state->groups[warp.state->current].frame;
  const FrameValues from{warp.base[0], warp.base[1], frame.function};
  const FrameValues to{frame.parent->rows.get(), warp.base[1], frame.parent->function};
  Copy(from, frame.function->returns, to, frame.site->returns, mask);
  PopFrame(warp);
}

namespace {

// Rows: address, bytes, alignment.
template <typename T>
void Alloca(Warp& warp, const Insn& insn, LaneMask mask) {
  Frame& frame = *warp.state->groups[warp.state->current].frame;
  const T* bytes = Source<T>(warp, insn.row[1]);
  const uint32_t* wanted = insn.row[2] == kNoRow ? nullptr : Source<uint32_t>(warp, insn.row[2]);
  const uint64_t start = uint64_t{frame.local_base} + frame.function->local_bytes;
  T* address = Destination<T>(warp, insn.row[0]);
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t alignment = wanted == nullptr ? 8 : wanted[lane];
    const uint64_t limit = warp.engine->program().local_stride;
    const bool valid = std::has_single_bit(alignment) && alignment <= limit && bytes[lane] <= limit;
    const uint64_t at = valid ? (start + frame.dynamic[lane] + alignment - 1) & ~(alignment - 1) : limit;
    if (!valid || at + bytes[lane] > limit) {
      warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, lane, FindingKind::kStackOverflow,
                                                        "alloca asks for more than is left of the stack"));
      return;
    }
    frame.dynamic[lane] = static_cast<uint32_t>((at + bytes[lane] + 15) / 16 * 16 - start);
    address[lane] = static_cast<T>(at);
  }
}

template <typename T>
void StackSave(Warp& warp, const Insn& insn, LaneMask mask) {
  const Frame& frame = *warp.state->groups[warp.state->current].frame;
  ForLanes<T>(warp, insn.row[0], mask, [&](int lane) { return static_cast<T>(frame.dynamic[lane]); });
}

template <typename T>
void StackRestore(Warp& warp, const Insn& insn, LaneMask mask) {
  Frame& frame = *warp.state->groups[warp.state->current].frame;
  const T* saved = Source<T>(warp, insn.row[0]);
  for (const int lane : EachLane(mask)) {
    if (saved[lane] < frame.dynamic[lane]) frame.dynamic[lane] = static_cast<uint32_t>(saved[lane]);
  }
}

template <Handler k32, Handler k64>
Selection SelectStack(Modifiers& m) {
  if (m.type_count() != 1) return {};
  return {m.type(0) == ptx::Type::kU32 ? k32 : m.type(0) == ptx::Type::kU64 ? k64 : nullptr};
}

LOCKSTEP_OPCODES(stack, {
                            {"alloca", "d0 s0 su32?", SelectStack<Alloca<uint32_t>, Alloca<uint64_t>>,
                             InsnClass::kOther, kAnyOrder | kGrowsStack},
                            {"stacksave", "d0", SelectStack<StackSave<uint32_t>, StackSave<uint64_t>>,
                             InsnClass::kOther, kAnyOrder},
                            {"stackrestore", "s0", SelectStack<StackRestore<uint32_t>, StackRestore<uint64_t>>,
                             InsnClass::kOther, kAnyOrder},
                        });

}  // namespace

void LocalAddress(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t address = warp.state->groups[warp.state->current].frame->local_base + insn.immediate;
  if (insn.count == 4) {
    ForLanes<uint32_t>(warp, insn.row[0], mask, [=](int) { return static_cast<uint32_t>(address); });
  } else {
    ForLanes<uint64_t>(warp, insn.row[0], mask, [=](int) { return address; });
  }
}

}  // namespace lockstep::vgpu
