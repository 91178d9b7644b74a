// Compares one access with a record in shadow memory, and reports races. race_rule.h defines what a race is;
// race_check.h goes through an access's granules.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "vgpu/core/hint.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/observers/finding_table.h"
#include "vgpu/observers/race/access_log.h"
#include "vgpu/observers/race/race_rule.h"
#include "vgpu/observers/race/race_shadow.h"
#include "vgpu/observers/race/race_state.h"

namespace lockstep::vgpu {

// By kind of the earlier and the later access: load, store, atomic.
inline constexpr const char* kRaceDetail[3][3] = {
    {"", "write after read", "atomic after read"},
    {"read after write", "write after write", "atomic after write"},
    {"read after atomic", "write after atomic", ""},
};

// A race between two accesses. `event` is the access just made, which may be either party; it was at `address`.
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

// One warp access that is being compared with the records.
class Comparison {
 public:
  // NOLINTNEXTLINE(readability-function-size): what the checker has at hand when an access is compared
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
  // An atomic that only reads leaves what others have written on record.
  AccessKind kind() const { return access_.strength == Strength::kReads ? AccessKind::kLoad : access_.kind; }
  bool IsOld(const Record* records, size_t count) const {  // true for nullptr
    return records == nullptr || AllBelow(records, count, floor_);
  }
  Record RecordOf(uint32_t lane) const { return MakeRecord(number_, lane); }

  // Whether the record's access happens before this one by `lane`: the first two clauses of Race. Everything below the
  // floor happened before.
  bool Ordered(Record record, uint32_t lane) {
    if (record < floor_) return true;
    LookUp(record);
    return seen_ || OrderedByLane(record, lane);
  }
  // has_read: this thread has read the word since it was last written. Then its store comes after what it has read; a
  // store without a fence or such a read may overtake what others did before they released a lock.
  bool Races(Record record, uint32_t lane, bool has_read = false) {
    if (record < floor_) return false;
    LookUp(record);
    if (seen_ || may_meet_) return false;  // these two clauses do not depend on the lane
    if (told_ && has_read) return false;
    return Race(Pair{*this, record, lane});
  }
  bool IsOwn(Record record, uint32_t lane) {
    if (record < floor_) return false;
    LookUp(record);
    return same_warp_ && LaneOf(record) == lane;
  }
  // A load of at least 8 bytes, by which threads synchronise.
  bool wide() const { return access_.strength != Strength::kPlain && event_.bytes >= 8; }
  // Whether two halves of the value come from two stores of one thread with nothing between them, and the load is not
  // ordered after these: then it may see one without the other. Two plain stores race with the load anyway.
  bool Torn(Record upper, Record lower, uint32_t lane) {
    if (upper < floor_ || lower < floor_ || LaneOf(upper) != LaneOf(lower) || Ordered(lower, lane)) return false;
    const Access one = old_;
    if (Ordered(upper, lane) || !may_meet_ || one.pc == old_.pc) return false;
    return one.block_index == old_.block_index && one.warp == old_.warp && one.time == old_.time &&
           one.kind == AccessKind::kStore && old_.kind == AccessKind::kStore;
  }
  // Ordered, for a run in step; the record and `lane` are its first ones. RunHarmless uses only the ordering clauses
  // and MayMeet, for all lanes; if it returns false, Races must decide.
  bool RunOrdered(Record record, uint32_t lane) {
    if (record < floor_) return true;
    LookUp(record);
    return seen_ || (same_warp_ && LaneOf(record) == lane);
  }
  bool RunHarmless(Record record, uint32_t lane) { return RunOrdered(record, lane) || may_meet_; }
  // No lane of the run is ordered after its record. This and RunOrdered are both false only after a __syncwarp among
  // some of the lanes.
  bool RunUnordered(Record record, uint32_t lane) {
    if (record < floor_) return false;
    LookUp(record);
    return !seen_ && (!same_warp_ || (LaneOf(record) != lane && !block_.clocks.HasLaneClocks(access_.warp)));
  }
  // Reads of global memory that two blocks have already done: see ShadowRegion::Crowded.
  bool Crowded(const ShadowRegion& region) const {
    return access_.kind == AccessKind::kLoad && order_ != nullptr && region.Crowded(order_->words.published());
  }
  void AddCrowded(ShadowRegion& region, size_t granules, Record read) {
    if (order_ == nullptr) return;
    LookUp(read);
    if (old_.block_index != access_.block_index) region.AddCrowded(granules, order_->words.published());
  }
  // Whether this read, which is ordered after neither of two recorded reads, replaces the second. A write that races
  // with the dropped read must also race with one of the remaining two. That holds if these are of two different
  // blocks. It also holds if they are of two warps of this read's own block: a write ordered after both follows a
  // barrier of that block.
  bool TakesPlace(Record first, Record second) {
    LookUp(first);
    const uint32_t warp = old_.warp, block_index = old_.block_index;
    LookUp(second);
    if (block_index != old_.block_index) return false;
    return warp == old_.warp || block_index != access_.block_index;
  }

  // word: index of a 4-byte word in the region. A lane's races in several bytes of one word count as one, as with
  // 4-byte granules.
  void Report(Record record, uint32_t lane, uint64_t address, size_t word, Hint clue = Hint::kNone) {
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
    const auto either = [&](Strength s) { return old_.strength == s || access_.strength == s; };
    const bool plain = either(Strength::kPlain);
    finding.clue = !plain && (either(Strength::kReads) || either(Strength::kWrites)) ? Hint::kOrdersNothing : clue_;
    if (clue != Hint::kNone) finding.clue = clue;
    findings_.Add(finding);
  }

 private:
  // Whether the older access, with this number, is shown second in the message. The real order of two racing accesses
  // is unknown, and the order in which warps take turns is arbitrary. By default the lower warp's access is shown
  // first. But the source's order is that in which one thread executes both: if the lower warp, since it last
  // synchronised, executed the other instruction before its own, its access is shown second. (A warp runs ahead, and
  // another warp's load finds its store: the race is a write after a read.)
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
  // The ordering that seems to be missing between a load and a store of threads that synchronise through words.
  Hint ClueOf() const {
    if (unseen_by_cache_) return Hint::kConstantLoad;
    if (same_warp_ || (old_.kind == AccessKind::kLoad) == (access_.kind == AccessKind::kLoad)) return Hint::kNone;
    if (old_.kind == AccessKind::kAtomic || access_.kind == AccessKind::kAtomic) return Hint::kNone;
    const BlockClocks& own = block_.clocks;
    if (old_.kind == AccessKind::kLoad) {
      // The store happens after the load's block has already acquired something from the storing block.
      const BlockClocks* reader = order_->Running(old_.block_index);
      const bool told = reader != nullptr && old_.block_index != access_.block_index &&
                        reader->known(old_.warp).TimesOf(access_.block_index) != nullptr;
      return told ? Hint::kLateRelease : Hint::kNone;
    }
    const auto covers = [&](const OrderClock& clock) { return clock.Covers(old_.block_index, old_.warp, old_.time); };
    const LevelClocks& pending = own.pending(access_.warp);
    if (covers(pending[kDeviceLevel])) {
      return own.fenced_narrowly(access_.warp) ? Hint::kNarrowAcquire : Hint::kNoAcquire;
    }
    if (covers(pending[kClusterLevel]) || covers(pending[kBlockLevel])) return Hint::kNoAcquire;
    if (old_.block_index == access_.block_index || !own.heard()) return Hint::kNone;
    const FencedTimes fenced = order_->FencedBy(old_.block_index);
    if (FencedTimes::Covers(fenced.device, old_.warp, old_.time)) return Hint::kLateRelease;
    if (FencedTimes::Covers(fenced.block, old_.warp, old_.time)) return Hint::kNarrowRelease;
    return own.known(access_.warp).TimesOf(old_.block_index) != nullptr ? Hint::kLateRelease : Hint::kNoRelease;
  }
  // Caches the facts about a record's access; the next record is usually of the same one.
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
    told_ = !seen_ && access_.strength != Strength::kPlain &&
            block_.clocks.HasAcquired(access_.warp, old_.block_index, old_.warp, old_.time);
    if (access_.kind != AccessKind::kStore) seen_ |= told_;
    may_meet_ = MayMeet(old_, access_, same_block, same_warp_);
  }
  // Whether accesses that are not ordered in all lanes are ordered in these two.
  bool OrderedByLane(Record record, uint32_t lane) const {
    if (!same_warp_) return false;
    if (LaneOf(record) == lane) return true;
    return !unseen_ && block_.clocks.SeenByLane(access_.warp, LaneOf(record), old_.time, lane);
  }

  // The looked-up access by the record's lane, and this one by `lane`.
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
    // Whether a lower lane made the record in this very execution of the instruction. The access number does not show
    // that: an instruction keeps its number across executions until the warp synchronises.
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
  const LaunchOrder* order_;        // nullptr for a block's shared memory
  const Access& access_;
  const uint32_t number_;
  const Record floor_;
  const MemoryAccess& event_;
  FindingTable& findings_;
  uint32_t looked_up_ = 0;
  Access old_;
  bool same_warp_ = false, seen_ = false, may_meet_ = false;
  bool told_ = false;  // an atomic of the warp has read what was published after the old access, with no fence since
  // This access is a load through the constant cache, the old one no load; and the old one came before it.
  bool unseen_ = false, unseen_by_cache_ = false;
  Hint clue_ = Hint::kNone;
  uint32_t clue_of_ = 0;   // the access number that clue_ belongs to
  Reported last_[2] = {};  // for a write, for a read; no record is 0
};

}  // namespace lockstep::vgpu
