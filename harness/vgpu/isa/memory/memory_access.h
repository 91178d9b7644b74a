// Shared by loads, stores and atomics: address translation, checks, cost, and notifying observers.
//
// An access handles one region at a time. A region is a state space as named by the instruction; generic addresses are
// sorted into regions first. Addresses are relative to the region: a device address, or an offset in shared memory, in
// a lane's local memory or in the parameters. The most common shape, consecutive lanes at consecutive addresses, is
// tried first and is checked, counted and moved as one piece. All other shapes are handled lane by lane.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "vgpu/core/lanes.h"
#include "vgpu/core/memory_flags.h"
#include "vgpu/core/row.h"
#include "vgpu/exec/block.h"
#include "vgpu/exec/engine.h"
#include "vgpu/memory/access_cost.h"
#include "vgpu/memory/access_form.h"
#include "vgpu/memory/address_space.h"

namespace lockstep::vgpu {

enum class Region : uint8_t {
  kGlobal,
  kConst,
  kShared,
  kClusterShared,  // addresses as in exec/cluster.h: shared memory of any block in the cluster
  kLocal,
  kParameters,  // of the kernel launch
  kArea,        // a lane's parameter area, for arguments and results of calls
};

inline constexpr MemorySpace SpaceOf(Region region) {
  switch (region) {
    case Region::kGlobal:
      return MemorySpace::kGlobal;
    case Region::kConst:
      return MemorySpace::kConst;
    case Region::kShared:
    case Region::kClusterShared:
      return MemorySpace::kShared;
    case Region::kLocal:
      return MemorySpace::kLocal;
    case Region::kParameters:
    case Region::kArea:
      break;
  }
  return MemorySpace::kParam;
}

// The memory of a region: lane l's address a is at origin + a + l * lane_stride.
struct RegionMemory {
  uint8_t* origin = nullptr;
  uint64_t lane_stride = 0;
  uint64_t bytes = 0;  // a lane may access [0, bytes); unused for global, const and cluster memory
};

inline RegionMemory MemoryOf(const Warp& warp, Region region) {
  const WarpState& s = *warp.state;
  const LaunchState& launch = warp.engine->launch();
  switch (region) {
    case Region::kGlobal:
    case Region::kConst:
    case Region::kClusterShared:
      return {};
    case Region::kShared:
      return {warp.block->shared, 0, warp.block->shared_bytes};
    case Region::kLocal: {
      const Frame& frame = *s.groups[s.current].frame;
      return {s.local.get(), warp.engine->program().local_stride,
              s.local == nullptr ? 0 : frame.local_base + frame.function->local_bytes + frame.MostDynamic()};
    }
    case Region::kParameters:
      return {const_cast<uint8_t*>(launch.parameters), 0, launch.parameter_bytes};
    case Region::kArea: {
      const FunctionInfo& function = *s.groups[s.current].frame->function;
      return {warp.base[0] + function.frame_bytes, function.area_bytes, function.area_bytes};
    }
  }
  return {};
}

// Whether [low, high) is in one live allocation that the access may touch. Caches the allocation per instruction, whose
// region is always the same. Const memory is the module's .const variables and nothing else.
inline bool GlobalRangeOk(Warp& warp, AccessKind access, uint64_t low, uint64_t high, Region region = Region::kGlobal) {
  Engine& engine = *warp.engine;
  Engine::Range& range = engine.range(warp.pc - 1);
  if (low >= range.base && high <= range.end && low < high) return true;
  const Allocation* a = engine.launch().memory->Find(low);
  if (a == nullptr || high <= low || high - a->base > a->bytes) return false;
  if (a->read_only ? access != AccessKind::kLoad : region == Region::kConst) return false;
  range = {a->base, a->base + a->bytes};
  return true;
}

// Checks every lane of an access of any shape. On a fault, reports the lowest faulting lane and returns false.
bool CheckLanes(Warp& warp, Region region, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                uint32_t bytes);

// Whether every lane's access is aligned and inside the block's shared memory. Addresses are below 2^32.
inline bool LanesInShared(const Warp& warp, const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes) {
  uint64_t outside = 0, unaligned = 0;
  const uint64_t end = warp.block->shared_bytes;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t on = uint64_t{0} - ((mask >> lane) & 1);
    outside |= (end - bytes - address[lane]) & on;
    unaligned |= address[lane] & on;
  }
  return bytes <= end && (outside >> 63) == 0 && (unaligned & (bytes - 1)) == 0;
}

// Translates checked cluster addresses to host addresses.
void TranslateCluster(const Warp& warp, LaneMask mask, const uint64_t address[kWarpSize], uint64_t host[kWarpSize]);

// Each lane's base + offset; the base register has 4 or 8 bytes.
template <bool kNarrow>
inline void ReadAddresses(const Warp& warp, RowRef row, uint64_t offset, uint64_t address[kWarpSize]) {
  using Word = std::conditional_t<kNarrow, uint32_t, uint64_t>;
  const Word* base = Source<Word>(warp, row);
  for (int lane = 0; lane < kWarpSize; ++lane)
    address[lane] = static_cast<Word>(base[lane] + static_cast<Word>(offset));
}

// Counts an access of any shape.
void CountLanes(Warp& warp, Region region, AccessKind access, const uint64_t address[kWarpSize], LaneMask mask,
                int bytes);

// Whether an access that was counted in c, which had cost `before`, exceeds its ideal by more than any earlier
// execution of its instruction, so that Engine::Keep() has to keep it.
inline bool IsWorst(const Warp& warp, const PcMemory& c, const AccessCost& before) {
  return warp.engine->IsWorst(warp.pc - 1, (c.cost() - before).excess());
}
void KeepUnit(Warp& warp, AccessKind access, uint64_t first, LaneMask mask, int bytes, const AccessCost& cost);

// Keeps track of bytes [low, high) of global memory. For a load, returns how many sectors are not in the block's cache.
inline uint32_t TouchSpan(Warp& warp, AccessKind access, uint64_t low, uint64_t high) {
  return warp.engine->locality().Touch(warp.block->index, access, low >> kSectorShift, (high - 1) >> kSectorShift);
}

// Counts what bytes [low, high) of global memory cost in caches and DRAM.
inline void CountSpan(Warp& warp, PcMemory& c, AccessKind access, uint64_t low, uint64_t high) {
  const uint32_t pc = warp.pc - 1;
  const uint64_t buffer = warp.engine->range(pc).base;
  c.missed_sectors += TouchSpan(warp, access, low, high);
  c.page_switches += warp.engine->locality().Follow(pc, low - buffer, high - buffer);
}

// Counts an access in which lane l's address is first + l * bytes.
template <Region kRegion>
inline void CountUnit(Warp& warp, AccessKind access, uint64_t first, LaneMask mask, int bytes) {
  PcMemory* c = warp.engine->memory_counters(warp.pc - 1);
  if (c == nullptr && (kRegion != Region::kGlobal || !warp.engine->follows_touches())) return;
  // Full warps with aligned addresses cost the same on all hardware generations: only their number is kept. The tally
  // is of global memory only; an instruction that also accesses shared memory is counted elsewhere.
  if (kRegion == Region::kGlobal && c != nullptr && mask == kFullMask && (bytes == 4 || bytes == 8 || bytes == 16) &&
      (first & (16 * static_cast<uint64_t>(bytes) - 1)) == 0) {
    Engine::Site& site = warp.engine->site(warp.pc - 1);
    ++site.side_by_side;
    site.of_global = true;
    site.bytes = static_cast<uint8_t>(bytes);
    warp.engine->locality().BeginRequest(warp.pc - 1, warp.block->index, warp.index);
    CountSpan(warp, *c, access, first, first + static_cast<uint64_t>(bytes) * kWarpSize);
    return;
  }
  if (kRegion == Region::kGlobal && IsContiguous(mask)) {
    const uint64_t width = static_cast<uint64_t>(bytes);
    const uint64_t low = first + static_cast<uint64_t>(std::countr_zero(mask)) * width;
    const uint64_t moved = static_cast<uint64_t>(std::popcount(mask)) * width;
    if (c == nullptr) {
      TouchSpan(warp, access, low, low + moved);
      return;
    }
    const AccessCost before = c->cost();
    AddContiguousGlobalCost(low, mask, bytes, *c);
    if (IsWorst(warp, *c, before)) KeepUnit(warp, access, first, mask, bytes, c->cost() - before);
    warp.engine->locality().BeginRequest(warp.pc - 1, warp.block->index, warp.index);
    CountSpan(warp, *c, access, low, low + moved);
    return;
  }
  if (kRegion == Region::kShared && (bytes <= 4 || mask == kFullMask)) {
    AddUnitSharedCost(bytes, *c);
    return;
  }
  uint64_t address[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = first + static_cast<uint64_t>(lane * bytes);
  CountLanes(warp, kRegion, access, address, mask, bytes);
}

void CountHalves(Warp& warp, Region region, AccessKind access, const Halves& halves);

// Notifies observers. The second overload determines the access's form itself.
void ObserveLanes(Warp& warp, const Insn& insn, Region region, AccessKind access, const uint64_t address[kWarpSize],
                  LaneMask mask, uint32_t bytes, bool same_value, AccessForm form, const StoreTest* store = nullptr);
inline void ObserveLanes(Warp& warp, const Insn& insn, Region region, AccessKind access,
                         const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes, bool same_value) {
  ObserveLanes(warp, insn, region, access, address, mask, bytes, same_value,
               FormOf(address, mask, bytes, access == AccessKind::kLoad));
}

// Notifies observers that a copy that will write these bytes of shared memory has been issued.
void ObserveIssue(Warp& warp, const uint64_t address[kWarpSize], LaneMask mask, uint32_t bytes);

// For stores: whether memory already holds a lane's bytes.
template <typename Mover>
struct StoredAlready : StoreTest {
  StoredAlready(const Warp& w, const Insn& i, const RegionMemory& m, const uint64_t* a)
      : StoreTest{&Keeps}, warp(w), insn(i), memory(m), address(a) {}
  static bool Keeps(const StoreTest& test, int lane) {
    const auto& self = static_cast<const StoredAlready&>(test);
    const uint64_t at = reinterpret_cast<uint64_t>(self.memory.origin) + self.address[lane] +
                        static_cast<uint64_t>(lane) * self.memory.lane_stride;
    return Mover::Keeps(self.warp, self.insn, lane, reinterpret_cast<const uint8_t*>(at));
  }
  const Warp& warp;
  const Insn& insn;
  const RegionMemory memory;
  const uint64_t* const address;
};

// Notifies observers of a load or store.
template <typename Mover>
void ObserveMove(Warp& warp, const Insn& insn, LaneMask mask, Region region, const uint64_t address[kWarpSize],
                 bool same_value, AccessForm form) {
  if constexpr (Mover::kAccess == AccessKind::kStore) {
    const StoredAlready<Mover> store(warp, insn, MemoryOf(warp, region), address);
    ObserveLanes(warp, insn, region, Mover::kAccess, address, mask, Mover::Bytes(insn), same_value, form, &store);
  } else {
    ObserveLanes(warp, insn, region, Mover::kAccess, address, mask, Mover::Bytes(insn), same_value, form);
  }
}

// Whether lanes with the same address store the same value, according to same(lane, other lane).
template <typename F>
bool SharersAgree(const uint64_t address[kWarpSize], LaneMask mask, const F& same) {
  for (LaneMask left = mask; left != 0; left &= left - 1) {
    const int lane = std::countr_zero(left);
    for (LaneMask others = left & (left - 1); others != 0; others &= others - 1) {
      const int other = std::countr_zero(others);
      if (address[lane] == address[other] && !same(lane, other)) return false;
    }
  }
  return true;
}

// The same for an access with this pattern.
template <typename Mover>
void ObservePattern(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t address[kWarpSize],
                    const AccessPattern& pattern) {
  bool same = false;
  if constexpr (Mover::kAccess == AccessKind::kStore) {
    same = pattern.form == AccessForm::kScattered && (pattern.apart || SharersAgree(address, mask, [&](int a, int b) {
                                                        return Mover::SameValue(warp, insn, a, b);
                                                      }));
  }
  ObserveMove<Mover>(warp, insn, mask, Region::kShared, address, same, pattern.form);
}

// Loads and stores in one region. Mover moves the bytes between rows and memory:
//   static constexpr AccessKind kAccess;
//   static uint32_t Bytes(const Insn&)                    a lane's bytes; kBytes, where they are always the same
//   static void Unit(Warp&, const Insn&, LaneMask, uint8_t* lane0)
//   static void Lanes(Warp&, const Insn&, LaneMask, const RegionMemory&, const uint64_t* address)
//   static bool SameValue(const Warp&, const Insn&, int lane, int other)     stores only
//   static bool Keeps(const Warp&, const Insn&, int lane, const uint8_t* at)  stores only: the value is there already
//   static constexpr bool kConverts                       registers are of another width than the elements
//   static constexpr bool kHalves; static void Half(Warp&, const Insn&, int half, uint8_t* at, bool uniform)
template <typename Mover>
[[gnu::noinline]] void MoveLanes(Warp& warp, const Insn& insn, LaneMask mask, Region region,
                                 const uint64_t address[kWarpSize]) {
  const uint32_t bytes = Mover::Bytes(insn);
  if (!CheckLanes(warp, region, Mover::kAccess, address, mask, bytes)) return;
  CountLanes(warp, region, Mover::kAccess, address, mask, static_cast<int>(bytes));
  if (Mover::kAccess != AccessKind::kLoad && region != Region::kLocal && region != Region::kArea) {
    warp.state->wrote = true;
  }
  if (warp.engine->observed()) {
    const AccessForm form = FormOf(address, mask, bytes, Mover::kAccess == AccessKind::kLoad);
    bool same = false;
    if constexpr (Mover::kAccess == AccessKind::kStore) {
      same = form == AccessForm::kScattered && region != Region::kLocal &&
             SharersAgree(address, mask, [&](int a, int b) { return Mover::SameValue(warp, insn, a, b); });
    }
    ObserveMove<Mover>(warp, insn, mask, region, address, same, form);
  }
  if (region == Region::kClusterShared) {
    uint64_t host[kWarpSize] = {};
    TranslateCluster(warp, mask, address, host);
    Mover::Lanes(warp, insn, mask, {}, host);
    return;
  }
  Mover::Lanes(warp, insn, mask, MemoryOf(warp, region), address);
}

// Handles a full warp whose half-warps each have a simple shape; false if they do not.
template <Region kRegion, typename Mover, typename Word>
inline bool MoveHalves(Warp& warp, const Insn& insn, const Word* base, Word offset) {
  constexpr int kHalf = kWarpSize / 2;
  const uint32_t bytes = Mover::Bytes(insn);
  Halves halves{{}, {}, bytes};
  for (int half = 0; half < 2; ++half) {
    const Word* a = base + half * kHalf;
    const Word stride = static_cast<Word>(a[1] - a[0]);
    if (stride != 0 && (stride != bytes)) return false;
    if (!IsProgression<kHalf>(a, a[0], stride, kFullMask)) return false;
    halves.first[half] = static_cast<Word>(a[0] + offset);
    halves.uniform[half] = stride == 0;
    // If several lanes store to one address, the general path decides which value remains.
    if (stride == 0 && Mover::kAccess != AccessKind::kLoad) return false;
    if ((halves.first[half] & (bytes - 1)) != 0) return false;
  }
  for (int half = 0; half < 2; ++half) {
    const uint64_t low = halves.first[half], high = low + halves.Span(half);
    if (kRegion == Region::kShared ? high <= low || high > warp.block->shared_bytes
                                   : !GlobalRangeOk(warp, Mover::kAccess, low, high, kRegion)) {
      return false;
    }
  }
  if (Mover::kAccess != AccessKind::kLoad && halves.first[0] < halves.first[1] + halves.Span(1) &&
      halves.first[1] < halves.first[0] + halves.Span(0)) {
    return false;
  }
  CountHalves(warp, kRegion, Mover::kAccess, halves);
  if (Mover::kAccess != AccessKind::kLoad) warp.state->wrote = true;
  if (warp.engine->observed()) {
    uint64_t address[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = static_cast<Word>(base[lane] + offset);
    ObserveMove<Mover>(warp, insn, kFullMask, kRegion, address, false, AccessForm::kHalves);
  }
  const uint64_t memory = kRegion == Region::kShared ? reinterpret_cast<uint64_t>(warp.block->shared) : 0;
  for (int half = 0; half < 2; ++half) {
    Mover::Half(warp, insn, half, reinterpret_cast<uint8_t*>(memory + halves.first[half]), halves.uniform[half]);
  }
  return true;
}

// Whether a shared-memory access repeats the pattern of the instruction's last one, and is valid.
template <typename Mover>
[[gnu::always_inline]] inline bool FitsPattern(const Warp& warp, const Insn& insn, LaneMask mask, const uint32_t* base,
                                               uint32_t offset, const AccessPattern& pattern) {
  const uint32_t bytes = Mover::Bytes(insn);
  const uint32_t first = base[std::countr_zero(mask) & (kWarpSize - 1)];
  if (!pattern.Matches(base, first, mask)) return false;
  const uint32_t low = first + offset + pattern.low;
  const uint32_t room = warp.block->shared_bytes - low;
  if (low > warp.block->shared_bytes || pattern.span > room || (low & (bytes - 1)) != 0) return false;
  return bytes >= 4 || (first + offset) % 4 == pattern.phase;
}

// kTell: notify observers.
template <typename Mover, bool kTell>
[[gnu::noinline]] void MovePattern(Warp& warp, const Insn& insn, LaneMask mask, const uint32_t* base, uint32_t offset,
                                   Engine::Site& site) {
  const AccessPattern& pattern = *site.pattern;
  ++site.of_pattern;
  if (Mover::kAccess != AccessKind::kLoad) warp.state->wrote = true;
  const bool halves = Mover::kHalves && pattern.form == AccessForm::kHalves;
  uint64_t address[kWarpSize];
  if (!halves || kTell) {
    for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = base[lane] + offset;
  }
  if (kTell) ObservePattern<Mover>(warp, insn, mask, address, pattern);
  if constexpr (Mover::kHalves) {
    if (halves) {
      for (const int half : {0, 1}) {
        const uint32_t start = base[half * (kWarpSize / 2)] + offset;
        Mover::Half(warp, insn, half, warp.block->shared + start, pattern.uniform[half]);
      }
      return;
    }
  }
  Mover::Lanes(warp, insn, mask, {warp.block->shared, 0, warp.block->shared_bytes}, address);
}

// For an access that does not match: caches its pattern for the next execution, and performs it. False: the access is
// invalid, or the instruction's pattern keeps changing.
template <typename Mover>
[[gnu::noinline]] bool MoveNewPattern(Warp& warp, const Insn& insn, LaneMask mask, const uint32_t* base,
                                      uint32_t offset) {
  Engine& engine = *warp.engine;
  const uint32_t pc = warp.pc - 1;
  if (!engine.site(pc).LooksForPattern()) return false;
  uint64_t address[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = base[lane] + offset;
  // Misaligned or out-of-bounds accesses have no pattern.
  engine.SetPattern(pc, nullptr);
  if (!LanesInShared(warp, address, mask, Mover::Bytes(insn))) return false;
  engine.SetPattern(pc, engine.patterns().Find(base, address, mask, Mover::Bytes(insn), Mover::kAccess));
  Engine::Site& site = engine.site(pc);
  const AccessCost cost = site.pattern->cost.cost();
  if (engine.memory_counters(pc) != nullptr && engine.IsWorst(pc, cost.excess())) {
    engine.Keep(warp, MemorySpace::kShared, Mover::kAccess, address, mask, static_cast<int>(Mover::Bytes(insn)), cost);
  }
  if (!FitsPattern<Mover>(warp, insn, mask, base, offset, *site.pattern)) return false;
  (engine.observed() ? MovePattern<Mover, true> : MovePattern<Mover, false>)(warp, insn, mask, base, offset, site);
  return true;
}

// An access in which lane l's address is first + l * bytes and that has been checked.
template <Region kRegion, typename Mover>
[[gnu::noinline]] void MoveUnit(Warp& warp, const Insn& insn, LaneMask mask, uint64_t first) {
  const uint32_t bytes = Mover::Bytes(insn);
  CountUnit<kRegion>(warp, Mover::kAccess, first, mask, static_cast<int>(bytes));
  if (Mover::kAccess != AccessKind::kLoad) warp.state->wrote = true;
  if (warp.engine->observed()) {
    uint64_t address[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = first + static_cast<uint64_t>(lane) * bytes;
    ObserveMove<Mover>(warp, insn, mask, kRegion, address, false, AccessForm::kUnit);
  }
  uint8_t* const memory = kRegion == Region::kShared ? warp.block->shared : nullptr;
  Mover::Unit(warp, insn, mask, reinterpret_cast<uint8_t*>(reinterpret_cast<uint64_t>(memory) + first));
}

// The addresses are base[lane] + offset, computed in the width of Word.
template <Region kRegion, typename Mover, typename Word>
inline void Move(Warp& warp, const Insn& insn, LaneMask mask, const Word* base, Word offset) {
  constexpr bool kPatterns = kRegion == Region::kShared && sizeof(Word) == sizeof(uint32_t);
  const uint32_t bytes = Mover::Bytes(insn);
  if constexpr (kPatterns) {
    Engine::Site& site = warp.engine->site(warp.pc - 1);
    if (site.pattern != nullptr && FitsPattern<Mover>(warp, insn, mask, base, offset, *site.pattern)) {
      return (warp.engine->observed() ? MovePattern<Mover, true> : MovePattern<Mover, false>)(warp, insn, mask, base,
                                                                                              offset, site);
    }
  }
  if constexpr (kRegion == Region::kGlobal || kRegion == Region::kShared || kRegion == Region::kConst) {
    const int low_lane = std::countr_zero(mask) & (kWarpSize - 1);  // the mask is never 0 here
    const Word origin = static_cast<Word>(base[low_lane] - static_cast<Word>(low_lane) * static_cast<Word>(bytes));
    if (IsProgression<kWarpSize>(base, origin, static_cast<Word>(bytes), mask)) {
      const uint64_t low = static_cast<Word>(base[low_lane] + offset);
      const uint64_t first = low - static_cast<uint64_t>(low_lane) * bytes;
      const uint64_t high = first + static_cast<uint64_t>(kWarpSize - std::countl_zero(mask)) * bytes;
      const bool ok = kRegion == Region::kShared ? low < high && high <= warp.block->shared_bytes
                                                 : GlobalRangeOk(warp, Mover::kAccess, low, high, kRegion);
      if (ok && (low & (bytes - 1)) == 0) {
        return MoveUnit<kRegion, Mover>(warp, insn, mask, first);
      }
    }
    if constexpr (kPatterns) {
      if (MoveNewPattern<Mover>(warp, insn, mask, base, offset)) return;
    } else if constexpr (Mover::kHalves) {
      if (mask == kFullMask && MoveHalves<kRegion, Mover, Word>(warp, insn, base, offset)) return;
    }
  }
  uint64_t address[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = static_cast<Word>(base[lane] + offset);
  MoveLanes<Mover>(warp, insn, mask, kRegion, address);
}

// The bytes at a generic address as seen by one lane; nullptr if they may not be read.
uint8_t* LocateLane(Warp& warp, int lane, uint64_t generic, uint64_t bytes);

// Stores a lane's bytes, up to 8, on behalf of the instruction that runs. False after a fault.
bool StoreLane(Warp& warp, int lane, uint64_t generic, const void* from, uint32_t bytes);

// Calls f(lane) for every lane in the mask, in order.
template <typename F>
[[gnu::always_inline]] inline void ForActive(LaneMask mask, const F& f) {
  if (mask == kFullMask) {
    for (int lane = 0; lane < kWarpSize; ++lane) f(lane);
    return;
  }
  for (LaneMask left = mask; left != 0; left &= left - 1) f(std::countr_zero(left));
}

// Sorts generic addresses into regions and calls f(region, lanes, addresses relative to the region) for each, until f
// leaves the warp faulted.
template <typename F>
inline void ForRegions(Warp& warp, LaneMask mask, const uint64_t generic[kWarpSize], const F& f) {
  LaneMask left = mask;
  while (left != 0) {
    const uint64_t window = generic[std::countr_zero(left)] >> kWindowShift;
    LaneMask lanes = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      lanes |= static_cast<LaneMask>((generic[lane] >> kWindowShift) == window) << lane;
    }
    lanes &= left;
    left &= ~lanes;
    Region region = Region::kGlobal;
    uint64_t base = 0;
    switch (window) {
      case kSharedWindow >> kWindowShift:
        region = Region::kShared;
        base = kSharedWindow;
        break;
      case kLocalWindow >> kWindowShift:
        region = Region::kLocal;
        base = kLocalWindow;
        break;
      case kParamWindow >> kWindowShift:
        region = Region::kParameters;
        base = kParamWindow;
        break;
      default:
        break;
    }
    uint64_t address[kWarpSize];
    LaneMask far = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      address[lane] = generic[lane] - base;
      far |= static_cast<LaneMask>(IsOfOtherBlock(address[lane])) << lane;
    }
    far &= region == Region::kShared ? lanes : 0;
    if (far != lanes) f(region, lanes & ~far, address);
    if (warp.stop) return;
    if (far != 0) f(Region::kClusterShared, far, address);
    if (warp.stop) return;
  }
}

}  // namespace lockstep::vgpu
