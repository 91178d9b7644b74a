// When two accesses race: the one place that says so.
//
// docs/concepts/fault-checking.md, Races, has the same in words, and tests/observers/race_oracle.h once more, by thread
// and byte, which random programs hold the checker against. What is quicker than to ask Race of each lane and granule
// names the clause that it rests on.
#pragma once

#include "vgpu/observers/race/access_log.h"

namespace lockstep::vgpu {

// Strong accesses are what programs synchronise by, each with those that its scope includes, and a volatile one may
// meet them. Two volatile accesses are data: what has been stored need not be what is read. Lanes of one warp that
// relaxed loads and stores alone put in an order rely on running in step: so of these a load and a store are data too.
constexpr bool MayMeet(const Access& earlier, const Access& later, bool same_block, bool same_warp) {
  const auto either = [&](Strength s) { return earlier.strength == s || later.strength == s; };
  if (either(Strength::kPlain)) return false;
  if (earlier.strength == Strength::kRelaxed && later.strength == Strength::kRelaxed) {
    return !same_warp || earlier.kind == later.kind;
  }
  if (either(Strength::kBlockStrong)) return same_block;
  return earlier.strength != Strength::kVolatile || later.strength != Strength::kVolatile;
}

// Of two accesses to one place, each by one thread, not both loads. `pair` knows of these two:
//
//   SameThread()      one thread makes both
//   HappensBefore()   barriers, fences and words order them, lanes of a warp one by one (block_clocks.h, sync_words.h);
//                     never where Unseen()
//   Unseen()          the later one is a load by a cache that need not see what the kernel has stored, the earlier one
//                     no load
//   MayMeet()         as above
//   SameValue()       of two stores: the later one leaves the place as it is; or lanes of one instruction store one
//   value SetsFlag()        of two stores: both are volatile, by one warp or on a word that somebody waits on
//   Observed()        the later one is plain, the earlier one a strong or volatile store or an atomic, and the later
//                     one's block has read the word since: so the store comes first, whatever orders the data
template <typename Pair>
[[gnu::always_inline]] inline bool Race(const Pair& pair) {
  if (pair.SameThread() || pair.HappensBefore()) return false;
  if (pair.MayMeet()) return false;
  if (pair.AreStores() && (pair.SameValue() || pair.SetsFlag())) return false;
  return pair.Unseen() || !pair.Observed();
}

}  // namespace lockstep::vgpu
