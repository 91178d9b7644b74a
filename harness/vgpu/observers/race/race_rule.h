// The definition of a race between two accesses.
//
// docs/concepts/fault-checking.md, Races, states the same in words. tests/observers/race_oracle.h implements it a
// second time, by thread and byte, and random programs compare the checker with it. Fast paths that avoid calling Race
// for each lane and granule name the clause that justifies them.
#pragma once

#include "vgpu/observers/race/access_log.h"

namespace lockstep::vgpu {

// Programs synchronise with strong accesses: these never race with each other within a common scope, nor with volatile
// ones. Two volatile accesses count as data accesses, since the value read need not be the one stored. Lanes of one
// warp ordered only by relaxed loads and stores rely on lockstep execution; so a relaxed load and a relaxed store in
// one warp count as data accesses too. With LaunchInfo::strong_is_data, so do a strong access that only writes and one
// that only reads, of any threads: being atomic does not replace a barrier between them.
constexpr bool MayMeet(const Access& earlier, const Access& later, bool same_block, bool same_warp) {
  const auto either = [&](Strength s) { return earlier.strength == s || later.strength == s; };
  if (either(Strength::kPlain)) return false;
  const auto is = [](const Access& a, Strength s, AccessKind kind) {
    return a.strength == s || (a.strength == Strength::kVolatile && a.kind == kind);
  };
  const auto is_data = [&](const Access& a, const Access& b) {
    return is(a, Strength::kReads, AccessKind::kLoad) && is(b, Strength::kWrites, AccessKind::kStore);
  };
  if (is_data(earlier, later) || is_data(later, earlier)) return false;
  if (earlier.strength == Strength::kRelaxed && later.strength == Strength::kRelaxed) {
    return !same_warp || earlier.kind == later.kind;
  }
  if (either(Strength::kBlockStrong)) return same_block;
  return earlier.strength != Strength::kVolatile || later.strength != Strength::kVolatile;
}

// Two accesses to one place, each by one thread, not both loads. `pair` provides:
//
//   SameThread()     one thread makes both
//   HappensBefore()  ordered by barriers, fences or words; per lane within a warp (block_clocks.h, sync_words.h);
//                    never true if Unseen()
//   Unseen()         the later one is a load through a cache that need not see this kernel's stores, and the earlier
//                    one is no load
//   MayMeet()        as above
//   SameValue()      two stores: the later one does not change the value; or lanes of one instruction store one value
//   SetsFlag()       two stores: both volatile, by one warp or to a word that some thread waits on
//   Observed()       the later one is plain, the earlier one a strong or volatile store or an atomic, and the later
//                    one's block has read the word since: so the store came first, however the data is ordered
template <typename Pair>
[[gnu::always_inline]] inline bool Race(const Pair& pair) {
  if (pair.SameThread() || pair.HappensBefore()) return false;
  if (pair.MayMeet()) return false;
  if (pair.AreStores() && (pair.SameValue() || pair.SetsFlag())) return false;
  return pair.Unseen() || !pair.Observed();
}

}  // namespace lockstep::vgpu
