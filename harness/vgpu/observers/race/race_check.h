// Checks the granules of one access: one by one or, if their records are alike, all at once. The latter is done for
// consecutive granules (a run) and for separate ones (a spread).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "vgpu/memory/coalescing.h"
#include "vgpu/observers/race/race_comparison.h"

namespace lockstep::vgpu {

// Two strong accesses never race, so CheckGranule may skip the strong write record for a strong access. Since strong
// writes are recorded separately, they do not hide a plain write.
static_assert(MayMeet({.strength = Strength::kStrong}, {.strength = Strength::kStrong}, false, false));

// One granule, one lane; fast path for granules without a conflicting record above the floor. Everything below the
// floor happened before, and two loads do not race.
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
  // With two reads of others on record, this thread's own may have been left out.
  const bool has_read = kind == AccessKind::kStore &&
                        (c.IsOwn(read, lane) || c.IsOwn(other, lane) || (read >= c.floor() && other >= c.floor()));
  if (c.Races(write, lane, has_read)) {
    c.Report(write, lane, address, word);
  } else if (!c.strong() && c.Races(strong_write, lane, has_read)) {
    c.Report(strong_write, lane, address, word);
  }
  if (kind == AccessKind::kLoad) {
    const size_t bytes = granule << region.shift();
    const auto last_write = [&](size_t g) {  // any other write would have cleared the strong one
      const Record strong = region.At(kStrongWrite, g);
      return strong != 0 ? strong : region.At(kLastWrite, g);
    };
    if (c.wide() && (bytes & 4) != 0 &&
        c.Torn(last_write(granule), last_write(granule - (4u >> region.shift())), lane)) {
      c.Report(last_write(granule), lane, address, word, Hint::kTornValue);
    }
    if (c.Ordered(read, lane)) {
      *region.Touch(kRead, granule, 1) = record;
    } else if (c.Ordered(other, lane) || c.TakesPlace(read, other)) {
      *region.Touch(kOtherRead, granule, 1) = record;
    }
    return;
  }
  if (c.Races(read, lane, has_read)) {
    c.Report(read, lane, address, word);
  } else if (c.Races(other, lane, has_read)) {
    c.Report(other, lane, address, word);
  }
  if (c.strong()) {
    *region.Touch(kStrongWrite, granule, 1) = record;
    return;
  }
  // An access that races with the reads or the strong write races with this write too.
  *region.Touch(kLastWrite, granule, 1) = record;
  for (const auto& [trace, old] : {std::pair{kRead, read}, {kOtherRead, other}, {kStrongWrite, strong_write}}) {
    if (old != 0) *region.Touch(trace, granule, 1) = 0;
  }
}

// A run of granules accessed by consecutive lanes, the first being `lane`.
struct Run {
  size_t granule, count;
  uint32_t lane;
  int lane_shift;  // granules per lane = 1 << lane_shift

  Run Part(size_t begin, size_t end) const {  // begin: a lane's first granule
    return {granule + begin, end - begin, lane + static_cast<uint32_t>(begin >> lane_shift), lane_shift};
  }
  bool IsLines() const {
    return (granule | count) % kLineGranules == 0 && lane_shift <= ShadowRegion::kMaximumLaneShift;
  }
};

// Checks a line using only its line records. lane: the lane that accesses its first granule.
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

struct RunRecords {
  ShadowRegion& region;
  const Run& run;

  size_t count() const { return run.count; }
  uint32_t lane() const { return run.lane; }
  // nullptr: none since the floor rose.
  const Record* Since(Trace trace) const { return region.Since(trace, run.granule, run.count); }
  static Record First(const Record* records) { return records[0]; }
  bool InStep(const Record* records) const { return AllInStep(records, run.count, run.lane_shift); }
  void Put(Trace trace, Record first) const {
    Fill(region.Touch(trace, run.granule, run.count), run.count, first, run.lane_shift);
  }
  void Clear(Trace trace) const { std::fill_n(region.Touch(trace, run.granule, run.count), run.count, 0u); }
};

// The records of lanes with a granule each, no two the same, anywhere in a region. Gathered, so that loops over them
// vectorise. An inactive lane has the granule of the first active one.
class SpreadRecords {
 public:
  SpreadRecords(ShadowRegion& region, const uint64_t address[kWarpSize], LaneMask mask)
      : region_(region), first_(static_cast<uint32_t>(std::countr_zero(mask))) {
    const int32_t any = static_cast<int32_t>(address[first_] >> region.shift());
    int32_t lowest = any, highest = any;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      const bool active = (mask >> lane & 1) != 0;
      granule_[lane] = active ? static_cast<int32_t>(address[lane] >> region.shift()) : any;
      step_[lane] = active ? lane - first_ : 0;
      lowest = std::min(lowest, granule_[lane]);
      highest = std::max(highest, granule_[lane]);
    }
    last_step_ = kWarpSize - 1 - static_cast<uint32_t>(std::countl_zero(mask)) - first_;
    lowest_ = static_cast<size_t>(lowest);
    span_ = static_cast<size_t>(highest - lowest) + 1;
  }

  // Whether all granules lie in the region.
  bool IsWithin() const { return lowest_ + span_ <= region_.granules(); }
  size_t count() const { return kWarpSize; }
  uint32_t lane() const { return first_; }
  const Record* Since(Trace trace) {
    const Record* const from = region_.Since(trace, lowest_, span_);
    if (from == nullptr) return nullptr;
    const Record* const origin = from - lowest_;
    for (int lane = 0; lane < kWarpSize; ++lane) gathered_[trace][lane] = origin[granule_[lane]];
    return gathered_[trace];
  }
  Record First(const Record* records) const { return records[first_]; }
  bool InStep(const Record* records) const {
    const Record first = records[first_];
    if (LaneOf(first) + last_step_ >= kWarpSize) return false;
    uint32_t difference = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) difference |= records[lane] ^ (first + step_[lane]);
    return difference == 0;
  }
  void Put(Trace trace, Record first) {
    Record* const to = region_.TouchEach(trace, granule_, lowest_, span_);
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) to[granule_[lane]] = first + step_[lane];
  }
  void Clear(Trace trace) {
    Record* const to = region_.TouchEach(trace, granule_, lowest_, span_);
#pragma GCC ivdep
    for (int lane = 0; lane < kWarpSize; ++lane) to[granule_[lane]] = 0;
  }

 private:
  ShadowRegion& region_;
  uint32_t first_, last_step_;  // the first active lane, and the distance to the last one
  size_t lowest_, span_;        // lowest granule, and the number of granules up to the highest
  alignas(64) int32_t granule_[kWarpSize];
  alignas(64) uint32_t step_[kWarpSize];
  alignas(64) Record gathered_[kTraces][kWarpSize];
};

// Has the effect of CheckGranule on each granule, if RunHarmless, RunOrdered and RunUnordered decide for all lanes.
// Otherwise, if granules may differ or there is something to report, returns false and does nothing. Records: of a run
// or spread.
template <typename Records>
inline bool CheckAtOnce(Comparison& c, ShadowRegion& region, Records& records, AccessKind kind) {
  const size_t count = records.count();
  const uint32_t lane = records.lane();
  const auto put = [&](Trace trace) { records.Put(trace, c.RecordOf(lane)); };
  if (c.strong() || !c.IsOld(records.Since(kStrongWrite), count)) return false;
  const Record* write = records.Since(kLastWrite);
  if (!c.IsOld(write, count) && !(records.InStep(write) && c.RunHarmless(records.First(write), lane))) return false;
  const Record* read = records.Since(kRead);
  const bool read_old = c.IsOld(read, count);
  if (read_old && kind == AccessKind::kLoad) {
    put(kRead);
    return true;
  }
  if (!read_old && !records.InStep(read)) return false;
  const Record* other = read_old ? nullptr : records.Since(kOtherRead);
  const bool other_old = c.IsOld(other, count);
  if (!other_old && !records.InStep(other)) return false;
  const Record first_read = read_old ? 0 : records.First(read), first_other = other_old ? 0 : records.First(other);
  if (kind != AccessKind::kLoad) {
    if (!read_old && !c.RunHarmless(first_read, lane)) return false;
    if (!other_old && !c.RunHarmless(first_other, lane)) return false;
    put(kLastWrite);
    if (!read_old) records.Clear(kRead);
    if (!other_old) records.Clear(kOtherRead);
    return true;
  }
  if (c.RunOrdered(first_read, lane)) {
    put(kRead);
    return true;
  }
  if (!c.RunUnordered(first_read, lane)) return false;
  if (other_old) {
    put(kOtherRead);
    c.AddCrowded(region, count, first_read);
    return true;
  }
  if (c.RunOrdered(first_other, lane)) {
    put(kOtherRead);
    return true;
  }
  if (!c.RunUnordered(first_other, lane)) return false;
  if (c.TakesPlace(first_read, first_other)) put(kOtherRead);
  return true;
}

inline bool CheckAtOnce(Comparison& c, ShadowRegion& region, const Run& run, AccessKind kind) {
  RunRecords records{region, run};
  return CheckAtOnce(c, region, records, kind);
}

// Whether consecutive lanes are active and their addresses rise: a padded index, for example.
inline bool Rise(const MemoryAccess& event) {
  if (!IsContiguous(event.mask)) return false;
  LaneMask rise = 0;
  for (int lane = 1; lane < kWarpSize; ++lane) {
    rise |= static_cast<LaneMask>(event.address[lane] > event.address[lane - 1]) << lane;
  }
  return (event.mask & (event.mask << 1) & ~rise) == 0;
}

// CheckAtOnce for lanes whose addresses differ but are not consecutive, in a region of shared memory.
inline bool CheckSpread(Comparison& c, ShadowRegion& region, const MemoryAccess& event) {
  constexpr int kWorthIt = 8;  // lanes
  if (event.bytes != 1 << region.shift() || std::popcount(event.mask) < kWorthIt) return false;
  if (event.form == AccessForm::kScattered && !Rise(event)) return false;
  SpreadRecords records(region, event.address, event.mask);
  return records.IsWithin() && CheckAtOnce(c, region, records, c.kind());
}

// Marks where a trace's records stop being uniform: all from one access with its lanes in step, or all below the floor.
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
  // In the last steps of a reduction tree, a run's records come from two or three accesses: split the run into uniform
  // parts.
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
