#include "vgpu/isa/memory/bulk_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "vgpu/isa/memory/async_copy.h"
#include "vgpu/isa/memory/mbarrier.h"
#include "vgpu/isa/memory/memory_access.h"
#include "vgpu/isa/memory/memory_bulk.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kUnit = 16;         // granularity of reports to observers
constexpr size_t kMostPending = 4096;  // per warp; a loop that never waits must not exhaust the host's memory

BulkCopies& CopiesOf(Warp& warp) {
  auto& bulk = AsyncCopiesOf(warp).bulk;
  if (bulk == nullptr) bulk = std::make_shared<BulkCopies>();
  return *bulk;
}

uint8_t* HostAddress(const Warp& warp, int lane, uint64_t address) {
  uint64_t addresses[kWarpSize] = {}, host[kWarpSize] = {};
  addresses[lane] = address;
  TranslateCluster(warp, LaneMask{1} << lane, addresses, host);
  return reinterpret_cast<uint8_t*>(host[lane]);
}

// Whether the block that contains an address still runs.
bool IsThere(Warp& warp, uint64_t address) {
  if (!IsOfOtherBlock(address)) return true;
  const auto& blocks = ClusterOf(*warp.block).blocks;
  const uint64_t rank = (address >> kRankShift) - 1;
  return rank < blocks.size() && blocks[rank] != nullptr;
}

// Reports an access of one thread to many bytes, in pieces. Events belong to the instruction that issued the copy.
void ObserveBytes(Warp& warp, uint32_t pc, int lane, Region region, AccessKind kind, uint64_t first, uint64_t bytes,
                  uint32_t unit) {
  if (!warp.engine->observed()) return;
  const uint32_t next = std::exchange(warp.pc, pc + 1);
  Insn insn;
  if (kind == AccessKind::kAtomic) insn.extra = MemoryFlags{MemoryOrder::kRelaxed, MemoryScope::kGpu, false}.Pack();
  uint64_t address[kWarpSize] = {};
  for (uint64_t at = 0; at < bytes;) {
    uint64_t piece = std::min<uint64_t>(unit, bytes - at);
    while ((piece & (piece - 1)) != 0 || (first + at) % piece != 0) piece = piece == 1 ? 1 : std::bit_floor(piece - 1);
    address[lane] = first + at;
    ObserveLanes(warp, insn, region, kind, address, LaneMask{1} << lane, static_cast<uint32_t>(piece), true);
    at += piece;
  }
  warp.pc = next;
}

void Apply(const BulkReduction& reduction, uint8_t* to, const uint8_t* from, uint32_t bytes) {
  if (reduction.operation == nullptr) {
    std::memcpy(to, from, bytes);
  } else {
    reduction.operation(to, from, bytes);
  }
}

void Perform(Warp& warp, const BulkLoad& load) {
  if (!IsThere(warp, load.to) || !IsThere(warp, load.barrier)) return;
  const uint32_t bytes = static_cast<uint32_t>(load.data.size());
  const AccessKind kind = load.reduction.operation == nullptr ? AccessKind::kStore : AccessKind::kAtomic;
  ObserveBytes(warp, load.pc, load.lane, Region::kClusterShared, kind, load.to, bytes, load.reduction.element_bytes);
  Apply(load.reduction, HostAddress(warp, load.lane, load.to), load.data.data(), bytes);
  if (warp.engine->observed()) {  // threads that see the barrier's phase end see the bytes
    const uint32_t next = std::exchange(warp.pc, load.pc + 1);
    Insn release;
    release.extra = MemoryFlags{MemoryOrder::kRelease, MemoryScope::kCluster, false}.Pack();
    uint64_t address[kWarpSize] = {};
    address[load.lane] = load.barrier;
    ObserveLanes(warp, release, Region::kClusterShared, AccessKind::kAtomic, address, LaneMask{1} << load.lane, 8,
                 true);
    warp.pc = next;
  }
  CompleteTransaction(reinterpret_cast<uint64_t*>(HostAddress(warp, load.lane, load.barrier)), bytes);
}

void Read(Warp& warp, BulkStore& store) {
  if (store.read) return;
  store.read = true;
  uint32_t end = 0;
  for (const BulkPiece& piece : store.pieces) {
    end = std::max(end, piece.offset + piece.bytes);
    ObserveBytes(warp, store.pc, store.lane, Region::kShared, AccessKind::kLoad, store.from + piece.offset, piece.bytes,
                 kUnit);
  }
  const uint8_t* from = warp.block->shared + store.from;
  store.data.assign(from, from + end);
}

void Write(Warp& warp, BulkStore& store) {
  Read(warp, store);
  const AccessKind kind = store.reduction.operation == nullptr ? AccessKind::kStore : AccessKind::kAtomic;
  for (const BulkPiece& piece : store.pieces) {
    ObserveBytes(warp, store.pc, store.lane, Region::kGlobal, kind, piece.global, piece.bytes,
                 store.reduction.element_bytes);
    Apply(store.reduction, reinterpret_cast<uint8_t*>(piece.global), store.data.data() + piece.offset, piece.bytes);
  }
}

}  // namespace

// Costs equal those of a warp that accesses the same bytes, 16 per lane.
void CountBulk(Warp& warp, Region region, AccessKind kind, uint64_t first, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += uint64_t{kUnit} * kWarpSize) {
    uint64_t address[kWarpSize];
    LaneMask mask = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t here = at + static_cast<uint64_t>(lane) * kUnit;
      address[lane] = first + here;
      mask |= static_cast<LaneMask>(here < bytes) << lane;
    }
    CountLanes(warp, region, kind, address, mask, kUnit);
  }
}

void ObserveBulk(Warp& warp, int lane, Region region, AccessKind kind, uint64_t first, uint64_t bytes) {
  ObserveBytes(warp, warp.pc - 1, lane, region, kind, first, bytes, kUnit);
}

void IssueBulkLoad(Warp& warp, BulkLoad load) {
  load.pc = warp.pc - 1;
  CountBulk(warp, Region::kShared, AccessKind::kStore, load.to & kOffsetMask, load.data.size());
  if (warp.engine->observed() && !IsOfOtherBlock(load.to)) {
    uint64_t address[kWarpSize] = {};
    for (uint64_t at = 0; at < load.data.size(); at += kUnit) {
      address[load.lane] = load.to + at;
      ObserveIssue(warp, address, LaneMask{1} << load.lane, std::min<uint32_t>(kUnit, load.data.size() - at));
    }
  }
  BulkCopies& copies = CopiesOf(warp);
  copies.loads.push_back(std::move(load));
  if (copies.loads.size() < kMostPending) return;
  const BulkLoad first = std::move(copies.loads.front());
  copies.loads.erase(copies.loads.begin());
  Perform(warp, first);
}

void IssueBulkStore(Warp& warp, BulkStore store) {
  BulkCopies& copies = CopiesOf(warp);
  store.pc = warp.pc - 1;
  store.group = copies.committed[store.lane];
  for (const BulkPiece& piece : store.pieces) {
    CountBulk(warp, Region::kShared, AccessKind::kLoad, store.from + piece.offset, piece.bytes);
    CountBulk(warp, Region::kGlobal, AccessKind::kStore, piece.global, piece.bytes);
  }
  copies.stores.push_back(std::move(store));
  warp.state->wrote = true;
  if (copies.stores.size() < kMostPending) return;
  BulkStore first = std::move(copies.stores.front());
  copies.stores.erase(copies.stores.begin());
  Write(warp, first);
}

void CommitBulkGroups(Warp& warp, LaneMask lanes) {
  BulkCopies& copies = CopiesOf(warp);
  ForActive(lanes, [&](int lane) { ++copies.committed[lane]; });
}

void WaitForBulkGroups(Warp& warp, LaneMask lanes, const uint32_t keep[kWarpSize], bool only_reads) {
  BulkCopies& copies = CopiesOf(warp);
  const auto is_due = [&](const BulkStore& store) {
    return (lanes >> store.lane & 1) != 0 && uint64_t{store.group} + keep[store.lane] < copies.committed[store.lane];
  };
  for (BulkStore& store : copies.stores) {
    if (!is_due(store)) continue;
    if (only_reads) {
      Read(warp, store);
    } else {
      Write(warp, store);
    }
  }
  if (!only_reads) std::erase_if(copies.stores, is_due);
}

void CompleteAllBulk(Warp& warp, LaneMask lanes) {
  BulkCopies* copies = AsyncCopiesOf(warp).bulk.get();
  if (copies == nullptr) return;
  const auto is_of_lanes = [&](const auto& copy) { return (lanes >> copy.lane & 1) != 0; };
  for (const BulkLoad& load : copies->loads) {
    if (is_of_lanes(load)) Perform(warp, load);
  }
  for (BulkStore& store : copies->stores) {
    if (is_of_lanes(store)) Write(warp, store);
  }
  std::erase_if(copies->loads, is_of_lanes);
  std::erase_if(copies->stores, is_of_lanes);
}

void CompleteBulkLoads(Warp& warp, const uint64_t* object) {
  const auto complete_of = [&](Block& block) {
    for (size_t k = 0; k < block.warps.size(); ++k) {
      const auto& copies = block.states[k].async_copies;
      if (copies == nullptr || copies->bulk == nullptr) continue;
      Warp& issuer = block.warps[k];
      const auto is_due = [&](const BulkLoad& load) {
        return IsThere(issuer, load.barrier) &&
               reinterpret_cast<const uint64_t*>(HostAddress(issuer, load.lane, load.barrier)) == object;
      };
      for (const BulkLoad& load : copies->bulk->loads) {
        if (!is_due(load)) continue;
        Perform(issuer, load);
        warp.state->wrote = true;
      }
      std::erase_if(copies->bulk->loads, is_due);
    }
  };
  if (warp.block->cluster == nullptr) return complete_of(*warp.block);
  for (Block* block : warp.block->cluster->blocks) {
    if (block != nullptr) complete_of(*block);
  }
}

}  // namespace lockstep::vgpu
