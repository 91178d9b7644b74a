// Shadow memory of the race checker: who last wrote, and who has read since, by granule.
//
// A granule is 4 bytes until a smaller access comes: then its region goes over to single bytes, for good. So arrays of
// char are exact and arrays of int are cheap. A granule has four records, its traces: the last write, the last write by
// an atomic operation or a strong store, and two reads that no later read stands for. Strong writes are kept apart
// since they do not race with each other: one must not hide a plain write that does. Two reads are enough to find a
// race with any third thread, but where partial synchronisation orders just those two.
//
// Numbers of accesses rise, and what lies below a floor is ordered before all that comes: after a barrier of the whole
// block, for shared memory; from launch to launch, for global memory. So nothing is ever cleared there. A region has up
// to 64 chunks, a page's are its lines; it keeps which of them each trace has touched since the floor moved, and only
// these are looked at: of a buffer that is only read, or written once, hardly any, in whatever order the warps come.
// The arrays of traces are made when first used.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/observers/race/access_log.h"

namespace lockstep::vgpu {

enum Trace : uint8_t { kLastWrite, kRead, kStrongWrite, kOtherRead };
inline constexpr int kTraces = 4;

// Sixteen granules that one access hit, its lanes in step, have one record: the first granule's. A line is such a
// group. Where all accesses are by whole lines there is hardly any shadow to write.
inline constexpr size_t kLineGranules = 16;

// What every look at a region needs fills its first cache line.
class alignas(64) ShadowRegion {
 public:
  static constexpr size_t kChunks = 64;

  // A fresh region; one of the same size keeps the size of its granules.
  void Reset(size_t bytes) {
    if (bytes != bytes_) {
      bytes_ = static_cast<uint32_t>(bytes);
      SetShift(2);
    }
    for (int trace = 0; trace < kTraces; ++trace) {
      touched_[trace] = 0;
      whole_lines_[trace] = 0;
      lines_[trace].reset();
      data_[trace].reset();
    }
  }
  // The floor has moved above all records.
  void Forget() {
    std::fill_n(touched_, kTraces, uint64_t{0});
    crowded_ = 0;
  }

  // Granules that two blocks have read, and nothing has released since: what a third reads adds nothing, since a write
  // by whomever races with one of the two. `sequence`: the number of the newest release.
  void AddCrowded(size_t granules, uint64_t sequence) {
    crowded_ = (crowded_at_ == sequence ? crowded_ : 0) + static_cast<uint32_t>(granules);
    crowded_at_ = sequence;
  }
  bool Crowded(uint64_t sequence) const {
    return crowded_ == granules() && crowded_at_ == sequence && (touched_[kLastWrite] | touched_[kStrongWrite]) == 0;
  }

  size_t bytes() const { return bytes_; }
  int shift() const { return shift_; }
  size_t granules() const { return (bytes_ + (size_t{1} << shift_) - 1) >> shift_; }

  // What a trace knows of a line: old (nothing above the floor), one access in step, or more than that.
  struct Line {
    Record first = 0;    // 0: old
    int lane_shift = 0;  // granules a lane = 1 << lane_shift
    bool mixed = false;
  };
  static constexpr int kMaximumLaneShift = 3;  // of a line with one record
  Line LineOf(Trace trace, size_t line, Record floor) const {
    const size_t granule = line * kLineGranules;
    if (!Meets(trace, granule, kLineGranules)) return {};
    if (const Record whole = OfLine(trace, line)) {
      const Record first = whole & kRecordBits;
      return first < floor ? Line{} : Line{first, static_cast<int>(whole >> kShiftAt)};
    }
    if (!data_[trace]) return {};
    uint32_t above = 0;
    for (size_t k = 0; k < kLineGranules; ++k) above |= data_[trace][granule + k] >= floor;
    return above == 0 ? Line{} : Line{0, 0, true};
  }
  // One access hit the whole line; first: the record of its first granule.
  void SetLine(Trace trace, size_t line, Record first, int lane_shift) {
    touched_[trace] |= Chunks(line * kLineGranules, kLineGranules);
    if (!lines_[trace]) lines_[trace] = std::make_unique<Record[]>(granules() / kLineGranules + 1);
    Record& whole = lines_[trace][line];
    whole_lines_[trace] += whole == 0;
    whole = first | static_cast<Record>(lane_shift) << kShiftAt;
  }
  // A line as if nobody had ever been there.
  void ClearLine(Trace trace, size_t line) { SetLine(trace, line, kAncient, 0); }

  // Whether no trace has a record of these granules since the floor moved.
  bool Untouched(size_t granule, size_t count) const { return (Touched() & Chunks(granule, count)) == 0; }
  // A trace's records from a granule on; nullptr where the run has none since the floor moved.
  const Record* Since(Trace trace, size_t granule, size_t count) {
    if (!Meets(trace, granule, count)) return nullptr;
    if (whole_lines_[trace] != 0) SplitLines(trace, granule, count);
    return data_[trace] ? &data_[trace][granule] : nullptr;
  }
  [[gnu::always_inline]] Record At(Trace trace, size_t granule) const {
    if (!Meets(trace, granule, 1)) return 0;
    if (const Record whole = OfLine(trace, granule / kLineGranules)) {
      return (whole & kRecordBits) + static_cast<Record>(granule % kLineGranules >> (whole >> kShiftAt));
    }
    return data_[trace] ? data_[trace][granule] : 0;
  }
  // Puts a record where the one that stands there is below the floor; false: it is not.
  [[gnu::always_inline]] bool Renew(Trace trace, size_t granule, Record floor, Record record) {
    if (!Meets(trace, granule, 1) || whole_lines_[trace] != 0 || !data_[trace]) {
      if (At(trace, granule) >= floor) return false;
      *Touch(trace, granule, 1) = record;
      return true;
    }
    if (data_[trace][granule] >= floor) return false;
    data_[trace][granule] = record;
    return true;
  }
  // The bytes from the first that any trace may have a record of to the last.
  std::pair<size_t, size_t> TouchedBytes() const {
    const uint64_t touched = Touched();
    if (touched == 0) return {0, 0};
    const int shift = chunk_shift_ + shift_;
    return {static_cast<size_t>(std::countr_zero(touched)) << shift,
            std::min<size_t>(static_cast<size_t>(std::bit_width(touched)) << shift, bytes_)};
  }
  // The words (of 4 bytes) in which a trace has a record from `floor` on, a bit each, added to words[]. Of a page.
  void WordsSince(Trace trace, Record floor, uint64_t* words) const;

  // Whether any of these bytes may have been written. high: beyond the last of them.
  bool Written(uint64_t low, uint64_t high) const {
    const uint64_t written = touched_[kLastWrite] | touched_[kStrongWrite];
    if (written == 0 || low >= high) return false;
    const size_t first = low >> shift_, last = (high - 1) >> shift_;
    return (written & Chunks(first, last + 1 - first)) != 0;
  }
  // A trace's records from a granule on, to write to.
  [[gnu::noinline]] Record* Touch(Trace trace, size_t granule, size_t count) {
    MakeData(trace);
    if (whole_lines_[trace] != 0) SplitLines(trace, granule, count);
    touched_[trace] |= Chunks(granule, count);
    return &data_[trace][granule];
  }

  // From words to bytes: each byte inherits its word's records.
  void Refine() {
    if (shift_ == 0) return;
    for (int trace = 0; trace < kTraces; ++trace) {
      if (whole_lines_[trace] != 0) SplitLines(trace, 0, granules());
      lines_[trace].reset();
    }
    SetShift(0);
    crowded_ = 0;
    for (int trace = 0; trace < kTraces; ++trace) {
      const std::unique_ptr<Record[]> coarse = std::move(data_[trace]);
      if (touched_[trace] != 0) touched_[trace] = ~uint64_t{0};  // the chunks of a small region are others now
      if (!coarse) continue;
      data_[trace] = std::make_unique<Record[]>(bytes_);
      for (size_t byte = 0; byte < bytes_; ++byte) data_[trace][byte] = coarse[byte / 4];
    }
  }

 private:
  // A line's record: a record, and above it the lane shift.
  static constexpr int kShiftAt = 30;
  static constexpr Record kRecordBits = (Record{1} << kShiftAt) - 1;
  static constexpr Record kAncient = 1;  // below every floor, yet not 0
  static_assert(AccessLog::kMaximum - 1 <= kRecordBits >> kRecordLaneBits);
  static_assert(kMaximumLaneShift < 1 << (32 - kShiftAt));

  // The chunks in which these granules lie, a bit each.
  uint64_t Chunks(size_t granule, size_t count) const {
    const size_t first = granule >> chunk_shift_, last = (granule + count - 1) >> chunk_shift_;
    return ~uint64_t{0} << first & ~uint64_t{0} >> (kChunks - 1 - last);
  }
  uint64_t Touched() const {
    uint64_t touched = 0;
    for (const uint64_t chunks : touched_) touched |= chunks;
    return touched;
  }
  bool Meets(int trace, size_t granule, size_t count) const {
    return touched_[trace] != 0 && (touched_[trace] & Chunks(granule, count)) != 0;
  }
  void SetShift(int shift) {
    shift_ = static_cast<int16_t>(shift);
    const int bits = static_cast<int>(std::bit_width(std::max<size_t>(granules(), 1) - 1));
    chunk_shift_ = static_cast<int16_t>(std::max(bits - 6, 0));
  }

  Record OfLine(int trace, size_t line) const { return whole_lines_[trace] == 0 ? 0 : lines_[trace][line]; }
  void MakeData(int trace) {
    if (!data_[trace]) data_[trace] = std::make_unique<Record[]>(granules());
  }
  // The granules of these lines get records of their own.
  [[gnu::noinline]] void SplitLines(int trace, size_t granule, size_t count) {
    for (size_t line = granule / kLineGranules; line <= (granule + count - 1) / kLineGranules; ++line) {
      const Record whole = lines_[trace][line];
      if (whole == 0) continue;
      MakeData(trace);
      for (size_t k = 0; k < kLineGranules; ++k) {
        data_[trace][line * kLineGranules + k] = (whole & kRecordBits) + static_cast<Record>(k >> (whole >> kShiftAt));
      }
      lines_[trace][line] = 0;
      --whole_lines_[trace];
    }
  }

  // By trace. A granule's record is its line's where that is not 0, else the one in data. Both are made when first
  // used.
  uint64_t touched_[kTraces] = {};  // chunks that may have granules above the floor
  std::unique_ptr<Record[]> lines_[kTraces];
  std::unique_ptr<Record[]> data_[kTraces];
  uint64_t crowded_at_ = 0;
  uint16_t whole_lines_[kTraces] = {};  // lines that have a record
  uint32_t bytes_ = 0;
  uint32_t crowded_ = 0;
  int16_t shift_ = 2;
  int16_t chunk_shift_ = 0;  // granules of a chunk = 1 << chunk_shift_
};

// Regions of global memory, made when first touched; they start afresh with each generation (launch).
class ShadowPages {
 public:
  static constexpr int kPageShift = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
  // Of shadow memory; beyond it, pages are not watched. All traces of a page take 17 KiB, of single bytes 65.
  static constexpr size_t kMaximumBytes = size_t{3} << 30;

  void NextGeneration() {
    generation_ += 2;
    if (by_block_) SpareTouched();
  }
  // For when numbers begin again.
  void Clear() {
    chapters_.clear();
    for (std::vector<ShadowRegion>& spare : spare_) spare.clear();
    touched_.clear();
    bytes_ = swept_ = 0;
    ClearCache();
  }

  // For generations of a block each: pages' regions then go from block to block, wherever these are at work, so that
  // what one block needs is what there is. maximum_bytes: of shadow memory.
  void ServeBlocks(size_t maximum_bytes) {
    by_block_ = true;
    maximum_bytes_ = maximum_bytes;
  }
  // f(page number, region, bytes of shadow) for those of this block.
  template <typename F>
  void ForTouched(const F& f) {
    for (const uint64_t number : touched_) {
      const Page* page = PageOf(number);
      if (page->visited == generation_ + 1) f(number, *page, BytesOf(*page));
    }
  }
  // There was no room for a page.
  bool overflowed() const { return overflowed_; }

  // The page of an address; nullptr when there is no room for it. small: for an access of less than 4 bytes.
  [[gnu::always_inline]] ShadowRegion* Find(uint64_t address, bool small) {
    const uint64_t number = address >> kPageShift, chapter = number / kChapterPages;
    const Cached& cached = cache_[chapter % kCacheEntries];
    ShadowRegion* region;
    if (cached.number == chapter && cached.chapter->pages[number % kChapterPages].visited == generation_ + 1) {
      region = &cached.chapter->pages[number % kChapterPages];
    } else {
      region = FindSlowly(number);
    }
    if (small && region != nullptr && region->shift() != 0) return Refine(number);
    return region;
  }

 private:
  static constexpr size_t kCacheEntries = 64;
  // Bytes of shadow, at most.
  static constexpr size_t kLines = kTraces * kPageBytes / kLineGranules;
  static constexpr size_t kWordPage = kTraces * kPageBytes + kLines;
  static constexpr size_t kBytePage = 4 * kTraces * kPageBytes + kLines;
  struct Page : ShadowRegion {
    uint32_t visited = 0;  // the last generation in which it was, and 1 if there was room for it
  };
  static_assert(sizeof(Page) == 128);
  // Pages that lie side by side, found by one look-up.
  static constexpr uint64_t kChapterPages = 1024;
  struct Chapter {
    Page pages[kChapterPages];
  };
  struct Cached {
    uint64_t number = ~uint64_t{0};
    Chapter* chapter = nullptr;
  };

  void ClearCache() { std::fill_n(cache_, kCacheEntries, Cached{}); }
  static size_t BytesOf(const ShadowRegion& region) { return region.shift() == 0 ? kBytePage : kWordPage; }

  // nullptr when there is no room for its chapter.
  Page* PageOf(uint64_t number) {
    const uint64_t chapter_number = number / kChapterPages;
    Cached& cached = cache_[chapter_number % kCacheEntries];
    if (cached.number != chapter_number) {
      auto entry = chapters_.find(chapter_number);
      if (entry == chapters_.end()) {
        if (!MakeRoom(sizeof(Chapter))) return nullptr;
        bytes_ += sizeof(Chapter);
        entry = chapters_.emplace(chapter_number, std::make_unique<Chapter>()).first;
      }
      cached = {chapter_number, entry->second.get()};
    }
    return &cached.chapter->pages[number % kChapterPages];
  }

  [[gnu::noinline]] ShadowRegion* FindSlowly(uint64_t number) {
    Page* page = PageOf(number);
    if (page == nullptr || page->visited == generation_) return nullptr;
    if (page->visited == generation_ + 1) return page;
    if (by_block_) touched_.push_back(number);
    if (page->bytes() == 0 && !TakeSpare(*page)) {
      if (!MakeRoom(kWordPage)) {
        page->visited = generation_;
        return nullptr;
      }
      page->Reset(kPageBytes);
      bytes_ += kWordPage;
    }
    page->visited = generation_ + 1;
    page->Forget();
    return page;
  }

  [[gnu::noinline]] ShadowRegion* Refine(uint64_t number) {
    Page* page = PageOf(number);
    if (!MakeRoom(kBytePage - kWordPage)) {
      page->visited = generation_;
      return nullptr;
    }
    page->Refine();
    bytes_ += kBytePage - kWordPage;
    return page;
  }

  void SpareTouched() {
    for (const uint64_t number : touched_) {
      Page* page = PageOf(number);
      if (page->bytes() == 0) continue;
      spare_[page->shift() == 0].push_back(std::move(static_cast<ShadowRegion&>(*page)));
      page->Reset(0);
    }
    touched_.clear();
  }
  bool TakeSpare(Page& page) {
    for (std::vector<ShadowRegion>& spare : spare_) {
      if (spare.empty()) continue;
      static_cast<ShadowRegion&>(page) = std::move(spare.back());
      spare.pop_back();
      return true;
    }
    return false;
  }

  // Pages of earlier launches go first.
  bool MakeRoom(size_t bytes) {
    if (bytes_ + bytes <= maximum_bytes_) return true;
    if (by_block_) {
      overflowed_ = true;
      return false;
    }
    // Once a launch: what is its own stays, so that a second look would find nothing.
    if (swept_ == generation_) return false;
    swept_ = generation_;
    for (auto& [number, chapter] : chapters_) {
      for (Page& page : chapter->pages) {
        if (page.bytes() == 0 || page.visited == generation_ + 1) continue;
        bytes_ -= BytesOf(page);
        page.Reset(0);
      }
    }
    return bytes_ + bytes <= maximum_bytes_;
  }

  uint32_t generation_ = 2;  // even
  uint32_t swept_ = 0;       // the last generation in which pages of earlier ones were given up
  size_t bytes_ = 0, maximum_bytes_ = kMaximumBytes;
  bool by_block_ = false, overflowed_ = false;
  std::vector<uint64_t> touched_;       // by_block_: in this generation
  std::vector<ShadowRegion> spare_[2];  // of words, of single bytes
  Cached cache_[kCacheEntries];
  std::unordered_map<uint64_t, std::unique_ptr<Chapter>> chapters_;
};

// Over a run of records that a warp's neighbouring lanes hit, 1 << lane_shift granules each.

// No record is as new as floor.
inline bool AllBelow(const Record* records, size_t count, Record floor) {
  uint32_t above = 0;
  for (size_t k = 0; k < count; ++k) above |= records[k] >= floor;
  return above == 0;
}

// All records are one access's, its lanes in step with the run's.
inline bool AllInStep(const Record* records, size_t count, int lane_shift) {
  const Record first = records[0];
  if (LaneOf(first) + ((count - 1) >> lane_shift) >= kWarpSize) return false;
  uint32_t difference = 0;
  for (size_t k = 0; k < count; ++k) difference |= records[k] ^ (first + static_cast<Record>(k >> lane_shift));
  return difference == 0;
}

inline void Fill(Record* records, size_t count, Record first, int lane_shift) {
  for (size_t k = 0; k < count; ++k) records[k] = first + static_cast<Record>(k >> lane_shift);
}

}  // namespace lockstep::vgpu
