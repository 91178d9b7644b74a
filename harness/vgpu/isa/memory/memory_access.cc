#include "vgpu/isa/memory/memory_access.h"

#include <algorithm>
#include <utility>

namespace lockstep::vgpu {

namespace {

// The block that a cluster address refers to; null if there is none.
Block* BlockAt(const Warp& warp, uint64_t address) {
  if (!IsOfOtherBlock(address)) return warp.block;
  const uint64_t rank = (address >> kRankShift) - 1;
  const Cluster* cluster = warp.block->cluster.get();
  if (cluster == nullptr) return rank == 0 ? warp.block : nullptr;
  return rank < cluster->blocks.size() ? cluster->blocks[rank] : nullptr;
}

bool CheckClusterLanes(Warp& warp, AccessKind access, const uint64_t* address, LaneMask mask, uint32_t bytes) {
  for (const int lane : EachLane(mask)) {
    const Block* block = BlockAt(warp, address[lane]);
    const uint64_t offset = address[lane] & kOffsetMask;
    const bool inside = block != nullptr && bytes <= block->shared_bytes && offset <= block->shared_bytes - bytes;
    if (inside && offset % bytes == 0) continue;
    warp.engine->MemoryFault(warp, lane, inside ? FindingKind::kMisaligned : FindingKind::kOutOfBounds, access,
                             MemorySpace::kShared, offset, bytes);
    return false;
  }
  return true;
}

}  // namespace

void TranslateCluster(const Warp& warp, LaneMask mask, const uint64_t address[kWarpSize], uint64_t host[kWarpSize]) {
  for (const int lane : EachLane(mask)) {
    host[lane] = reinterpret_cast<uint64_t>(BlockAt(warp, address[lane])->shared) + (address[lane] & kOffsetMask);
  }
}

bool CheckLanes(Warp& warp, Region region, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                uint32_t bytes) {
  if (region == Region::kClusterShared) return CheckClusterLanes(warp, access, address, mask, bytes);
  const bool global = region == Region::kGlobal || region == Region::kConst;
  if (region == Region::kParameters && access != AccessKind::kLoad) {
    warp.engine->MemoryFault(warp, std::countr_zero(mask), FindingKind::kInvalidAddress, access, SpaceOf(region),
                             address[std::countr_zero(mask)], bytes);
    return false;
  }
  // Checks all lanes at once: address in [low, high - bytes] and aligned. Outside, one of the two differences below is
  // negative, because addresses and bounds are below 2^63.
  uint64_t low = 0, high = 0;
  if (global) {
    const uint64_t any = address[std::countr_zero(mask)];
    if (GlobalRangeOk(warp, access, any, any + 1, region)) {
      const Engine::Range& range = warp.engine->range(warp.pc - 1);
      low = range.base;
      high = range.end;
    }
  } else {
    high = MemoryOf(warp, region).bytes;
  }
  if (high - low >= bytes && high != 0) {
    uint64_t outside = 0, unaligned = 0;
    const uint64_t last = high - bytes;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t on = uint64_t{0} - ((mask >> lane) & 1);
      outside |= ((address[lane] - low) | (last - address[lane])) & on;
      unaligned |= address[lane] & on;
    }
    if ((outside >> 63) == 0 && (unaligned & (bytes - 1)) == 0) return true;
  }
  for (const int lane : EachLane(mask)) {
    const uint64_t a = address[lane];
    FindingKind kind;
    if ((a & (bytes - 1)) != 0 && (region != Region::kShared || a < high)) {
      kind = FindingKind::kMisaligned;
    } else if (global ? !GlobalRangeOk(warp, access, a, a + bytes, region) : bytes > high || a > high - bytes) {
      // An access inside another buffer is not one past a constant's end.
      const bool other = region == Region::kConst && GlobalRangeOk(warp, access, a, a + bytes);
      kind = other ? FindingKind::kInvalidAddress : FindingKind::kOutOfBounds;
    } else {
      continue;
    }
    warp.engine->MemoryFault(warp, lane, kind, access, SpaceOf(region), a, bytes);
    return false;
  }
  return true;
}

void CountLanes(Warp& warp, Region region, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                int bytes) {
  PcMemory* c = warp.engine->memory_counters(warp.pc - 1);
  if (c == nullptr) {
    if (region != Region::kGlobal || !warp.engine->follows_touches()) return;
    warp.engine->locality().TouchLanes(warp.block->index, access, address, mask);
    return;
  }
  const AccessCost before = c->cost();
  switch (region) {
    case Region::kGlobal: {
      const uint64_t sectors = c->sectors;
      AddGlobalCost(access, address, mask, bytes, *c);
      if (IsWorst(warp, *c, before)) {
        warp.engine->Keep(warp, MemorySpace::kGlobal, access, address, mask, bytes, c->cost() - before);
      }
      Locality& locality = warp.engine->locality();
      const uint32_t pc = warp.pc - 1, block = warp.block->index;
      c->missed_sectors += std::min(uint64_t{locality.TouchLanes(block, access, address, mask)}, c->sectors - sectors);
      locality.BeginRequest(pc, block, warp.index);
      c->page_switches += locality.FollowLanes(pc, address, mask, bytes, warp.engine->range(pc).base);
      return;
    }
    case Region::kShared:
    case Region::kClusterShared:
      AddSharedCost(access, address, mask, bytes, *c);
      if (IsWorst(warp, *c, before)) {
        warp.engine->Keep(warp, MemorySpace::kShared, access, address, mask, bytes, c->cost() - before);
      }
      return;
    case Region::kLocal:
      return AddLocalCost(address, mask, bytes, *c);
    case Region::kConst:
      return AddConstCost(address, mask, bytes, *c);
    case Region::kParameters:
    case Region::kArea:
      return;
  }
}

void KeepUnit(Warp& warp, AccessKind access, uint64_t first, LaneMask mask, int bytes, const AccessCost& cost) {
  uint64_t address[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = first + static_cast<uint64_t>(lane * bytes);
  warp.engine->Keep(warp, MemorySpace::kGlobal, access, address, mask, bytes, cost);
}

void CountHalves(Warp& warp, Region region, AccessKind access, const Halves& halves) {
  PcMemory* c = warp.engine->memory_counters(warp.pc - 1);
  if (c == nullptr) {
    if (region != Region::kGlobal || !warp.engine->follows_touches()) return;
    for (int half = 0; half < 2; ++half) {
      TouchSpan(warp, access, halves.first[half], halves.first[half] + halves.Span(half));
    }
    return;
  }
  if (region == Region::kConst) return AddHalvesConstCost(halves, *c);
  const AccessCost before = c->cost();
  if (region == Region::kGlobal) AddHalvesGlobalCost(halves, *c);
  if (region == Region::kShared) AddHalvesSharedCost(access, halves, *c);
  if (IsWorst(warp, *c, before)) {
    uint64_t address[kWarpSize];
    AddressesOf(halves, address);
    const int bytes = static_cast<int>(halves.bytes);
    warp.engine->Keep(warp, SpaceOf(region), access, address, kFullMask, bytes, c->cost() - before);
  }
  if (region == Region::kShared) return;
  warp.engine->locality().BeginRequest(warp.pc - 1, warp.block->index, warp.index);
  for (int half = 0; half < 2; ++half) {
    CountSpan(warp, *c, access, halves.first[half], halves.first[half] + halves.Span(half));
  }
}

namespace {

// Observers track memory per block, so an access to several blocks' memory is reported as one per block.
void ObserveCluster(Warp& warp, const Insn& insn, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                    uint32_t bytes, bool same_value) {
  for (LaneMask left = mask; left != 0;) {
    Block* const block = BlockAt(warp, address[std::countr_zero(left)]);
    uint64_t offset[kWarpSize];
    LaneMask lanes = 0;
    for (LaneMask rest = left; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      offset[lane] = address[lane] & kOffsetMask;
      lanes |= static_cast<LaneMask>(BlockAt(warp, address[lane]) == block) << lane;
    }
    left &= ~lanes;
    Block* const own = std::exchange(warp.block, block);
    ObserveLanes(warp, insn, Region::kShared, access, offset, lanes, bytes, same_value);
    warp.block = own;
  }
}

MemoryAccess PlainAccess(const Warp& warp, MemorySpace space, AccessKind kind, const uint64_t address[kWarpSize],
                         LaneMask mask, uint32_t bytes, AccessForm form) {
  return {.space = space,
          .kind = kind,
          .bytes = static_cast<uint8_t>(bytes),
          .form = form,
          .mask = mask,
          .address = address,
          .pc = warp.pc - 1,
          .block_index = warp.block->index,
          .warp_index = warp.index,
          .thread_base = warp.index * kWarpSize};
}

// Reports noted accesses to shared memory before this one, except before a plain access to other memory.
void FlushNoted(Warp& warp, const MemoryAccess& event) {
  Engine& engine = *warp.engine;
  const bool shared = event.space == MemorySpace::kShared;
  if (!engine.takes_notes()) return;
  if (!shared && event.kind != AccessKind::kAtomic && event.order == MemoryOrder::kWeak) return;
  engine.FlushSharedNotes();
  if (shared) warp.block->shared_use.Tell(ExtentOf(event));
}

}  // namespace

// NOLINTNEXTLINE(readability-function-size): the facts of an access that observers get
void ObserveLanes(Warp& warp, const Insn& insn, Region region, AccessKind access, const uint64_t address[kWarpSize],
                  LaneMask mask, uint32_t bytes, bool same_value, AccessForm form, const StoreTest* store) {
  if (region == Region::kArea || region == Region::kParameters) return;
  if (region == Region::kClusterShared) {
    return ObserveCluster(warp, insn, access, address, mask, bytes, same_value);
  }
  const MemoryFlags flags = MemoryFlags::Unpack(insn.extra);
  MemoryAccess event = PlainAccess(warp, SpaceOf(region), access, address, mask, bytes, form);
  event.order = flags.order;
  event.scope = flags.scope;
  event.store = store;
  event.same_value = same_value;
  event.returns_value = flags.returns_value;
  event.overwrites = access == AccessKind::kAtomic && flags.overwrites;
  event.waits = flags.waits;
  event.constant = flags.constant;
  event.plain_shared_load =
      region == Region::kShared && access == AccessKind::kLoad && flags.order == MemoryOrder::kWeak;
  FlushNoted(warp, event);
  for (Observer* observer : warp.engine->memory_observers()) observer->OnMemory(event);
}

void ObserveIssue(Warp& warp, const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes) {
  const MemoryAccess event = PlainAccess(warp, MemorySpace::kShared, AccessKind::kStore, address, mask, bytes,
                                         FormOf(address, mask, bytes, false));
  FlushNoted(warp, event);
  for (Observer* observer : warp.engine->memory_observers()) observer->OnCopyIssued(event);
}

uint8_t* LocateLane(Warp& warp, int lane, uint64_t generic, uint64_t bytes) {
  uint8_t* found = nullptr;
  uint64_t addresses[kWarpSize] = {};
  addresses[lane] = generic;
  ForRegions(warp, LaneMask{1} << lane, addresses, [&](Region region, LaneMask, const uint64_t* address) {
    const uint64_t a = address[lane];
    if (region == Region::kGlobal) {
      if (warp.engine->launch().memory->Contains(a, bytes)) found = reinterpret_cast<uint8_t*>(a);
      return;
    }
    if (region == Region::kClusterShared) {
      const Block* block = BlockAt(warp, a);
      const uint64_t offset = a & kOffsetMask;
      if (block != nullptr && bytes <= block->shared_bytes && offset <= block->shared_bytes - bytes) {
        found = block->shared + offset;
      }
      return;
    }
    const RegionMemory memory = MemoryOf(warp, region);
    if (bytes <= memory.bytes && a <= memory.bytes - bytes) {
      found = memory.origin + a + static_cast<uint64_t>(lane) * memory.lane_stride;
    }
  });
  return found;
}

bool StoreLane(Warp& warp, int lane, uint64_t generic, const void* from, uint32_t bytes) {
  bool done = false;
  uint64_t addresses[kWarpSize] = {};
  addresses[lane] = generic;
  ForRegions(warp, LaneMask{1} << lane, addresses, [&](Region region, LaneMask mask, const uint64_t* address) {
    if (!CheckLanes(warp, region, AccessKind::kStore, address, mask, bytes)) return;
    if (warp.engine->observed()) ObserveLanes(warp, Insn(), region, AccessKind::kStore, address, mask, bytes, true);
    std::memcpy(LocateLane(warp, lane, generic, bytes), from, bytes);
    done = true;
  });
  return done;
}

}  // namespace lockstep::vgpu
