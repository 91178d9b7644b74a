// Clusters: barrier.cluster, mapa, getctarank. Source: PTX ISA 9.0, 9.7.13.4 and 9.7.9.23.
#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/isa/arithmetic.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

void ArriveHandler(Warp& warp, const Insn&, LaneMask mask) { ArriveAtCluster(warp, mask); }

// Lanes whose phase has not ended re-execute this instruction.
void WaitHandler(Warp& warp, const Insn&, LaneMask mask) {
  const LaneMask waiting = StillWaiting(warp, mask);
  warp.state->cluster_arrived &= ~(mask & ~waiting);
  if (waiting == 0) return;
  warp.engine->Uncount(warp, waiting);
  const LaneMask done = mask & ~waiting;
  SplitOff(warp, mask);
  if (done != 0) {
    WarpState& s = *warp.state;
    const Group group = s.groups[s.current];
    AddReady(s, done, warp.pc, group.frame, group.entry);
    warp.active = waiting;
  }
  warp.pc -= 1;
  warp.state->reason = StopReason::kSpun;
  warp.stop = true;
}

Selection SelectArrive(Modifiers& m) {
  m.TakeAny({"release", "relaxed"});
  m.Take("aligned");
  return {ArriveHandler};
}

Selection SelectWait(Modifiers& m) {
  m.Take("acquire");
  m.Take("aligned");
  return {WaitHandler};
}

// Maps the lane's own address to the shared memory of the block with that rank; extra: the window base for generic
// addresses.
template <typename T>
void MapAddress(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  const uint32_t* rank = Source<uint32_t>(warp, insn.row[2]);
  const uint64_t base = insn.extra;
  ForLanes<T>(warp, insn.row[0], mask, [=](int lane) {
    const uint64_t offset = (a[lane] - base) & kOffsetMask;
    return static_cast<T>(base + (offset | (uint64_t{rank[lane] & 0xff} + 1) << kRankShift));
  });
}

template <typename T>
void RankOfAddress(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  const uint32_t own = RankOf(*warp.block);
  const uint64_t base = insn.extra;
  ForLanes<uint32_t>(warp, insn.row[0], mask, [=](int lane) {
    const uint64_t address = a[lane] - base;
    return IsOfOtherBlock(address) ? static_cast<uint32_t>(address >> kRankShift) - 1 : own;
  });
}

// Generic addresses have 64 bits.
template <Handler kNarrow, Handler kWide>
Selection SelectByWidth(Modifiers& m) {
  const bool shared = m.Take("shared::cluster");
  const Type type = m.type(0);
  if (m.type_count() != 1 || !(type == Type::kU64 || (type == Type::kU32 && shared))) return {};
  return {type == Type::kU32 ? kNarrow : kWide, InsnClass::kOther, 0, shared ? 0 : kSharedWindow};
}

LOCKSTEP_OPCODES(cluster, {
                              {"barrier.cluster.arrive", "", SelectArrive, InsnClass::kBarrier, kAnyOrder | kBarrier},
                              {"barrier.cluster.wait", "", SelectWait, InsnClass::kBarrier, kAnyOrder | kBarrier},
                              {"mapa", "d0 s0 su32", SelectByWidth<MapAddress<uint32_t>, MapAddress<uint64_t>>,
                               InsnClass::kMove},
                              {"getctarank", "du32 s0", SelectByWidth<RankOfAddress<uint32_t>, RankOfAddress<uint64_t>>,
                               InsnClass::kMove},
                          });

}  // namespace
}  // namespace lockstep::vgpu
