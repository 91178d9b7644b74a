// Handlers of ld and st for every state space: they choose which of a mover's paths (isa/memory/memory_access.h) an
// access takes.
//
// There are many movers, and each path is compiled for each of them. So rare cases have no path of their own.
//
// The paths of a load, in the order in which they are tried, and what each gains: the factor by which kernels of
// dev/bench/speed_bench.cc slow down without it, with counters and with all checkers. Medians of seven runs of
// processor time, alternating with the unmodified code; repeated medians differ by 2 to 6 %, and factors not
// distinguishable from 1 are omitted. Stores have the same paths.
//
//   path                                                    counters                      checkers
//   AccessGlobal: full warp, consecutive, in the buffer     reduction 1.08,               -
//     that the instruction used last                          transpose_naive 1.09
//   - and its prefetch of the next step                     -                             transpose 1.13,
//                                                                                         transpose_naive 1.12
//   AccessShared: same pattern as last time (memory/        matrix_multiply 1.98,         matrix_multiply 2.85,
//     access_pattern.h), moved by MovePattern                 transpose 1.13              transpose 1.20
//   - and its half-warps moved inline                       matrix_multiply 1.04          -
//   AccessShared: consecutive, without a stack frame        scan 1.05                     scan 1.74
//   - and observers notified of both later (observers/      not for observers             matrix_multiply 2.32,
//     shared_notes.h)                                                                     scan 1.77
//   Move, MoveUnit: consecutive, any lanes and space        with all others: below
//   MoveHalves: half-warps in global and const memory       matrix_multiply 1.95          matrix_multiply 1.64
//   MoveLanes: lane by lane, works for all shapes;          matrix_multiply 6.1,          matrix_multiply 6.2,
//     without any other path                                  reduction 5.1,              reduction 3.1,
//                                                             transpose 2.8, scan 2.0     scan 2.5, transpose 2.0
#pragma once

#include "vgpu/isa/memory/memory_modifiers.h"

namespace lockstep::vgpu {

// What a load or store moves, and the kind of its address.
struct MoveShape {
  int element_bytes;  // in memory
  bool is_signed;
  int register_bytes;
  int count;
  AccessSpace space;
  int address_bytes;
};

// The handler, or nullptr if there is none.
Handler SelectLoad(const MoveShape& s);
Handler SelectStore(MoveShape s);

// Elements of 16 bytes, or 32 bytes in total: never converted, so only SelectSame handles them.
inline bool IsWide(const MoveShape& s) { return s.element_bytes == 16 || s.element_bytes * s.count == 32; }

template <Region kRegion, typename Mover, typename Word>
void Access(Warp& warp, const Insn& insn, LaneMask mask) {
  Move<kRegion, Mover, Word>(warp, insn, mask, Source<Word>(warp, Mover::Address(insn)),
                             static_cast<Word>(insn.immediate));
}

// The two hottest handlers. They handle the most common shapes without a stack frame and jump to other functions for
// everything else.

template <Region kRegion, typename Mover, typename Word>
[[gnu::noinline]] void AccessSlowly(Warp& warp, const Insn& insn, LaneMask mask) {
  Access<kRegion, Mover, Word>(warp, insn, mask);
}

// kObserved: there are observers, and they may be notified later (observers/shared_notes.h).
template <typename Mover, bool kObserved>
[[gnu::always_inline]] inline void AccessSharedAs(Warp& warp, const Insn& insn, LaneMask mask) {
  constexpr bool kStores = Mover::kAccess != AccessKind::kLoad;
  constexpr uint32_t kBytes = Mover::kBytes;
  const uint32_t* base = Source<uint32_t>(warp, Mover::Address(insn));
  const uint32_t offset = static_cast<uint32_t>(insn.immediate);
  Engine& engine = *warp.engine;
  Engine::Site& site = engine.site(warp.pc - 1);
  const uint64_t end = warp.block->shared_bytes;
  if (const AccessPattern* pattern = site.pattern.get()) {
    if (!FitsPattern<Mover>(warp, insn, mask, base, offset, *pattern)) {
      return AccessSlowly<Region::kShared, Mover, uint32_t>(warp, insn, mask);
    }
    if constexpr (kObserved) {
      if (kStores || !site.noted) return MovePattern<Mover, true>(warp, insn, mask, base, offset, site);
      const uint32_t first = base[std::countr_zero(mask) & (kWarpSize - 1)] + offset;
      const uint32_t low = first + pattern->low;
      engine.NoteLoad(warp, mask, kBytes, first, {low, uint64_t{low} + pattern->span});
    }
    if constexpr (Mover::kHalves) {
      if (pattern->form == AccessForm::kHalves) {
        ++site.of_pattern;
        if (kStores) warp.state->wrote = true;
        uint8_t* const shared = warp.block->shared;
        const uint32_t first = base[0] + offset, second = base[kWarpSize / 2] + offset;
        Mover::Half(warp, insn, 0, shared + first, pattern->uniform[0]);
        Mover::Half(warp, insn, 1, shared + second, pattern->uniform[1]);
        return;
      }
    }
    return MovePattern<Mover, false>(warp, insn, mask, base, offset, site);
  }
  if (kBytes <= 4 || mask == kFullMask) {
    const uint32_t low_lane = static_cast<uint32_t>(std::countr_zero(mask)) % kWarpSize;
    const uint32_t origin = base[low_lane] - low_lane * kBytes;
    const uint64_t low = base[low_lane] + offset;
    const uint64_t bytes =
        static_cast<uint64_t>(kWarpSize - std::countl_zero(mask) - static_cast<int>(low_lane)) * kBytes;
    if (IsProgression<kWarpSize>(base, origin, kBytes, mask) && low + bytes <= end && (low & (kBytes - 1)) == 0) {
      const uint64_t first = low - low_lane * uint64_t{kBytes};
      if constexpr (kObserved) {
        bool noted = site.noted && (!kStores || kBytes == 4);
        if (noted && kStores) {
          noted = engine.NoteStore(warp, mask, {low, low + bytes});
        } else if (noted) {
          engine.NoteLoad(warp, mask, kBytes, static_cast<uint32_t>(low), {low, low + bytes});
        }
        if (!noted) return MoveUnit<Region::kShared, Mover>(warp, insn, mask, first);
      }
      ++site.side_by_side;
      site.bytes = kBytes;
      if (kStores) warp.state->wrote = true;
      Mover::Unit(warp, insn, mask, reinterpret_cast<uint8_t*>(reinterpret_cast<uint64_t>(warp.block->shared) + first));
      return;
    }
  }
  return AccessSlowly<Region::kShared, Mover, uint32_t>(warp, insn, mask);
}

template <typename Mover>
[[gnu::noinline]] void AccessSharedObserved(Warp& warp, const Insn& insn, LaneMask mask) {
  AccessSharedAs<Mover, true>(warp, insn, mask);
}

template <typename Mover>
void AccessShared(Warp& warp, const Insn& insn, LaneMask mask) {
  if (warp.engine->observed()) return AccessSharedObserved<Mover>(warp, insn, mask);
  AccessSharedAs<Mover, false>(warp, insn, mask);
}

template <typename Mover>
void AccessGlobal(Warp& warp, const Insn& insn, LaneMask mask) {
  constexpr bool kStores = Mover::kAccess != AccessKind::kLoad;
  constexpr uint64_t kBytes = Mover::kBytes, kSpan = kWarpSize * kBytes;
  const uint64_t* base = Source<uint64_t>(warp, Mover::Address(insn));
  if (mask == kFullMask && IsProgression<kWarpSize>(base, base[0], kBytes, kFullMask)) {
    const uint64_t first = base[0] + insn.immediate;
    Engine& engine = *warp.engine;
    Engine::Site& site = engine.site(warp.pc - 1);
    // Successive warps and loop iterations usually advance by a constant step. Prefetch the next address early.
    const uint64_t next = first + (first - site.last);
    site.last = first;
    for (uint64_t at = 0; at < kSpan; at += 64) __builtin_prefetch(reinterpret_cast<const void*>(next + at), kStores);
    if (first >= site.range.base && first + kSpan <= site.range.end && first < first + kSpan &&
        (first & (kBytes - 1)) == 0) {
      if (engine.observed()) return MoveUnit<Region::kGlobal, Mover>(warp, insn, mask, first);
      if (kStores) warp.state->wrote = true;
      Mover::Unit(warp, insn, mask, reinterpret_cast<uint8_t*>(first));
      return CountUnit<Region::kGlobal>(warp, Mover::kAccess, first, kFullMask, static_cast<int>(kBytes));
    }
  }
  return AccessSlowly<Region::kGlobal, Mover, uint64_t>(warp, insn, mask);
}

// An access of any shape in a region where consecutive lanes are too rare for a fast path.
template <Region kRegion, typename Mover, bool kNarrow>
void AccessLanes(Warp& warp, const Insn& insn, LaneMask mask) {
  uint64_t address[kWarpSize];
  ReadAddresses<kNarrow>(warp, Mover::Address(insn), insn.immediate, address);
  MoveLanes<Mover>(warp, insn, mask, kRegion, address);
}

// Shared memory with 64-bit addresses.
template <typename Mover>
[[gnu::noinline]] void MoveShared(Warp& warp, const Insn& insn, LaneMask mask, Region region,
                                  const uint64_t address[kWarpSize]) {
  if constexpr (Mover::kConverts) {
    MoveLanes<Mover>(warp, insn, mask, region, address);
  } else {
    Move<Region::kShared, Mover, uint64_t>(warp, insn, mask, address, 0);
  }
}

template <typename Mover>
void AccessSharedWide(Warp& warp, const Insn& insn, LaneMask mask) {
  uint64_t address[kWarpSize];
  ReadAddresses<false>(warp, Mover::Address(insn), insn.immediate, address);
  MoveShared<Mover>(warp, insn, mask, Region::kShared, address);
}

// Shared by all movers: the rest of the access once its addresses are known.
using MoveFunction = void (*)(Warp& warp, const Insn& insn, LaneMask mask, Region region, const uint64_t* address);
void MoveCluster(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t address[kWarpSize], MoveFunction shared,
                 MoveFunction lanes);
void MoveGeneric(Warp& warp, const Insn& insn, LaneMask mask, const uint64_t* base, MoveFunction shared,
                 MoveFunction lanes);

// ld.shared::cluster and similar; usually the memory is the own block's.
template <typename Mover, bool kNarrow>
void AccessCluster(Warp& warp, const Insn& insn, LaneMask mask) {
  uint64_t address[kWarpSize];
  ReadAddresses<kNarrow>(warp, Mover::Address(insn), insn.immediate, address);
  MoveCluster(warp, insn, mask, address, MoveShared<Mover>, MoveLanes<Mover>);
}

template <typename Mover>
inline constexpr Handler kInGlobalMemory = [] {
  if constexpr (Mover::kConverts) {
    return Access<Region::kGlobal, Mover, uint64_t>;
  } else {
    return AccessGlobal<Mover>;
  }
}();
template <typename Mover>
inline constexpr Handler kInSharedMemory = [] {
  if constexpr (Mover::kConverts) {
    return Access<Region::kShared, Mover, uint32_t>;
  } else {
    return AccessShared<Mover>;
  }
}();

template <typename Mover>
void AccessGeneric(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint64_t* base = Source<uint64_t>(warp, Mover::Address(insn));
  const uint64_t offset = insn.immediate;
  // Usually all in global memory; no memory is mapped in the windows between the last special one and the first arena.
  uint64_t below = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    below |= (base[lane] + offset - kArenaWindow) & (uint64_t{0} - ((mask >> lane) & 1));
  }
  if ((below >> 63) == 0) return kInGlobalMemory<Mover>(warp, insn, mask);
  MoveGeneric(warp, insn, mask, base, MoveShared<Mover>, MoveLanes<Mover>);
}

template <typename Mover>
Handler InSpace(AccessSpace space, int address_bytes) {
  const bool narrow = address_bytes == 4;
  switch (space) {
    case AccessSpace::kGlobal:
      return narrow ? nullptr : kInGlobalMemory<Mover>;
    case AccessSpace::kConst:
      if constexpr (Mover::kAccess == AccessKind::kLoad) {
        if (narrow) return nullptr;
        if constexpr (Mover::kHalves)
          return Access<Region::kConst, Mover, uint64_t>;  // usually all lanes read one value
        return AccessLanes<Region::kConst, Mover, false>;
      }
      return nullptr;
    case AccessSpace::kGeneric:
      return narrow ? nullptr : AccessGeneric<Mover>;
    case AccessSpace::kShared:
      return narrow ? kInSharedMemory<Mover> : AccessSharedWide<Mover>;
    case AccessSpace::kCluster:
      return narrow ? AccessCluster<Mover, true> : AccessCluster<Mover, false>;
    case AccessSpace::kLocal:
      return narrow ? AccessLanes<Region::kLocal, Mover, true> : AccessLanes<Region::kLocal, Mover, false>;
    case AccessSpace::kParameters:
      return narrow ? nullptr : AccessLanes<Region::kParameters, Mover, false>;
    case AccessSpace::kArea:
      return narrow ? AccessLanes<Region::kArea, Mover, true> : AccessLanes<Region::kArea, Mover, false>;
  }
  return nullptr;
}

template <typename Mover>
Handler InGlobal(AccessSpace space, int address_bytes) {
  const bool possible = address_bytes != 4 && (space == AccessSpace::kGlobal || space == AccessSpace::kGeneric);
  return possible ? InSpace<Mover>(space, address_bytes) : nullptr;
}

// Calls f.template operator()<M, R>() with the element type in memory (M) and in the register (R).
template <typename F>
Handler ForTypes(const MoveShape& s, const F& f) {
  const auto widths = [&]<typename M>() -> Handler {
    switch (s.register_bytes) {
      case 1:
      case 2:
        if constexpr (sizeof(M) <= 2) return f.template operator()<M, uint16_t>();
        break;
      case 4:
        if constexpr (sizeof(M) <= 4) return f.template operator()<M, uint32_t>();
        break;
      case 8:
        return f.template operator()<M, uint64_t>();
    }
    return nullptr;
  };
  switch (s.element_bytes) {
    case 1:
      return s.is_signed ? widths.template operator()<int8_t>() : widths.template operator()<uint8_t>();
    case 2:
      return s.is_signed ? widths.template operator()<int16_t>() : widths.template operator()<uint16_t>();
    case 4:
      return s.is_signed ? widths.template operator()<int32_t>() : widths.template operator()<uint32_t>();
    case 8:
      return widths.template operator()<uint64_t>();
  }
  return nullptr;
}

template <template <typename, int> typename Same>
Handler SelectSame(const MoveShape& s) {
  if (s.element_bytes != s.register_bytes) return nullptr;
  switch (s.element_bytes * 16 + s.count) {
    case 4 * 16 + 1:
      return InSpace<Same<uint32_t, 1>>(s.space, s.address_bytes);
    case 4 * 16 + 2:
      return InSpace<Same<uint32_t, 2>>(s.space, s.address_bytes);
    case 4 * 16 + 4:
      return InSpace<Same<uint32_t, 4>>(s.space, s.address_bytes);
    case 8 * 16 + 1:
      return InSpace<Same<uint64_t, 1>>(s.space, s.address_bytes);
    case 8 * 16 + 2:
      return InSpace<Same<uint64_t, 2>>(s.space, s.address_bytes);
    case 4 * 16 + 8:  // 32 bytes: global memory only
      return InGlobal<Same<uint32_t, 8>>(s.space, s.address_bytes);
    case 8 * 16 + 4:
      return InGlobal<Same<uint64_t, 4>>(s.space, s.address_bytes);
    case 16 * 16 + 1:
      return InSpace<Same<unsigned __int128, 1>>(s.space, s.address_bytes);
    case 16 * 16 + 2:
      return InGlobal<Same<unsigned __int128, 2>>(s.space, s.address_bytes);
    default:
      return nullptr;
  }
}

}  // namespace lockstep::vgpu
