#include "vgpu/exec/block.h"

#include <bit>

#include "vgpu/core/hint.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/engine.h"

namespace lockstep::vgpu {
namespace {

uint64_t BitOf(const Warp& warp) { return uint64_t{1} << warp.index; }

bool IsComplete(const Block& block, const Barrier& barrier) {
  if (barrier.expected_warps != 0) {
    return static_cast<uint32_t>(std::popcount(barrier.arrived_warps)) >= barrier.expected_warps;
  }
  return (block.live_warps & ~barrier.arrived_warps) == 0;
}

uint32_t ReductionValue(const Barrier& barrier, BarrierReduction reduction) {
  switch (reduction) {
    case BarrierReduction::kPopc:
      return barrier.popc;
    case BarrierReduction::kAnd:
      return barrier.all ? 1 : 0;
    case BarrierReduction::kOr:
      return barrier.any ? 1 : 0;
    case BarrierReduction::kNone:
      break;
  }
  return 0;
}

// The compiler may split one barrier of the source into two.
bool IsOneBarrier(const Program& program, uint32_t a, uint32_t b) {
  const ptx::SourceLocation &x = program.info[a].location, &y = program.info[b].location;
  return a == b || (x.line != 0 && x.line == y.line && x.file == y.file);
}

// Writes the result of bar.red to the rows of the lanes that waited.
void WriteReduction(Warp& warp, const Group& group, const Barrier& barrier) {
  const Insn& insn = warp.engine->program().code[group.wait_pc];
  const uint32_t value = ReductionValue(barrier, group.reduction);
  uint8_t* row = group.frame->rows.get() + insn.row[0];
  if (group.reduction == BarrierReduction::kPopc) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((group.mask >> lane) & 1) reinterpret_cast<uint32_t*>(row)[lane] = value;
    }
  } else if (insn.row[0] != kNoRow) {
    LaneMask& predicate = *reinterpret_cast<LaneMask*>(row);
    predicate = (predicate & ~group.mask) | (value != 0 ? group.mask : 0);
  }
}

void Complete(Block& block, uint32_t index) {
  const Barrier& barrier = block.barriers[index];
  for (Warp& warp : block.warps) {
    for (Group& group : warp.state->groups) {
      if (group.status != GroupStatus::kAtBarrier || group.barrier != index) continue;
      if (group.reduction != BarrierReduction::kNone) WriteReduction(warp, group, barrier);
      group.status = GroupStatus::kReady;
    }
  }
  Engine& engine = *block.warps[0].engine;
  engine.FlushSharedNotes(block, barrier.all_wait && (block.live_warps & ~barrier.arrived_warps) == 0);
  for (Observer* observer : engine.observers()) {
    observer->OnBarrierComplete(block.index, index, barrier.arrived_warps);
  }
  ResetBarrier(block, index);
  block.last_event = block.instructions;
}

}  // namespace

void ResetBarrier(Block& block, uint32_t index) {
  Barrier& barrier = block.barriers[index];
  for (LaneMask& arrived : barrier.arrived) arrived = 0;
  barrier.arrived_warps = barrier.touched_warps = 0;
  barrier.expected_warps = 0;
  barrier.popc = 0;
  barrier.all = barrier.all_wait = true;
  barrier.any = false;
  block.barriers_in_use &= ~(1u << index);
}

void CheckBarriers(Warp& warp) {
  Block& block = *warp.block;
  for (uint32_t left = block.barriers_in_use; left != 0; left &= left - 1) {
    const uint32_t index = static_cast<uint32_t>(std::countr_zero(left));
    Barrier& barrier = block.barriers[index];
    if ((barrier.touched_warps & BitOf(warp)) != 0 && (warp.alive & ~barrier.arrived[warp.index]) == 0) {
      barrier.arrived_warps |= BitOf(warp);
    }
    if (IsComplete(block, barrier)) Complete(block, index);
  }
}

void ArriveWhole(Warp& warp) {
  Block& block = *warp.block;
  Barrier& barrier = block.barriers[0];
  const uint32_t pc = warp.pc - 1;
  const uint64_t bit = BitOf(warp);
  if ((barrier.touched_warps & bit) != 0 || barrier.expected_warps != 0) {
    return ArriveAtBarrier(warp, warp.active, BarrierArrival());
  }
  for (Observer* observer : warp.engine->observers()) {
    observer->OnBarrierArrive({warp.active, pc, block.index, warp.index, true, true}, 0);
  }
  if (barrier.touched_warps == 0) barrier.expected_pc = pc;
  barrier.touched_warps |= bit;
  barrier.arrived_warps |= bit;
  barrier.pc[warp.index] = pc;
  barrier.arrived[warp.index] = warp.active;
  barrier.all = false;
  block.barriers_in_use |= 1;
  BlockCurrent(warp, GroupStatus::kAtBarrier);
  Group& group = warp.state->groups[warp.state->current];
  group.barrier = 0;
  group.reduction = BarrierReduction::kNone;
  if ((block.live_warps & ~barrier.arrived_warps) == 0) Complete(block, 0);
}

void ArriveAtBarrier(Warp& warp, LaneMask mask, const BarrierArrival& arrival) {
  Block& block = *warp.block;
  Engine& engine = *warp.engine;
  Barrier& barrier = block.barriers[arrival.barrier];
  const uint32_t pc = warp.pc - 1;
  const int lane = std::countr_zero(mask);
  if (!arrival.waits) {
    engine.FlushSharedNotes();
    barrier.all_wait = false;
  }
  for (Observer* observer : engine.observers()) {
    observer->OnBarrierArrive({mask, pc, block.index, warp.index, arrival.waits, arrival.waits}, arrival.barrier);
  }
  if (barrier.touched_warps == 0) {
    barrier.expected_warps = arrival.expected_warps;
    barrier.expected_pc = pc;
  } else if (barrier.expected_warps != arrival.expected_warps) {
    Finding finding = engine.MakeFinding(
        warp, pc, lane, FindingKind::kBarrierDivergence,
        "barrier " + std::to_string(arrival.barrier) + " is used with different numbers of threads at the same time");
    finding.second = engine.Place(warp, barrier.expected_pc, lane);
    finding.hint = Hint::kNamedBarrierCount;
    engine.Report(warp, std::move(finding));
  }
  if ((barrier.touched_warps & BitOf(warp)) == 0) {
    barrier.touched_warps |= BitOf(warp);
    barrier.pc[warp.index] = pc;
  } else if (!IsOneBarrier(engine.program(), barrier.pc[warp.index], pc)) {
    Finding finding = engine.MakeFinding(warp, pc, lane, FindingKind::kBarrierDivergence,
                                         "threads of one warp wait at different barriers");
    finding.second = engine.Place(warp, barrier.pc[warp.index], std::countr_zero(barrier.arrived[warp.index]));
    finding.hint = Hint::kOneBarrierForAll;
    engine.Report(warp, std::move(finding));
  }
  barrier.arrived[warp.index] |= mask;
  barrier.popc += static_cast<uint32_t>(std::popcount(arrival.predicate & mask));
  barrier.all &= (mask & ~arrival.predicate) == 0;
  barrier.any |= (mask & arrival.predicate) != 0;
  block.barriers_in_use |= 1u << arrival.barrier;
  if (arrival.waits) {
    SplitOff(warp, mask);
    BlockCurrent(warp, GroupStatus::kAtBarrier);
    Group& group = warp.state->groups[warp.state->current];
    group.barrier = static_cast<uint8_t>(arrival.barrier);
    group.reduction = arrival.reduction;
  }
  CheckBarriers(warp);
}

}  // namespace lockstep::vgpu
