// bar, barrier and bar.warp.sync. Rows: bar.sync, bar.arrive: barrier, number of threads; bar.red: destination,
// barrier, number of threads, predicate; bar.warp.sync: member mask.
#include <bit>

#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/isa/control.h"
#include "vgpu/isa/row.h"

namespace lockstep::vgpu {
namespace {

// Reads barrier and number of threads, which must be the same for all lanes. False: they are not valid; the warp
// faulted.
bool ReadBarrier(Warp& warp, const Insn& insn, LaneMask mask, int first_row, BarrierArrival& arrival) {
  const int low = std::countr_zero(mask);
  const uint32_t* barrier = Source<uint32_t>(warp, insn.row[first_row]);
  const uint32_t* threads =
      insn.row[first_row + 1] == kNoRow ? nullptr : Source<uint32_t>(warp, insn.row[first_row + 1]);
  const char* wrong = nullptr;
  if ((insn.row[first_row] & kConstantPool) == 0 || threads != nullptr) {
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const int lane = std::countr_zero(left);
      if (barrier[lane] != barrier[low] || (threads != nullptr && threads[lane] != threads[low])) {
        wrong = "lanes of a warp name different barriers in one instruction";
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

}  // namespace

void BarrierSync(Warp& warp, const Insn& insn, LaneMask mask) {
  BarrierArrival arrival;
  if (ReadBarrier(warp, insn, mask, 0, arrival)) ArriveAtBarrier(warp, mask, arrival);
}

void BarrierArrive(Warp& warp, const Insn& insn, LaneMask mask) {
  BarrierArrival arrival;
  arrival.waits = false;
  if (ReadBarrier(warp, insn, mask, 0, arrival)) ArriveAtBarrier(warp, mask, arrival);
}

void BarrierReduce(Warp& warp, const Insn& insn, LaneMask mask) {
  BarrierArrival arrival;
  arrival.reduction = static_cast<BarrierReduction>(insn.extra);
  arrival.predicate = PredicateSource(warp, insn, 3);
  if (ReadBarrier(warp, insn, mask, 1, arrival)) ArriveAtBarrier(warp, mask, arrival);
}

void WarpBarrier(Warp& warp, const Insn&, LaneMask mask) {
  for (Observer* observer : warp.engine->observers()) {
    observer->OnWarpSync({mask, warp.pc - 1, warp.block->index, warp.index});
  }
}

}  // namespace lockstep::vgpu
