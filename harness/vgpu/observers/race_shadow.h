// Shadow memory of the race checker: who last wrote, and who has read since, by granule.
//
// A granule is 4 bytes until a smaller access comes: then its region goes over to single bytes, for good. So arrays of
// char are exact and arrays of int are cheap. A granule has four records, its traces: the last write, the last write by
// an atomic operation or a strong store, and two reads that no later read stands for. Strong writes are kept apart
// since they do not race with each other: one must not hide a plain write that does. Two reads are enough to find a
// race with any third thread, but where partial synchronisation orders just those two.
//
// Numbers of accesses rise, and what lies below a floor is ordered before all that comes: after a barrier of the whole
// block, for shared memory; from launch to launch, for global memory. So nothing is ever cleared there. A region keeps
// the span of granules that each trace has touched since the floor moved, and only what lies in it is looked at: of a
// buffer that is only read, or written once from end to end, hardly any. The arrays of traces are made when first used.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/access_log.h"

namespace lockstep::vgpu {

enum Trace : uint8_t { kLastWrite, kRead, kStrongWrite, kOtherRead };
inline constexpr int kTraces = 4;

class alignas(64) ShadowRegion {
 public:
  // A fresh region; one of the same size keeps the size of its granules.
  void Reset(size_t bytes) {
    if (bytes != bytes_) {
      bytes_ = static_cast<uint32_t>(bytes);
      shift_ = 2;
    }
    for (Records& records : traces_) records = {};
  }
  // The floor has moved above all records.
  void Forget() {
    for (Records& records : traces_) records.begin = records.end = 0;
    crowded_ = 0;
  }

  // Granules that two blocks have read, and nothing has released since: what a third reads adds nothing, since a write
  // by whomever races with one of the two. `sequence`: the number of the newest release.
  void AddCrowded(size_t granules, uint64_t sequence) {
    crowded_ = (crowded_at_ == sequence ? crowded_ : 0) + static_cast<uint32_t>(granules);
    crowded_at_ = sequence;
  }
  bool Crowded(uint64_t sequence) const {
    return crowded_ == granules() && crowded_at_ == sequence && traces_[kLastWrite].end == 0 &&
           traces_[kStrongWrite].end == 0;
  }

  size_t bytes() const { return bytes_; }
  int shift() const { return shift_; }
  size_t granules() const { return (bytes_ + (size_t{1} << shift_) - 1) >> shift_; }

  // A trace's records from a granule on; nullptr where the run has none since the floor moved.
  const Record* Since(Trace trace, size_t granule, size_t count) const {
    const Records& records = traces_[trace];
    return granule < records.end && granule + count > records.begin ? &records.data[granule] : nullptr;
  }
  Record At(Trace trace, size_t granule) const {
    const Record* record = Since(trace, granule, 1);
    return record == nullptr ? 0 : *record;
  }
  // Puts a record where the one that stands there is below the floor; false: it is not.
  [[gnu::always_inline]] bool Renew(Trace trace, size_t granule, Record floor, Record record) {
    const Records& records = traces_[trace];
    if (granule - records.begin >= size_t{records.end} - records.begin) {
      *Touch(trace, granule, 1) = record;
      return true;
    }
    if (records.data[granule] >= floor) return false;
    records.data[granule] = record;
    return true;
  }
  // Whether any of these bytes may have been written.
  bool Written(uint64_t low, uint64_t high) const {
    const auto meets = [&](const Records& records) {
      return low < uint64_t{records.end} << shift_ && high > uint64_t{records.begin} << shift_;
    };
    return meets(traces_[kLastWrite]) || meets(traces_[kStrongWrite]);
  }
  // A trace's records from a granule on, to write to.
  [[gnu::noinline]] Record* Touch(Trace trace, size_t granule, size_t count) {
    Records& records = traces_[trace];
    const uint32_t begin = static_cast<uint32_t>(granule), end = static_cast<uint32_t>(granule + count);
    if (records.end == 0) {
      if (!records.data) records.data = std::make_unique<Record[]>(granules());
      records.begin = begin;
    }
    records.begin = std::min(records.begin, begin);
    records.end = std::max(records.end, end);
    return &records.data[granule];
  }

  // From words to bytes: each byte inherits its word's records.
  void Refine() {
    if (shift_ == 0) return;
    shift_ = 0;
    crowded_ = 0;
    for (Records& records : traces_) {
      const std::unique_ptr<Record[]> coarse = std::move(records.data);
      records.begin *= 4;
      records.end = static_cast<uint32_t>(std::min<size_t>(size_t{records.end} * 4, bytes_));
      if (!coarse) continue;
      records.data = std::make_unique<Record[]>(bytes_);
      for (size_t byte = 0; byte < bytes_; ++byte) records.data[byte] = coarse[byte / 4];
    }
  }

 private:
  // [begin, end) may lie above the floor; empty: end 0.
  struct Records {
    std::unique_ptr<Record[]> data;
    uint32_t begin = 0, end = 0;
  };

  uint32_t bytes_ = 0;
  int32_t shift_ = 2;
  Records traces_[kTraces];
  uint32_t crowded_ = 0;
  uint64_t crowded_at_ = 0;
};

// Regions of global memory, made when first touched; they start afresh with each generation (launch).
class ShadowPages {
 public:
  static constexpr int kPageShift = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
  // Of shadow memory; beyond it, pages are not watched. All traces of a page take 16 KiB, of single bytes 64.
  static constexpr size_t kMaximumBytes = size_t{3} << 30;

  void NextGeneration() {
    ++generation_;
    ClearCache();
  }
  // For when numbers begin again.
  void Clear() {
    chapters_.clear();
    bytes_ = 0;
    ClearCache();
  }

  // The page of an address; nullptr when there is no room for it. small: for an access of less than 4 bytes.
  [[gnu::always_inline]] ShadowRegion* Find(uint64_t address, bool small) {
    const uint64_t number = address >> kPageShift;
    const Cached& cached = cache_[number % kCacheEntries];
    ShadowRegion* region = cached.region;
    if (cached.number != number) [[unlikely]] {
      region = FindSlowly(number);
    }
    if (small && region != nullptr && region->shift() != 0) return Refine(number);
    return region;
  }

 private:
  static constexpr size_t kCacheEntries = 512;
  static constexpr size_t kWordPage = kTraces * kPageBytes;  // bytes of shadow, at most
  static constexpr size_t kBytePage = 4 * kWordPage;
  struct Cached {
    uint64_t number = ~uint64_t{0};
    ShadowRegion* region = nullptr;
  };
  struct Page {
    uint64_t generation = 0;
    bool watched = true;
    ShadowRegion region;
  };

  // Pages that lie side by side, found by one look-up.
  static constexpr uint64_t kChapterPages = 1024;
  struct Chapter {
    std::unique_ptr<Page> pages[kChapterPages];
  };

  void ClearCache() {
    std::fill_n(cache_, kCacheEntries, Cached{});
    chapter_ = nullptr;
  }
  size_t BytesOf(const Page& page) const { return page.region.shift() == 0 ? kBytePage : kWordPage; }

  std::unique_ptr<Page>& PageOf(uint64_t number) {
    if (chapter_ == nullptr || chapter_number_ != number / kChapterPages) {
      chapter_number_ = number / kChapterPages;
      std::unique_ptr<Chapter>& chapter = chapters_[chapter_number_];
      if (!chapter) chapter = std::make_unique<Chapter>();
      chapter_ = chapter.get();
    }
    return chapter_->pages[number % kChapterPages];
  }

  [[gnu::noinline]] ShadowRegion* FindSlowly(uint64_t number) {
    if (!PageOf(number)) {
      if (!MakeRoom(kWordPage)) return nullptr;
      std::unique_ptr<Page>& page = PageOf(number);
      page = std::make_unique<Page>();
      page->region.Reset(kPageBytes);
      bytes_ += kWordPage;
    }
    Page& page = *PageOf(number);
    if (page.generation != generation_) {
      page.generation = generation_;
      page.watched = true;
      page.region.Forget();
    }
    ShadowRegion* const region = page.watched ? &page.region : nullptr;
    cache_[number % kCacheEntries] = {number, region};
    return region;
  }

  [[gnu::noinline]] ShadowRegion* Refine(uint64_t number) {
    Page& page = *PageOf(number);
    if (!MakeRoom(kBytePage - kWordPage)) {
      page.watched = false;
      cache_[number % kCacheEntries] = {number, nullptr};
      return nullptr;
    }
    page.region.Refine();
    bytes_ += kBytePage - kWordPage;
    return &page.region;
  }

  // Pages of earlier launches go first.
  bool MakeRoom(size_t bytes) {
    if (bytes_ + bytes <= kMaximumBytes) return true;
    for (auto& [number, chapter] : chapters_) {
      for (std::unique_ptr<Page>& page : chapter->pages) {
        if (!page || page->generation == generation_) continue;
        bytes_ -= BytesOf(*page);
        page.reset();
      }
    }
    ClearCache();
    return bytes_ + bytes <= kMaximumBytes;
  }

  uint64_t generation_ = 1;
  size_t bytes_ = 0;
  Cached cache_[kCacheEntries];
  std::unordered_map<uint64_t, std::unique_ptr<Chapter>> chapters_;
  Chapter* chapter_ = nullptr;  // the last one looked up
  uint64_t chapter_number_ = 0;
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
