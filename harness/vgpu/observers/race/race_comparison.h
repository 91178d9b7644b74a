// Holds one access against the records of shadow memory: a granule at a time, or a run of them where they are alike.
// What a race is stands in race_rule.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/observers/checkers.h"
#include "vgpu/observers/finding_table.h"
#include "vgpu/observers/race/access_log.h"
#include "vgpu/observers/race/race_rule.h"
#include "vgpu/observers/race/race_shadow.h"
#include "vgpu/observers/race/race_state.h"

namespace lockstep::vgpu {

// By the kinds of the earlier and the later access: load, store, atomic.
inline constexpr const char* kRaceDetail[3][3] = {
    {"", "write after read", "atomic after read"},
    {"read after write", "write after write", "atomic after write"},
    {"read after atomic", "write after atomic", ""},
};

// A race between two accesses. `event` is the one just made, by whichever party; it was at `address`.
inline RawFinding RaceOf(const Party& first, const Party& second, const MemoryAccess& event, uint64_t address) {
  RawFinding finding;
  finding.kind = FindingKind::kRace;
  finding.first = first;
  finding.has_second = true;
  finding.second = second;
  finding.has_memory = true;
  finding.space = event.space;
  finding.address = address;
  finding.bytes = event.bytes;
  finding.detail = kRaceDetail[static_cast<int>(first.access)][static_cast<int>(second.access)];
  return finding;
}

// One warp access while it is held against the records.
class Comparison {
 public:
  Comparison(const AccessLog& log, const BlockState& block, const BlockState::Cache& cache, const LaunchOrder* order,
             const Access& access, uint32_t number, Record floor, const MemoryAccess& event, FindingTable& findings)
      : log_(log),
        block_(block),
        cache_(cache),
        order_(order),
        access_(access),
        number_(number),
        floor_(floor),
        event_(event),
        findings_(findings) {}

  Record floor() const { return floor_; }
  bool strong() const { return access_.strength == Strength::kStrong; }
  bool IsOld(const Record* records, size_t count) const {  // also nullptr
    return records == nullptr || AllBelow(records, count, floor_);
  }
  Record RecordOf(uint32_t lane) const { return MakeRecord(number_, lane); }

  // Whether the record's access comes before this one by `lane`: the first two clauses of Race. What lies below the
  // floor happened before.
  bool Ordered(Record record, uint32_t lane) {
    if (record < floor_) return true;
    LookUp(record);
    return seen_ || OrderedByLane(record, lane);
  }
  bool Races(Record record, uint32_t lane) {
    if (record < floor_) return false;
    LookUp(record);
    if (seen_ || may_meet_) return false;  // two clauses that do not ask for lanes
    return Race(Pair{*this, record, lane});
  }
  // The same for a run in step that begins with the record, at `lane`. RunHarmless: by the clauses of order and MayMeet
  // alone, for all lanes; false leaves it to Races to say.
  bool RunOrdered(Record record, uint32_t lane) {
    if (record < floor_) return true;
    LookUp(record);
    return seen_ || (same_warp_ && LaneOf(record) == lane);
  }
  bool RunHarmless(Record record, uint32_t lane) { return RunOrdered(record, lane) || may_meet_; }
  // No lane of the run is ordered behind its record. Both this and RunOrdered are false only where a __syncwarp among
  // some lanes tells them apart.
  bool RunUnordered(Record record, uint32_t lane) {
    if (record < floor_) return false;
    LookUp(record);
    return !seen_ && (!same_warp_ || (LaneOf(record) != lane && !block_.clocks.TellsLanesApart(access_.warp)));
  }
  // Reads of global memory that two blocks have done already: see ShadowRegion::Crowded.
  bool Crowded(const ShadowRegion& region) const {
    return access_.kind == AccessKind::kLoad && order_ != nullptr && region.Crowded(order_->words.published());
  }
  void AddCrowded(ShadowRegion& region, size_t granules, Record read) {
    if (order_ == nullptr) return;
    LookUp(read);
    if (old_.block_index != access_.block_index) region.AddCrowded(granules, order_->words.published());
  }
  // Whether this read, ordered behind neither of two, is to take the second one's place. A write that races with the
  // one that is left out has to race with one of the two that stay. It does where they are of two blocks, and of two
  // warps of one block where this read is of that block too: what comes behind both comes behind a barrier of theirs.
  bool TakesPlace(Record first, Record second) {
    LookUp(first);
    const uint32_t warp = old_.warp, block_index = old_.block_index;
    LookUp(second);
    if (block_index != old_.block_index) return false;
    return warp == old_.warp || block_index != access_.block_index;
  }

  // word: of 4 bytes, in the region. What a lane meets in several bytes of a word is one race, as it is where the
  // region knows no smaller granules.
  void Report(Record record, uint32_t lane, uint64_t address, size_t word) {
    LookUp(record);
    const int load = old_.kind == AccessKind::kLoad ? 1 : 0;
    Reported& last = last_[load];
    if (last.record == record && last.lane == lane && last.word == word) return;
    last = {record, lane, word};
    Party first = {old_.block_index, old_.warp * kWarpSize + LaneOf(record), old_.pc, old_.kind};
    Party second = {access_.block_index, access_.warp * kWarpSize + lane, access_.pc, access_.kind};
    if (!unseen_by_cache_ && ComesSecond(AccessOf(record))) std::swap(first, second);
    RawFinding finding = RaceOf(first, second, event_, address);
    if (order_ != nullptr && clue_of_ != looked_up_) {
      clue_ = ClueOf();
      clue_of_ = looked_up_;
    }
    finding.clue = clue_;
    findings_.Add(finding);
  }

 private:
  // Whether the older access, of this number, is the message's second. Nothing says which of two racing accesses comes
  // first, and warps take turns in orders that mean nothing. So the lower warp's comes first; but what a programmer
  // wrote is the order in which one thread does both: where the lower warp had, since it last synchronised, done the
  // other instruction before its own, that warp's access is the one behind it. (A warp runs ahead, and another warp's
  // load finds its store: the race is a write after a read.)
  bool ComesSecond(uint32_t number) const {
    const auto did_before = [&](uint32_t warp, uint32_t time, uint32_t pc, uint32_t before) {
      if (same_warp_ || old_.pc == access_.pc) return false;
      const BlockState::CachedAccess& own =
          cache_.accesses[warp * BlockState::kCachedPcs + pc % BlockState::kCachedPcs];
      return own.pc == pc && own.time == time && own.number < before && own.number >= cache_.oldest;
    };
    if (old_.block_index != access_.block_index) return false;
    if (old_.warp <= access_.warp) return did_before(old_.warp, old_.time, access_.pc, number);
    return !did_before(access_.warp, access_.time, old_.pc, number_);
  }
  // What seems to be missing between a load and a store of two threads that tell each other things by words.
  OrderClue ClueOf() const {
    if (unseen_by_cache_) return OrderClue::kConstantLoad;
    if (same_warp_ || (old_.kind == AccessKind::kLoad) == (access_.kind == AccessKind::kLoad)) return OrderClue::kNone;
    if (old_.kind == AccessKind::kAtomic || access_.kind == AccessKind::kAtomic) return OrderClue::kNone;
    const BlockClocks& own = block_.clocks;
    if (old_.kind == AccessKind::kLoad) {
      // The store comes when the load's block has already acquired something of the storing block.
      const BlockClocks* reader = order_->Running(old_.block_index);
      const bool told = reader != nullptr && old_.block_index != access_.block_index &&
                        reader->known(old_.warp).TimesOf(access_.block_index) != nullptr;
      return told ? OrderClue::kLateRelease : OrderClue::kNone;
    }
    const auto covers = [&](const OrderClock& clock) { return clock.Covers(old_.block_index, old_.warp, old_.time); };
    const LevelClocks& pending = own.pending(access_.warp);
    if (covers(pending[kDeviceLevel])) {
      return own.fenced_narrowly(access_.warp) ? OrderClue::kNarrowAcquire : OrderClue::kNoAcquire;
    }
    if (covers(pending[kClusterLevel]) || covers(pending[kBlockLevel])) return OrderClue::kNoAcquire;
    if (old_.block_index == access_.block_index || !own.heard()) return OrderClue::kNone;
    const FencedTimes fenced = order_->FencedBy(old_.block_index);
    if (FencedTimes::Covers(fenced.device, old_.warp, old_.time)) return OrderClue::kLateRelease;
    if (FencedTimes::Covers(fenced.block, old_.warp, old_.time)) return OrderClue::kNarrowRelease;
    return own.known(access_.warp).TimesOf(old_.block_index) != nullptr ? OrderClue::kLateRelease
                                                                        : OrderClue::kNoRelease;
  }
  // Facts about a record's access, kept for the next record, which is mostly of the same one.
  void LookUp(Record record) {
    const uint32_t number = AccessOf(record);
    if (number == looked_up_) return;
    looked_up_ = number;
    old_ = log_[number];
    const bool same_block = old_.block_index == access_.block_index;
    same_warp_ = same_block && old_.warp == access_.warp;
    seen_ = same_block ? block_.clocks.SeenByAllLanes(old_.warp, old_.time, access_.warp)
                       : block_.clocks.known(access_.warp).Covers(old_.block_index, old_.warp, old_.time);
    unseen_ = event_.constant && old_.kind != AccessKind::kLoad;
    unseen_by_cache_ = unseen_ && seen_;
    if (unseen_) seen_ = false;
    if (!seen_ && access_.strength != Strength::kPlain) {
      seen_ = block_.clocks.IsTold(access_.warp, old_.block_index, old_.warp, old_.time);
    }
    may_meet_ = MayMeet(old_, access_, same_block, same_warp_);
  }
  // Where not all lanes are behind it.
  bool OrderedByLane(Record record, uint32_t lane) const {
    if (!same_warp_) return false;
    if (LaneOf(record) == lane) return true;
    return !unseen_ && block_.clocks.SeenByLane(access_.warp, LaneOf(record), old_.time, lane);
  }

  // The access that has been looked up, of the record's lane, and this one by `lane`.
  struct Pair {
    const Comparison& c;
    const Record record;
    const uint32_t lane;

    bool SameThread() const { return c.same_warp_ && LaneOf(record) == lane; }
    bool Unseen() const { return c.unseen_; }
    bool HappensBefore() const { return c.seen_ || c.OrderedByLane(record, lane); }
    bool MayMeet() const { return c.may_meet_; }
    bool AreStores() const { return c.old_.kind == AccessKind::kStore && c.access_.kind == AccessKind::kStore; }
    bool SameValue() const { return JustMade() ? c.event_.same_value : c.event_.KeepsValue(lane); }
    bool SetsFlag() const {
      return c.order_ != nullptr && c.old_.strength == Strength::kVolatile &&
             c.access_.strength == Strength::kVolatile &&
             (c.same_warp_ || c.order_->words.IsFlag(c.event_.address[lane]));
    }
    bool Observed() const {
      return c.access_.strength == Strength::kPlain && c.old_.strength != Strength::kPlain &&
             c.old_.kind != AccessKind::kLoad && c.order_ != nullptr &&
             c.order_->words.Observed(c.event_.address[lane], c.event_.bytes, c.access_.block_index);
    }
    // Whether a lower lane has left the record by this very execution of the instruction. The number does not tell: an
    // instruction keeps it from one of its executions to the next while the warp does not synchronise.
    bool JustMade() const {
      const uint32_t lower = LaneOf(record);
      return AccessOf(record) == c.number_ && lower < lane && (c.event_.mask >> lower & 1) != 0 &&
             c.event_.address[lower] == c.event_.address[lane];
    }
  };

  struct Reported {
    Record record;
    uint32_t lane;
    size_t word;
  };

  const AccessLog& log_;
  const BlockState& block_;
  const BlockState::Cache& cache_;  // of the accesses in log_
  const LaunchOrder* order_;        // nullptr: of a block's shared memory
  const Access& access_;
  const uint32_t number_;
  const Record floor_;
  const MemoryAccess& event_;
  FindingTable& findings_;
  uint32_t looked_up_ = 0;
  Access old_;
  bool same_warp_ = false, seen_ = false, may_meet_ = false;
  bool unseen_ = false, unseen_by_cache_ = false;  // a load by the constant cache: of a store; of one that is ordered
  OrderClue clue_ = OrderClue::kNone;
  uint32_t clue_of_ = 0;   // the number of the access that it is about
  Reported last_[2] = {};  // against a write, a read; no record is 0
};

// Two strong accesses never race, so the strong write that CheckGranule passes over for them is none that Race would
// name; and as what a strong write leaves is kept apart, no plain write is hidden behind it.
static_assert(MayMeet({.strength = Strength::kStrong}, {.strength = Strength::kStrong}, false, false));

// One granule, one lane, where nothing has happened since the floor moved that the access could clash with: what lies
// below the floor happened before, and two loads do not race.
[[gnu::always_inline]] inline bool CheckFreshGranule(const Comparison& c, ShadowRegion& region, size_t granule,
                                                     uint32_t lane, AccessKind kind) {
  const Trace own = kind == AccessKind::kLoad ? kRead : kLastWrite;
  const Trace clash = kind == AccessKind::kLoad ? kLastWrite : kRead;
  return region.At(clash, granule) < c.floor() && region.At(kStrongWrite, granule) < c.floor() && !c.strong() &&
         region.Renew(own, granule, c.floor(), c.RecordOf(lane));
}

// One granule, one lane.
[[gnu::noinline]] inline void CheckGranule(Comparison& c, ShadowRegion& region, size_t granule, uint32_t lane,
                                           AccessKind kind, uint64_t address) {
  const Record write = region.At(kLastWrite, granule);
  const Record strong_write = region.At(kStrongWrite, granule);
  const Record read = region.At(kRead, granule);
  const Record other = region.At(kOtherRead, granule);
  const Record record = c.RecordOf(lane);
  const size_t word = granule << region.shift() >> 2;
  if (c.Races(write, lane)) {
    c.Report(write, lane, address, word);
  } else if (!c.strong() && c.Races(strong_write, lane)) {
    c.Report(strong_write, lane, address, word);
  }
  if (kind == AccessKind::kLoad) {
    if (c.Ordered(read, lane)) {
      *region.Touch(kRead, granule, 1) = record;
    } else if (c.Ordered(other, lane) || c.TakesPlace(read, other)) {
      *region.Touch(kOtherRead, granule, 1) = record;
    }
    return;
  }
  if (c.Races(read, lane)) {
    c.Report(read, lane, address, word);
  } else if (c.Races(other, lane)) {
    c.Report(other, lane, address, word);
  }
  if (c.strong()) {
    *region.Touch(kStrongWrite, granule, 1) = record;
    return;
  }
  // What races with the reads or the strong write races with this write too.
  *region.Touch(kLastWrite, granule, 1) = record;
  for (const auto& [trace, old] : {std::pair{kRead, read}, {kOtherRead, other}, {kStrongWrite, strong_write}}) {
    if (old != 0) *region.Touch(trace, granule, 1) = 0;
  }
}

// A run of granules, hit by neighbouring lanes from `lane` on.
struct Run {
  size_t granule, count;
  uint32_t lane;
  int lane_shift;  // granules a lane = 1 << lane_shift

  Run Part(size_t begin, size_t end) const {  // begin at a lane's first granule
    return {granule + begin, end - begin, lane + static_cast<uint32_t>(begin >> lane_shift), lane_shift};
  }
  bool IsLines() const {
    return (granule | count) % kLineGranules == 0 && lane_shift <= ShadowRegion::kMaximumLaneShift;
  }
};

// The same for a line and the lane at its first granule, from the line's records alone.
inline bool CheckLine(Comparison& c, ShadowRegion& region, size_t line, uint32_t lane, int lane_shift,
                      AccessKind kind) {
  using Line = ShadowRegion::Line;
  const auto known = [&](const Line& l) { return !l.mixed && (l.first == 0 || l.lane_shift == lane_shift); };
  const auto put = [&](Trace trace) { region.SetLine(trace, line, c.RecordOf(lane), lane_shift); };
  const Line strong = region.LineOf(kStrongWrite, line, c.floor());
  if (c.strong() || strong.mixed || strong.first != 0) return false;
  const Line write = region.LineOf(kLastWrite, line, c.floor());
  if (!known(write) || (write.first != 0 && !c.RunHarmless(write.first, lane))) return false;
  const Line read = region.LineOf(kRead, line, c.floor());
  if (!known(read)) return false;
  if (kind == AccessKind::kLoad && read.first == 0) {
    put(kRead);
    return true;
  }
  const Line other = read.first == 0 ? Line{} : region.LineOf(kOtherRead, line, c.floor());
  if (!known(other)) return false;
  if (kind != AccessKind::kLoad) {
    if (read.first != 0 && !c.RunHarmless(read.first, lane)) return false;
    if (other.first != 0 && !c.RunHarmless(other.first, lane)) return false;
    put(kLastWrite);
    if (read.first != 0) region.ClearLine(kRead, line);
    if (other.first != 0) region.ClearLine(kOtherRead, line);
    return true;
  }
  if (c.RunOrdered(read.first, lane)) {
    put(kRead);
    return true;
  }
  if (!c.RunUnordered(read.first, lane)) return false;
  if (other.first == 0) {
    put(kOtherRead);
    c.AddCrowded(region, kLineGranules, read.first);
    return true;
  }
  if (c.RunOrdered(other.first, lane)) {
    put(kOtherRead);
    return true;
  }
  if (!c.RunUnordered(other.first, lane)) return false;
  if (c.TakesPlace(read.first, other.first)) put(kOtherRead);
  return true;
}

// What CheckGranule comes to for each granule of a run, where RunHarmless and RunOrdered answer for all lanes. False,
// and nothing done, where granules may differ or there is something to report.
inline bool CheckAtOnce(Comparison& c, ShadowRegion& region, const Run& run, AccessKind kind) {
  const size_t granule = run.granule, count = run.count;
  const uint32_t lane = run.lane;
  const int lane_shift = run.lane_shift;
  const auto put = [&](Trace trace) { Fill(region.Touch(trace, granule, count), count, c.RecordOf(lane), lane_shift); };
  if (c.strong() || !c.IsOld(region.Since(kStrongWrite, granule, count), count)) return false;
  const Record* write = region.Since(kLastWrite, granule, count);
  if (!c.IsOld(write, count) && !(AllInStep(write, count, lane_shift) && c.RunHarmless(*write, lane))) return false;
  const Record* read = region.Since(kRead, granule, count);
  const bool read_old = c.IsOld(read, count);
  if (read_old && kind == AccessKind::kLoad) {
    put(kRead);
    return true;
  }
  if (!read_old && !AllInStep(read, count, lane_shift)) return false;
  const Record* other = read_old ? nullptr : region.Since(kOtherRead, granule, count);
  const bool other_old = c.IsOld(other, count);
  if (!other_old && !AllInStep(other, count, lane_shift)) return false;
  if (kind != AccessKind::kLoad) {
    if (!read_old && !c.RunHarmless(*read, lane)) return false;
    if (!other_old && !c.RunHarmless(*other, lane)) return false;
    put(kLastWrite);
    if (!read_old) std::fill_n(region.Touch(kRead, granule, count), count, 0u);
    if (!other_old) std::fill_n(region.Touch(kOtherRead, granule, count), count, 0u);
    return true;
  }
  if (c.RunOrdered(*read, lane)) {
    put(kRead);
    return true;
  }
  if (!c.RunUnordered(*read, lane)) return false;
  if (other_old) {
    put(kOtherRead);
    c.AddCrowded(region, count, *read);
    return true;
  }
  if (c.RunOrdered(*other, lane)) {
    put(kOtherRead);
    return true;
  }
  if (!c.RunUnordered(*other, lane)) return false;
  if (c.TakesPlace(*read, *other)) put(kOtherRead);
  return true;
}

// Where the records of a trace cease to be alike: one access's in step, or all below the floor.
inline void MarkBreaks(const Record* records, size_t count, Record floor, uint32_t* breaks) {
  if (records == nullptr) return;
  for (size_t k = 1; k < count; ++k) {
    const uint32_t old = (records[k] < floor) & (records[k - 1] < floor);
    const uint32_t in_step = (records[k] == records[k - 1] + 1) & (LaneOf(records[k]) != 0);
    breaks[k] |= (old | in_step) ^ 1;
  }
}

inline void CheckPart(Comparison& c, ShadowRegion& region, const Run& run, AccessKind kind, uint64_t address) {
  if (CheckAtOnce(c, region, run, kind)) return;
  const auto one_by_one = [&](size_t begin, size_t end) {
    for (size_t k = begin; k < end; ++k) {
      CheckGranule(c, region, run.granule + k, run.lane + static_cast<uint32_t>(k >> run.lane_shift), kind,
                   address + ((k >> run.lane_shift) << (run.lane_shift + region.shift())));
    }
  };
  if (run.lane_shift != 0 || run.count > kWarpSize) {
    one_by_one(0, run.count);
    return;
  }
  // In the last steps of a tree, a run's records come from two or three accesses: its pieces are alike.
  uint32_t breaks[kWarpSize] = {};
  for (const Trace trace : {kLastWrite, kRead, kOtherRead}) {
    MarkBreaks(region.Since(trace, run.granule, run.count), run.count, c.floor(), breaks);
  }
  for (size_t begin = 0, end; begin < run.count; begin = end) {
    for (end = begin + 1; end < run.count && breaks[end] == 0; ++end) {
    }
    if (!CheckAtOnce(c, region, run.Part(begin, end), kind)) one_by_one(begin, end);
  }
}

inline void CheckRun(Comparison& c, ShadowRegion& region, const Run& run, AccessKind kind, uint64_t address) {
  if (c.Crowded(region)) return;
  if (!run.IsLines()) {
    CheckPart(c, region, run, kind, address);
    return;
  }
  for (size_t at = 0; at < run.count; at += kLineGranules) {
    const Run part = run.Part(at, at + kLineGranules);
    if (CheckLine(c, region, part.granule / kLineGranules, part.lane, part.lane_shift, kind)) continue;
    CheckPart(c, region, part, kind, address + (at << region.shift()));
  }
}

}  // namespace lockstep::vgpu
