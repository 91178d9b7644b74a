#include "vgpu/isa/memory/memory_access.h"

#include <algorithm>
#include <utility>

namespace lockstep::vgpu {

namespace {

// The block that a cluster address lies in; null where there is none.
Block* BlockAt(const Warp& warp, uint64_t address) {
  if (!IsOfOtherBlock(address)) return warp.block;
  const uint64_t rank = (address >> kRankShift) - 1;
  const Cluster* cluster = warp.block->cluster.get();
  if (cluster == nullptr) return rank == 0 ? warp.block : nullptr;
  return rank < cluster->blocks.size() ? cluster->blocks[rank] : nullptr;
}

bool CheckClusterLanes(Warp& warp, AccessKind access, const uint64_t* address, LaneMask mask, uint32_t bytes) {
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
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
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
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
  // All lanes at once: in [low, high - bytes] and aligned. The sign bit of a difference tells; addresses and bounds are
  // below 2^63, and a wilder address makes its first difference negative.
  uint64_t low = 0, high = 0;
  if (global) {
    const uint64_t any = address[std::countr_zero(mask)];
    if (GlobalRangeOk(warp, access, any, any + 1)) {
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
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    const uint64_t a = address[lane];
    FindingKind kind;
    if ((a & (bytes - 1)) != 0) {
      kind = FindingKind::kMisaligned;
    } else if (global ? !GlobalRangeOk(warp, access, a, a + bytes) : bytes > high || a > high - bytes) {
      kind = FindingKind::kOutOfBounds;
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
  if (c == nullptr) return;
  switch (region) {
    case Region::kGlobal: {
      const uint32_t sectors =
          access == AccessKind::kAtomic ? CountAtomicSectors(address, mask) : CountSectors(address, mask, bytes);
      c->requests += 1;
      c->sectors += sectors;
      c->sectors_ideal += IdealSectors(mask, bytes, sectors);
      c->bytes += static_cast<uint64_t>(std::popcount(mask) * bytes);
      c->strict_bytes += StrictCoalescingBytes(address, mask, bytes);
      Locality& locality = warp.engine->locality();
      const uint32_t pc = warp.pc - 1, block = warp.block->index;
      c->missed_sectors += std::min(locality.TouchLanes(block, access, address, mask), sectors);
      locality.BeginRequest(pc, block, warp.index);
      c->page_switches += locality.FollowLanes(pc, address, mask, bytes, warp.engine->range(pc).base);
      return;
    }
    case Region::kShared:
    case Region::kClusterShared: {
      const Wavefronts w = CountWavefronts(address, mask, bytes, access);
      c->shared_requests += 1;
      c->wavefronts += w.actual;
      c->wavefronts_ideal += w.ideal;
      return;
    }
    case Region::kLocal: {
      // The hardware interleaves local memory: word w of lane l lies at w * 128 + l * 4.
      c->local_requests += 1;
      const int words = bytes < 4 ? 1 : bytes / 4;
      uint64_t word[kWarpSize];
      for (int k = 0; k < words; ++k) {
        for (int lane = 0; lane < kWarpSize; ++lane) {
          word[lane] = (address[lane] / 4 + static_cast<uint64_t>(k)) * 128 + static_cast<uint64_t>(lane) * 4;
        }
        c->local_sectors += CountSectors(word, mask, 4);
      }
      return;
    }
    case Region::kConst:
    case Region::kParameters:
    case Region::kArea:
      return;
  }
}

void CountHalves(Warp& warp, Region region, AccessKind access, const Halves& halves) {
  PcMemory* c = warp.engine->memory_counters(warp.pc - 1);
  if (c == nullptr) return;
  const auto ends = [&](int half, int shift) {
    return std::pair(halves.first[half] >> shift, (halves.first[half] + halves.Span(half) - 1) >> shift);
  };
  if (region == Region::kGlobal) {
    const auto [a, a_end] = ends(0, kSectorShift);
    const auto [b, b_end] = ends(1, kSectorShift);
    const uint64_t both = std::max(a, b) <= std::min(a_end, b_end) ? std::min(a_end, b_end) - std::max(a, b) + 1 : 0;
    const uint64_t sectors = (a_end - a + 1) + (b_end - b + 1) - both;
    const int bytes = static_cast<int>(halves.bytes);
    c->requests += 1;
    c->sectors += sectors;
    c->sectors_ideal += IdealSectors(kFullMask, bytes, static_cast<uint32_t>(sectors));
    c->bytes += kWarpSize * halves.bytes;
    const uint64_t segment = halves.bytes * (kWarpSize / 2);
    warp.engine->locality().BeginRequest(warp.pc - 1, warp.block->index, warp.index);
    for (int half = 0; half < 2; ++half) {
      const bool coalesced =
          !halves.uniform[half] && halves.bytes >= 4 && halves.bytes <= 16 && (halves.first[half] & (segment - 1)) == 0;
      c->strict_bytes += coalesced ? segment : 32 * (kWarpSize / 2);
      CountSpan(warp, *c, access, halves.first[half], halves.first[half] + halves.Span(half));
    }
  } else if (region == Region::kShared) {
    c->shared_requests += 1;
    if (halves.bytes > 4) {
      uint64_t address[kWarpSize];
      for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
        const int half = lane < kWarpSize / 2 ? 0 : 1;
        const uint64_t place = halves.uniform[half] ? 0 : lane % (kWarpSize / 2) * halves.bytes;
        address[lane] = halves.first[half] + place;
      }
      const Wavefronts w = CountWavefronts(address, kFullMask, static_cast<int>(halves.bytes), access);
      c->wavefronts += w.actual;
      c->wavefronts_ideal += w.ideal;
      return;
    }
    // At most 16 words in a row each. Words of one half fall into banks of the other's where the distance of their
    // starts, modulo the banks, is less than a half's length; they are other words unless the distance itself is.
    const auto [a, a_end] = ends(0, 2);
    const auto [b, b_end] = ends(1, 2);
    const uint64_t a_words = a_end - a + 1, b_words = b_end - b + 1;
    const bool meet = (b - a) % kSharedBanks < a_words || (a - b) % kSharedBanks < b_words;
    const bool same = b - a < a_words || a - b < b_words;
    c->wavefronts += meet && !same ? 2 : 1;
    c->wavefronts_ideal += 1;
  }
}

namespace {

// Each block's observers know its own memory, so an access of several blocks' is told as one of each, block by block.
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

// Accesses that have only been noted down come before this one, if the observers are to see both.
void TellWhatIsNoted(Warp& warp, const MemoryAccess& event) {
  Engine& engine = *warp.engine;
  const bool shared = event.space == MemorySpace::kShared;
  if (!engine.takes_notes()) return;
  if (!shared && event.kind != AccessKind::kAtomic && event.order == MemoryOrder::kWeak) return;
  engine.TellSharedNotes();
  if (shared) warp.block->shared_use.Tell(ExtentOf(event));
}

}  // namespace

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
  event.waits = flags.waits;
  event.constant = flags.constant;
  event.plain_shared_load =
      region == Region::kShared && access == AccessKind::kLoad && flags.order == MemoryOrder::kWeak;
  TellWhatIsNoted(warp, event);
  for (Observer* observer : warp.engine->memory_observers()) observer->OnMemory(event);
}

void ObserveIssue(Warp& warp, const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes) {
  const MemoryAccess event = PlainAccess(warp, MemorySpace::kShared, AccessKind::kStore, address, mask, bytes,
                                         FormOf(address, mask, bytes, false));
  TellWhatIsNoted(warp, event);
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

}  // namespace lockstep::vgpu
