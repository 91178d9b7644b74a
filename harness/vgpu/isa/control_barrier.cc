// bar, barrier and bar.warp.sync. Rows: bar.sync, bar.arrive: barrier, number of threads; bar.red: destination,
// barrier, number of threads (if given), predicate; bar.warp.sync: member mask. Source: PTX ISA 9.0, 9.7.13.
#include <bit>

#include "vgpu/core/opcode_table.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/control.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

// Reads barrier and number of threads, which must be the same in all lanes. False: they are invalid, and the warp has
// faulted.
bool ReadBarrier(Warp& warp, RowRef barrier_row, RowRef threads_row, LaneMask mask, BarrierArrival& arrival) {
  const int low = std::countr_zero(mask);
  const uint32_t* barrier = Source<uint32_t>(warp, barrier_row);
  const uint32_t* threads = threads_row == kNoRow ? nullptr : Source<uint32_t>(warp, threads_row);
  const char* wrong = nullptr;
  if ((barrier_row & kConstantPool) == 0 || threads != nullptr) {
    for (const int lane : EachLane(mask)) {
      if (barrier[lane] != barrier[low] || (threads != nullptr && threads[lane] != threads[low])) {
        wrong = "lanes of a warp name different barriers or thread counts in one instruction";
      }
    }
  }
  arrival.barrier = barrier[low];
  if (arrival.barrier >= kBarriers) wrong = "barriers are numbered 0 to 15";
  if (threads != nullptr) {
    const uint32_t n = threads[low];
    if (n == 0 || n % kWarpSize != 0) wrong = "a barrier's number of threads must be a multiple of 32";
    arrival.expected_warps = n / kWarpSize;
    if (arrival.expected_warps > warp.block->warps.size())
      wrong = "a barrier waits for more threads than the block has";
  }
  if (wrong == nullptr) return true;
  warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, low, FindingKind::kBarrierDivergence, wrong));
  return false;
}

template <bool kWaits>
void MeetAtBarrier(Warp& warp, const Insn& insn, LaneMask mask) {
  BarrierArrival arrival;
  arrival.waits = kWaits;
  if (ReadBarrier(warp, insn.row[0], insn.row[1], mask, arrival)) ArriveAtBarrier(warp, mask, arrival);
}

// bar.sync 0, the barrier of most programs.
void MeetAtBarrier0(Warp& warp, const Insn& insn, LaneMask mask) {
  const bool is_0 = (insn.row[0] & kConstantPool) != 0 && *Source<uint32_t>(warp, insn.row[0]) == 0;
  if (is_0 && insn.row[1] == kNoRow && mask == warp.alive) return ArriveWhole(warp);
  MeetAtBarrier<true>(warp, insn, mask);
}

template <bool kCounted>
void BarrierReduce(Warp& warp, const Insn& insn, LaneMask mask) {
  BarrierArrival arrival;
  arrival.reduction = static_cast<BarrierReduction>(insn.extra);
  arrival.predicate = PredicateSource(warp, insn, kCounted ? 3 : 2);
  if (ReadBarrier(warp, insn.row[1], kCounted ? insn.row[2] : kNoRow, mask, arrival)) {
    ArriveAtBarrier(warp, mask, arrival);
  }
}

template <bool kWaits>
Selection SelectBarrier(Modifiers& m) {
  m.Take("aligned");
  return m.type_count() == 0 ? Selection{kWaits ? MeetAtBarrier0 : MeetAtBarrier<false>} : Selection{};
}

Selection SelectBarrierReduce(Modifiers& m) {
  m.Take("aligned");
  const std::string word = m.TakeAny({"popc", "and", "or"});
  const BarrierReduction kind = word == "popc"  ? BarrierReduction::kPopc
                                : word == "and" ? BarrierReduction::kAnd
                                                : BarrierReduction::kOr;
  if (word.empty() || m.type_count() != 1 ||
      m.type(0) != (kind == BarrierReduction::kPopc ? ptx::Type::kU32 : ptx::Type::kPred)) {
    return {};
  }
  const bool counted = m.operand_count() == 4;
  Selection selection;
  selection.handler = counted ? BarrierReduce<true> : BarrierReduce<false>;
  selection.extra = static_cast<uint64_t>(kind);
  selection.form = counted ? "d0 su32 su32 spred" : "d0 su32 spred";
  return selection;
}

Selection SelectWarpBarrier(Modifiers& m) {
  Selection selection;
  if (m.type_count() == 0) selection.handler = WarpBarrier;
  selection.flags = kWarpSynchronous;
  return selection;
}

constexpr std::string_view kReduceForm = "d0 su32 su32? spred?";

LOCKSTEP_OPCODES(barrier,
                 {
                     {"bar.warp.sync", "su32", SelectWarpBarrier, InsnClass::kWarpSync, kAnyOrder},
                     {"bar.sync", "su32 su32?", SelectBarrier<true>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"bar.arrive", "su32 su32", SelectBarrier<false>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"bar.red", kReduceForm, SelectBarrierReduce, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"bar.cta.sync", "su32 su32?", SelectBarrier<true>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"bar.cta.arrive", "su32 su32", SelectBarrier<false>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"bar.cta.red", kReduceForm, SelectBarrierReduce, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"barrier.sync", "su32 su32?", SelectBarrier<true>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"barrier.arrive", "su32 su32", SelectBarrier<false>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"barrier.red", kReduceForm, SelectBarrierReduce, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"barrier.cta.sync", "su32 su32?", SelectBarrier<true>, InsnClass::kBarrier, kAnyOrder | kBarrier},
                     {"barrier.cta.arrive", "su32 su32", SelectBarrier<false>, InsnClass::kBarrier,
                      kAnyOrder | kBarrier},
                     {"barrier.cta.red", kReduceForm, SelectBarrierReduce, InsnClass::kBarrier, kAnyOrder | kBarrier},
                 });

}  // namespace

void WarpBarrier(Warp& warp, const Insn&, LaneMask mask) {
  warp.engine->FlushSharedNotes();
  for (Observer* observer : warp.engine->observers()) {
    observer->OnWarpSync({mask, warp.pc - 1, warp.block->index, warp.index});
  }
}

}  // namespace lockstep::vgpu
