// cp.async and its groups. Source: PTX ISA 9.0, 9.7.9.25.
#include <cstring>

#include "vgpu/isa/memory/async_copy.h"
#include "vgpu/isa/memory/mbarrier.h"
#include "vgpu/isa/memory/memory_access.h"
#include "vgpu/isa/memory/memory_modifiers.h"

namespace lockstep::vgpu {
namespace {

// Outstanding copies per warp; a loop that never waits must not exhaust the host's memory.
constexpr size_t kMostPending = 128;

// Reports the reads of lanes that read fewer bytes than the copy's size: in pieces, the largest first.
void ObserveParts(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t* address, const uint32_t* wanted,
                  uint32_t bytes) {
  for (uint32_t piece = bytes / 2; piece != 0; piece /= 2) {
    uint64_t at[kWarpSize] = {};
    LaneMask lanes = 0;
    for (const int lane : EachLane(mask)) {
      if ((wanted[lane] & piece) == 0) continue;
      lanes |= LaneMask{1} << lane;
      at[lane] = address[lane] + (wanted[lane] & ~(2 * piece - 1));
    }
    if (lanes != 0) ObserveLanes(warp, insn, Region::kGlobal, AccessKind::kLoad, at, lanes, piece, false);
  }
}

// Reads `wanted` bytes for each lane; the rest of its piece stays zero. False: the warp has faulted.
bool ReadGlobal(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t* address, const uint32_t* wanted,
                AsyncCopy& copy) {
  LaneMask whole = 0, some = 0;
  for (const int lane : EachLane(mask)) {
    if (wanted[lane] != 0) some |= LaneMask{1} << lane;
    if (wanted[lane] >= copy.bytes) whole |= LaneMask{1} << lane;
  }
  if (whole != 0 && !CheckLanes(warp, Region::kGlobal, AccessKind::kLoad, address, whole, copy.bytes)) return false;
  for (const int lane : EachLane(some & ~whole)) {
    const bool aligned = address[lane] % copy.bytes == 0;
    if (aligned && GlobalRangeOk(warp, AccessKind::kLoad, address[lane], address[lane] + wanted[lane])) continue;
    warp.engine->MemoryFault(warp, lane, aligned ? FindingKind::kOutOfBounds : FindingKind::kMisaligned,
                             AccessKind::kLoad, MemorySpace::kGlobal, address[lane], wanted[lane]);
    return false;
  }
  if (some != 0) {
    CountLanes(warp, Region::kGlobal, AccessKind::kLoad, address, some, static_cast<int>(copy.bytes));
    if (warp.engine->observed() && whole != 0) {
      ObserveLanes(warp, insn, Region::kGlobal, AccessKind::kLoad, address, whole, copy.bytes, false);
    }
    if (warp.engine->observed() && some != whole) ObserveParts(warp, insn, some & ~whole, address, wanted, copy.bytes);
  }
  for (const int lane : EachLane(mask)) {
    const uint32_t bytes = std::min(wanted[lane], copy.bytes);
    std::memset(copy.data[lane], 0, sizeof copy.data[lane]);
    std::memcpy(copy.data[lane], reinterpret_cast<const void*>(address[lane]), bytes);
  }
  return true;
}

// Rows: destination, source, the source's offset, size, bytes to read (or none).
template <bool kNarrow>
void CopyAsync(Warp& warp, const Insn& insn, LaneMask mask) {
  AsyncCopy copy;
  copy.pc = warp.pc - 1;
  copy.mask = mask;
  copy.bytes = Source<uint32_t>(warp, insn.row[3])[std::countr_zero(mask)];
  if ((insn.row[3] & kConstantPool) == 0 || (copy.bytes != 4 && copy.bytes != 8 && copy.bytes != 16)) {
    warp.engine->Fault(warp, warp.engine->MakeFinding(warp, copy.pc, std::countr_zero(mask), FindingKind::kUnsupported,
                                                      "cp.async copies 4, 8 or 16 bytes, a constant"));
    return;
  }
  ReadAddresses<kNarrow>(warp, insn.row[0], insn.immediate, copy.address);
  uint64_t from[kWarpSize];
  ReadAddresses<false>(warp, insn.row[1], *Source<uint64_t>(warp, insn.row[2]), from);
  uint32_t wanted[kWarpSize];
  const uint32_t* given = insn.row[4] == kNoRow ? nullptr : Source<uint32_t>(warp, insn.row[4]);
  for (int lane = 0; lane < kWarpSize; ++lane) wanted[lane] = given == nullptr ? copy.bytes : given[lane];

  if (!CheckLanes(warp, Region::kShared, AccessKind::kStore, copy.address, mask, copy.bytes)) return;
  if (!ReadGlobal(warp, insn, mask, from, wanted, copy)) return;
  if (PcMemory* c = warp.engine->memory_counters(copy.pc)) {
    const Wavefronts w = CountWavefronts(copy.address, mask, static_cast<int>(copy.bytes), AccessKind::kStore);
    c->wavefronts += w.actual;
    c->wavefronts_ideal += w.ideal;
  }
  AsyncCopies& copies = AsyncCopiesOf(warp);
  std::memcpy(copy.group, copies.committed, sizeof copy.group);
  if (copies.pending.size() >= kMostPending) CompleteAllCopies(warp, kFullMask);
  copies.pending.push_back(copy);
  if (warp.engine->observed()) ObserveIssue(warp, copy.address, mask, copy.bytes);
}

Selection SelectCopyAsync(Modifiers& m) {
  const std::string cache = m.TakeAny({"ca", "cg"});
  if (cache.empty() || m.TakeAny({"shared", "shared::cta"}).empty() || !m.Take("global")) return {};
  m.TakeAny({"L2::64B", "L2::128B", "L2::256B"});
  const int operands = m.operand_count();
  Selection selection;
  if (m.Take("L2::cache_hint")) {
    selection.form = operands == 5 ? "a a su32 su32 su64" : "a a su32 su64";
    if (operands != 5) return {};  // without a byte count, the policy would be read as one
  }
  selection.handler = m.operand_bytes(0) == 4 ? CopyAsync<true> : CopyAsync<false>;
  return selection;
}

void CommitGroup(Warp& warp, const Insn&, LaneMask mask) {
  AsyncCopies& copies = AsyncCopiesOf(warp);
  ForActive(mask, [&](int lane) { ++copies.committed[lane]; });
}

void WaitGroup(Warp& warp, const Insn& insn, LaneMask mask) {
  CompleteGroups(warp, mask, Source<uint32_t>(warp, insn.row[0]));
}

void WaitAll(Warp& warp, const Insn&, LaneMask mask) { CompleteAllCopies(warp, mask); }

// The barrier is signalled when the copies complete, which is immediately here.
template <bool kNarrow, bool kCounted>
void ArriveAfterCopies(Warp& warp, const Insn& insn, LaneMask mask) {
  CompleteAllCopies(warp, mask);
  uint64_t address[kWarpSize];
  ReadAddresses<kNarrow>(warp, insn.row[0], insn.immediate, address);
  // Without .noinc the phase's expected count is incremented first, so the arrival leaves the count unchanged.
  if (kCounted) ArriveAtMbarrier(warp, insn, mask, address);
}

Selection SelectArriveAfterCopies(Modifiers& m) {
  const bool counted = m.Take("noinc");
  const bool shared = !m.TakeAny({"shared", "shared::cta"}).empty();
  if (m.type_count() != 1 || m.type(0) != ptx::Type::kB64) return {};
  const bool narrow = m.operand_bytes(0) == 4;
  if (narrow && !shared) return {};
  const MemoryFlags flags{MemoryOrder::kRelease, MemoryScope::kCta, false};
  Selection selection;
  selection.handler = narrow ? (counted ? ArriveAfterCopies<true, true> : ArriveAfterCopies<true, false>)
                             : (counted ? ArriveAfterCopies<false, true> : ArriveAfterCopies<false, false>);
  selection.extra = flags.Pack() | (shared ? 0 : kGenericMbarrier);
  return selection;
}

template <Handler kHandler>
Selection SelectPlain(Modifiers&) {
  return {kHandler};
}

LOCKSTEP_OPCODES(
    memory_async,
    {
        {"cp.async", "a a su32 su32? su64?", SelectCopyAsync, InsnClass::kLoad, kAnyOrder | kAsynchronous},
        {"cp.async.commit_group", "", SelectPlain<CommitGroup>, InsnClass::kOther, kAnyOrder | kAsynchronous},
        {"cp.async.wait_group", "su32", SelectPlain<WaitGroup>, InsnClass::kOther, kAnyOrder | kAsynchronous},
        {"cp.async.wait_all", "", SelectPlain<WaitAll>, InsnClass::kOther, kAnyOrder | kAsynchronous},
        {"cp.async.mbarrier.arrive", "a", SelectArriveAfterCopies, InsnClass::kBarrier, kAnyOrder | kAsynchronous},
    });

}  // namespace
}  // namespace lockstep::vgpu
