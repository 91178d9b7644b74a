// cp.async.bulk, cp.reduce.async.bulk and their groups. Source: PTX ISA 9.0, 9.7.9.25.4 and 9.7.9.25.5.
#include "vgpu/isa/memory/memory_bulk.h"

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/isa/memory/bulk_copy.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {
namespace {

// Insn::extra: which addresses have 4 bytes, and the rest of the form.
constexpr uint64_t kNarrowTo = 1;
constexpr uint64_t kNarrowFrom = 2;
constexpr uint64_t kNarrowBarrier = 4;
constexpr uint64_t kFromShared = 8;
constexpr uint64_t kMulticast = 16;
constexpr int kReductionShift = 8;

uint64_t Address(const Warp& warp, RowRef row, uint64_t offset, bool narrow, int lane) {
  if (narrow) return static_cast<uint32_t>(Source<uint32_t>(warp, row)[lane] + offset);
  return Source<uint64_t>(warp, row)[lane] + offset;
}

bool CheckGlobal(Warp& warp, int lane, AccessKind access, uint64_t address, uint32_t bytes) {
  const bool aligned = address % kBulkUnit == 0;
  if (aligned && GlobalRangeOk(warp, access, address, address + bytes)) return true;
  warp.engine->MemoryFault(warp, lane, aligned ? FindingKind::kOutOfBounds : FindingKind::kMisaligned, access,
                           MemorySpace::kGlobal, address, bytes);
  return false;
}

bool CheckSize(Warp& warp, int lane, uint32_t bytes) {
  if (bytes % kBulkUnit == 0) return true;
  warp.engine->Fault(
      warp, warp.engine->MakeFinding(warp, warp.pc - 1, lane, FindingKind::kTrap,
                                     "a bulk copy of " + std::to_string(bytes) + " bytes, which is no multiple of 16"));
  return false;
}

// A write from shared to shared memory needs a cluster, even if of one block.
bool CheckCluster(Warp& warp, int lane) {
  if (warp.engine->launch().has_clusters) return true;
  warp.engine->Fault(warp, warp.engine->MakeFinding(warp, warp.pc - 1, lane, FindingKind::kIllegalInstruction,
                                                    "an asynchronous store to shared memory without a cluster"));
  return false;
}

// Rows: destination, source, its offset, size, mbarrier, its offset, mask of blocks.
void CopyToShared(Warp& warp, const Insn& insn, LaneMask mask) {
  for (const int lane : EachLane(mask)) {
    const uint32_t bytes = Source<uint32_t>(warp, insn.row[3])[lane];
    const uint64_t to = Address(warp, insn.row[0], insn.immediate, (insn.extra & kNarrowTo) != 0, lane);
    const uint64_t from =
        Address(warp, insn.row[1], *Source<uint64_t>(warp, insn.row[2]), (insn.extra & kNarrowFrom) != 0, lane);
    const uint64_t barrier =
        Address(warp, insn.row[4], *Source<uint64_t>(warp, insn.row[5]), (insn.extra & kNarrowBarrier) != 0, lane);
    if ((insn.extra & kFromShared) != 0 && !CheckCluster(warp, lane)) return;
    if (!CheckSize(warp, lane, bytes)) return;
    BulkLoad load;
    load.lane = lane;
    load.to = to;
    load.barrier = barrier;
    load.reduction = ReductionOf(insn.extra >> kReductionShift & 0xff);
    load.data.resize(bytes);
    if (bytes != 0) {
      if ((insn.extra & kFromShared) != 0) {
        if (!CheckBulkShared(warp, lane, AccessKind::kLoad, from, bytes, kBulkUnit)) return;
        if (IsOfOtherBlock(from)) {
          warp.engine->MemoryFault(warp, lane, FindingKind::kInvalidAddress, AccessKind::kLoad, MemorySpace::kShared,
                                   from, bytes);
          return;
        }
        ObserveBulk(warp, lane, Region::kShared, AccessKind::kLoad, from, bytes);
        std::memcpy(load.data.data(), warp.block->shared + from, bytes);
      } else {
        if (!CheckGlobal(warp, lane, AccessKind::kLoad, from, bytes)) return;
        ObserveBulk(warp, lane, Region::kGlobal, AccessKind::kLoad, from, bytes);
        CountBulk(warp, Region::kGlobal, AccessKind::kLoad, from, bytes);
        std::memcpy(load.data.data(), reinterpret_cast<const void*>(from), bytes);
      }
    }
    const RowRef targets = insn.row[6];
    const bool to_many = (insn.extra & kMulticast) != 0;
    if (!IssueToBlocks(warp, std::move(load), to_many ? Source<uint16_t>(warp, targets)[lane] : 0, to_many)) return;
  }
}

// Rows: destination, source, its offset, size.
void CopyToGlobal(Warp& warp, const Insn& insn, LaneMask mask) {
  for (const int lane : EachLane(mask)) {
    const uint32_t bytes = Source<uint32_t>(warp, insn.row[3])[lane];
    const uint64_t to = Source<uint64_t>(warp, insn.row[0])[lane] + insn.immediate;
    const uint64_t from =
        Address(warp, insn.row[1], *Source<uint64_t>(warp, insn.row[2]), (insn.extra & kNarrowFrom) != 0, lane);
    if (!CheckSize(warp, lane, bytes)) return;
    if (bytes == 0) continue;
    if (!CheckBulkShared(warp, lane, AccessKind::kLoad, from, bytes, kBulkUnit)) return;
    if (!CheckGlobal(warp, lane, AccessKind::kStore, to, bytes)) return;
    BulkStore store;
    store.lane = lane;
    store.from = from;
    store.pieces.push_back({to, 0, bytes});
    store.reduction = ReductionOf(insn.extra >> kReductionShift & 0xff);
    IssueBulkStore(warp, std::move(store));
  }
}

// st.async. Rows: destination, values, mbarrier, its offset.
void StoreAsync(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t element = insn.extra >> kReductionShift & 0xff;
  for (const int lane : EachLane(mask)) {
    if (!CheckCluster(warp, lane)) return;
    BulkLoad store;
    store.lane = lane;
    store.to = Address(warp, insn.row[0], insn.immediate, (insn.extra & kNarrowTo) != 0, lane);
    store.barrier = Address(warp, insn.row[1 + insn.count], *Source<uint64_t>(warp, insn.row[2 + insn.count]),
                            (insn.extra & kNarrowBarrier) != 0, lane);
    store.data.resize(element * insn.count);
    for (uint64_t k = 0; k < insn.count; ++k) {
      const RowRef row = insn.row[1 + k];
      const void* const from = element == 4 ? static_cast<const void*>(&Source<uint32_t>(warp, row)[lane])
                                            : static_cast<const void*>(&Source<uint64_t>(warp, row)[lane]);
      std::memcpy(store.data.data() + k * element, from, element);
    }
    if (!IssueToBlocks(warp, std::move(store), 0, false)) return;
  }
}

Selection SelectStoreAsync(Modifiers& m) {
  m.Take("weak");
  const int count = m.Take("v2") ? 2 : m.Take("v4") ? 4 : 1;
  const auto bytes = m.type_count() == 1 ? static_cast<uint64_t>(ptx::SizeOf(m.type(0))) : 0;
  if (!m.Take("shared::cluster") || !m.Take("mbarrier::complete_tx::bytes") || (bytes != 4 && bytes != 8)) return {};
  Selection selection{StoreAsync, InsnClass::kStore};
  selection.form = "a sv0 a";
  selection.extra = bytes << kReductionShift | (m.operand_bytes(0) == 4 ? kNarrowTo : 0) |
                    (m.operand_bytes(1 + count) == 4 ? kNarrowBarrier : 0);
  return selection;
}

// Both directions. reduction: as TakeReduction returns it.
Selection SelectCopy(Modifiers& m, uint64_t reduction) {
  Selection selection;
  selection.extra = reduction << kReductionShift;
  const auto narrow = [&](int operand, uint64_t flag) {
    if (m.operand_bytes(operand) == 4) selection.extra |= flag;
  };
  const bool hint = m.Take("L2::cache_hint");
  narrow(0, kNarrowTo);
  narrow(1, kNarrowFrom);
  if (m.Take("bulk_group")) {
    if (!m.Take("global") || !m.Take("shared::cta") || m.operand_bytes(0) == 4) return {};
    selection.insn_class = InsnClass::kStore;
    selection.handler = CopyToGlobal;
    selection.form = hint ? "a a su32 su64" : "a a su32";
    return selection;
  }
  if (!m.Take("mbarrier::complete_tx::bytes")) return {};
  const bool to_many = m.Take("multicast::cluster");
  const bool from_global = m.Take("global");
  const bool to_cluster = m.Take("shared::cluster"), cta = m.Take("shared::cta");
  if (from_global ? to_cluster == cta : !(to_cluster && cta)) return {};
  if ((to_many || reduction != 0 || hint) && !to_cluster) return {};
  if (reduction != 0 && from_global) return {};
  if (!from_global && (to_many || hint)) return {};
  narrow(3, kNarrowBarrier);
  selection.extra |= (from_global ? 0 : kFromShared) | (to_many ? kMulticast : 0);
  selection.insn_class = InsnClass::kLoad;
  selection.handler = CopyToShared;
  if (to_many) {
    selection.form = hint ? "a a su32 a su16 su64" : "a a su32 a su16";
  } else {
    selection.form = hint ? "a a su32 a su64" : "a a su32 a";
  }
  return selection;
}

Selection SelectBulk(Modifiers& m) { return SelectCopy(m, 0); }

Selection SelectReduction(Modifiers& m) {
  const uint64_t reduction = TakeReduction(m, m.type_count() == 1 ? m.type(0) : ptx::Type::kNone);
  return reduction == 0 ? Selection{} : SelectCopy(m, reduction);
}

std::vector<std::string> ReductionVariants() {
  std::vector<std::string> variants;
  for (const std::string& reduction : ReductionNames()) {
    variants.push_back(".shared::cluster.shared::cta.mbarrier::complete_tx::bytes" + reduction);
    variants.push_back(".global.shared::cta.bulk_group" + reduction);
    variants.push_back(".global.shared::cta.bulk_group.L2::cache_hint" + reduction);
  }
  return variants;
}

void Commit(Warp& warp, const Insn&, LaneMask mask) { CommitBulkGroups(warp, mask); }

template <bool kOnlyReads>
void Wait(Warp& warp, const Insn& insn, LaneMask mask) {
  WaitForBulkGroups(warp, mask, Source<uint32_t>(warp, insn.row[0]), kOnlyReads);
}

Selection SelectWait(Modifiers& m) { return {m.Take("read") ? Wait<true> : Wait<false>}; }
Selection SelectCommit(Modifiers&) { return {Commit}; }

// Nothing is fetched. Rows: address, size.
void Prefetch(Warp& warp, const Insn& insn, LaneMask mask) {
  ForActive(mask, [&](int lane) {
    const uint64_t from = Source<uint64_t>(warp, insn.row[0])[lane] + insn.immediate;
    if (from % kBulkUnit == 0 || warp.stop) return;
    warp.engine->MemoryFault(warp, lane, FindingKind::kMisaligned, AccessKind::kLoad, MemorySpace::kGlobal, from,
                             kBulkUnit);
  });
}
Selection SelectPrefetch(Modifiers& m) {
  const bool hint = m.Take("L2::cache_hint");
  if (!m.Take("L2") || !m.Take("global") || m.operand_bytes(0) == 4) return {};
  return {Prefetch, InsnClass::kOther, 0, 0, hint ? "a su32 su64" : "a su32"};
}

constexpr Traits kCopies = kAnyOrder | kAsynchronous;

LOCKSTEP_OPCODES(memory_bulk,
                 {
                     {"cp.async.bulk", "a a su32 a? su16? su64?", SelectBulk, InsnClass::kLoad, kCopies},
                     {.name = "cp.reduce.async.bulk",
                      .form = "a a su32 a? su64?",
                      .select = SelectReduction,
                      .insn_class = InsnClass::kLoad,
                      .traits = kOrderUnlessCommutes | kAsynchronous,
                      .variants = ReductionVariants},
                     {"st.async", "a sv0 a", SelectStoreAsync, InsnClass::kLoad, kCopies},
                     {"cp.async.bulk.prefetch", "a su32 su64?", SelectPrefetch, InsnClass::kOther, kAnyOrder},
                     {"cp.async.bulk.commit_group", "", SelectCommit, InsnClass::kOther, kCopies},
                     {"cp.async.bulk.wait_group", "su32", SelectWait, InsnClass::kOther, kCopies},
                 });

}  // namespace
}  // namespace lockstep::vgpu
