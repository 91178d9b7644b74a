// Shadow memory of the race checker: for each granule, who last wrote it and who has read it since.
//
// A granule is 4 bytes until a smaller access occurs; then its region switches to single bytes permanently. So arrays
// of char are checked exactly and arrays of int cheaply. A granule has four records, called traces: the last write, the
// last write by an atomic or a strong store, and two reads. Strong writes are kept apart because they do not race with
// each other, and one must not hide a plain write, which does. Two reads suffice to find a race with any third thread,
// unless partial synchronisation orders exactly those two.
//
// Access numbers increase, and everything below a floor happens before all later accesses. For shared memory the floor
// rises at each block-wide barrier, for global memory at each launch. So nothing needs to be cleared there. A region
// has up to 64 chunks (in a page of 4-byte granules, its lines). For each trace it records which chunks were touched
// since the floor rose, and only these are inspected: very few for a buffer that is only read, or written once, in any
// order of the warps. The arrays of a trace are allocated on first use.
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

// A line is a group of sixteen granules. If one access hit all of them, its lanes in step, the line has one record,
// that of its first granule. If all accesses cover whole lines, there is hardly any shadow memory to write.
inline constexpr size_t kLineGranules = 16;

// The first cache line holds the members that every check of a region needs.
class alignas(64) ShadowRegion {
 public:
  static constexpr size_t kChunks = 64;

  // Resets the region; if the size is the same, the granule size is kept.
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
  // The floor has risen above all records.
  void Forget() {
    std::fill_n(touched_, kTraces, uint64_t{0});
    crowded_ = 0;
  }

  // Crowded granules: two blocks have read them, and nothing has been published since. A read by a third block adds
  // nothing, since any write races with one of the two. sequence: SyncWords::published().
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

  // What a trace records for a line: nothing above the floor, one access in step, or anything else.
  struct Line {
    Record first = 0;    // 0: nothing above the floor
    int lane_shift = 0;  // granules per lane = 1 << lane_shift
    bool mixed = false;
  };
  static constexpr int kMaximumLaneShift = 3;  // for lines with one record
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
  // Makes a line look as if it had never been accessed.
  void ClearLine(Trace trace, size_t line) { SetLine(trace, line, kAncient, 0); }

  // Whether no trace has a record for these granules since the floor rose.
  bool Untouched(size_t granule, size_t count) const { return (Touched() & Chunks(granule, count)) == 0; }
  // A trace's records from a granule on; nullptr if the run has none since the floor rose.
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
  // Replaces a granule's record if it is below the floor; returns false otherwise.
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
  // The range from the first to the last byte for which some trace may have a record.
  std::pair<size_t, size_t> TouchedBytes() const {
    const uint64_t touched = Touched();
    if (touched == 0) return {0, 0};
    const int shift = chunk_shift_ + shift_;
    return {static_cast<size_t>(std::countr_zero(touched)) << shift,
            std::min<size_t>(static_cast<size_t>(std::bit_width(touched)) << shift, bytes_)};
  }
  // Adds to words[] a bit for each 4-byte word of a page in which a trace has a record from `floor` on.
  void WordsSince(Trace trace, Record floor, uint64_t* words) const;

  // Whether any byte of [low, high) may have been written.
  bool Written(uint64_t low, uint64_t high) const {
    const uint64_t written = touched_[kLastWrite] | touched_[kStrongWrite];
    if (written == 0 || low >= high) return false;
    const size_t first = low >> shift_, last = (high - 1) >> shift_;
    return (written & Chunks(first, last + 1 - first)) != 0;
  }
  // A trace's records from a granule on, for writing.
  [[gnu::noinline]] Record* Touch(Trace trace, size_t granule, size_t count) {
    MakeData(trace);
    if (whole_lines_[trace] != 0) SplitLines(trace, granule, count);
    touched_[trace] |= Chunks(granule, count);
    return &data_[trace][granule];
  }

  // The same for a granule of each lane, all of them among `count` from `lowest` on. Returns the records of the region.
  Record* TouchEach(Trace trace, const int32_t granule[kWarpSize], size_t lowest, size_t count) {
    MakeData(trace);
    if (whole_lines_[trace] != 0) SplitLines(trace, lowest, count);
    uint64_t chunks = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) chunks |= uint64_t{1} << (granule[lane] >> chunk_shift_);
    touched_[trace] |= chunks;
    return data_[trace].get();
  }

  // Switches from words to bytes: each byte inherits its word's records.
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
      if (touched_[trace] != 0) touched_[trace] = ~uint64_t{0};  // a small region's chunks change their extent
      if (!coarse) continue;
      data_[trace] = std::make_unique<Record[]>(bytes_);
      for (size_t byte = 0; byte < bytes_; ++byte) data_[trace][byte] = coarse[byte / 4];
    }
  }

 private:
  // A line's record: a record with the lane shift in the bits above it.
  static constexpr int kShiftAt = 30;
  static constexpr Record kRecordBits = (Record{1} << kShiftAt) - 1;
  static constexpr Record kAncient = 1;  // below every floor, but not 0
  static_assert(AccessLog::kMaximum - 1 <= kRecordBits >> kRecordLaneBits);
  static_assert(kMaximumLaneShift < 1 << (32 - kShiftAt));

  // The chunks that contain these granules, one bit each.
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

  uint64_t WordsOfLine(Trace trace, size_t line, Record floor) const;
  Record OfLine(int trace, size_t line) const { return whole_lines_[trace] == 0 ? 0 : lines_[trace][line]; }
  void MakeData(int trace) {
    if (!data_[trace]) data_[trace] = std::make_unique<Record[]>(granules());
  }
  // Gives the granules of these lines records of their own.
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

  // By trace. If a line's record is not 0, it applies to all its granules; otherwise their records are in data_. Both
  // arrays are allocated on first use.
  uint64_t touched_[kTraces] = {};  // chunks that may have records above the floor
  std::unique_ptr<Record[]> lines_[kTraces];
  std::unique_ptr<Record[]> data_[kTraces];
  uint64_t crowded_at_ = 0;
  uint16_t whole_lines_[kTraces] = {};  // number of lines with a record
  uint32_t bytes_ = 0;
  uint32_t crowded_ = 0;
  int16_t shift_ = 2;
  int16_t chunk_shift_ = 0;  // granules per chunk = 1 << chunk_shift_
};

// The regions of global memory, created on first access; they start afresh with each generation (launch).
class ShadowPages {
 public:
  static constexpr int kPageShift = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
  // Limit on shadow memory; further pages are not watched. A page takes 17 KiB with all its traces, 65 KiB with byte
  // granules.
  static constexpr size_t kMaximumBytes = size_t{3} << 30;

  void NextGeneration() {
    generation_ += 2;
    if (!by_block_) overflowed_ = false;
    if (by_block_) SpareTouched();
  }
  // Called when numbering restarts: forgets everything.
  void Clear() {
    chapters_.clear();
    for (std::vector<ShadowRegion>& spare : spare_) spare.clear();
    touched_.clear();
    bytes_ = swept_ = 0;
    ClearCache();
  }

  // Makes each block a generation. Regions are then passed from block to block, whatever pages these access, so memory
  // use is what one block needs. maximum_bytes: limit on shadow memory.
  void ServeBlocks(size_t maximum_bytes) {
    by_block_ = true;
    maximum_bytes_ = maximum_bytes;
  }
  // Calls f(page number, region, bytes of shadow memory) for the pages of this block.
  template <typename F>
  void ForTouched(const F& f) {
    for (const uint64_t number : touched_) {
      const Page* page = PageOf(number);
      if (page->visited == generation_ + 1) f(number, *page, BytesOf(*page));
    }
  }
  // Whether some page has found no room: in this launch or, if each block is a generation, ever.
  bool overflowed() const { return overflowed_; }

  // The page of an address; nullptr if there is no room for it. small: for an access of less than 4 bytes.
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
  // Upper bounds, in bytes of shadow memory.
  static constexpr size_t kLines = kTraces * kPageBytes / kLineGranules;
  static constexpr size_t kWordPage = kTraces * kPageBytes + kLines;
  static constexpr size_t kBytePage = 4 * kTraces * kPageBytes + kLines;
  struct Page : ShadowRegion {
    uint32_t visited = 0;  // the last generation that accessed it, plus 1 if there was room for it
  };
  static_assert(sizeof(Page) == 128);
  // Adjacent pages, found by one look-up.
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

  // nullptr if there is no room for its chapter.
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

  // Whether there is room for this much more, if need be after evicting the pages of earlier launches.
  bool MakeRoom(size_t bytes) {
    if (bytes_ + bytes <= maximum_bytes_) return true;
    // At most once per launch: pages of the current launch stay, so a second sweep would find nothing.
    if (by_block_ || swept_ == generation_) {
      overflowed_ = true;
      return false;
    }
    swept_ = generation_;
    for (auto& [number, chapter] : chapters_) {
      for (Page& page : chapter->pages) {
        if (page.bytes() == 0 || page.visited == generation_ + 1) continue;
        bytes_ -= BytesOf(page);
        page.Reset(0);
      }
    }
    overflowed_ = bytes_ + bytes > maximum_bytes_;
    return !overflowed_;
  }

  uint32_t generation_ = 2;  // even
  uint32_t swept_ = 0;       // the last generation in which older pages were evicted
  size_t bytes_ = 0, maximum_bytes_ = kMaximumBytes;
  bool by_block_ = false, overflowed_ = false;
  std::vector<uint64_t> touched_;       // if by_block_: in this generation
  std::vector<ShadowRegion> spare_[2];  // with word granules, with byte granules
  Cached cache_[kCacheEntries];
  std::unordered_map<uint64_t, std::unique_ptr<Chapter>> chapters_;
};

// Tests on a run of records made by consecutive lanes, 1 << lane_shift granules each.

// All records are below the floor.
inline bool AllBelow(const Record* records, size_t count, Record floor) {
  uint32_t above = 0;
  for (size_t k = 0; k < count; ++k) above |= records[k] >= floor;
  return above == 0;
}

// All records belong to one access whose lanes are in step with the run's.
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
