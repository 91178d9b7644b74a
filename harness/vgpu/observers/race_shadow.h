// Shadow memory of the race checker: who last wrote, and who has read since, by granule.
//
// A granule is 4 bytes until a smaller access comes: then its region goes over to single bytes, for good. So arrays of
// char are exact and arrays of int are cheap. A granule has three records: the last write, and two reads that no later
// read stands for. Two are enough to find a race with any third thread, but where partial synchronisation orders just
// those two.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/access_log.h"

namespace lockstep::vgpu {

class ShadowRegion {
 public:
  void Reset(size_t bytes) {
    if (bytes != bytes_) {
      bytes_ = bytes;
      shift_ = 2;
    }
    records_.assign(3 * granules(), 0);
  }

  size_t bytes() const { return bytes_; }
  int shift() const { return shift_; }
  size_t granules() const { return (bytes_ + (size_t{1} << shift_) - 1) >> shift_; }
  Record* write() { return records_.data(); }
  Record* read() { return records_.data() + granules(); }
  Record* other_read() { return records_.data() + 2 * granules(); }

  // From words to bytes: each byte inherits its word's records.
  void Refine() {
    if (shift_ == 0) return;
    const size_t words = granules();
    const std::vector<Record> coarse = std::move(records_);
    shift_ = 0;
    records_.assign(3 * granules(), 0);
    for (size_t kind = 0; kind < 3; ++kind) {
      for (size_t byte = 0; byte < bytes_; ++byte) {
        records_[kind * bytes_ + byte] = coarse[kind * words + byte / 4];
      }
    }
  }

 private:
  size_t bytes_ = 0;
  int shift_ = 2;
  std::vector<Record> records_;
};

// Regions of global memory, made when first touched; they start afresh with each generation (launch).
class ShadowPages {
 public:
  static constexpr int kPageShift = 12;
  static constexpr uint64_t kPageBytes = uint64_t{1} << kPageShift;
  // Of shadow memory; beyond it, pages are not watched. At 3 bytes a byte: 700 MB of data a launch.
  static constexpr size_t kMaximumPages = (size_t{2} << 30) / (3 * kPageBytes);

  void NextGeneration() { ++generation_; }

  // The page of an address; nullptr when there is no room for it.
  ShadowRegion* Find(uint64_t address) {
    const uint64_t number = address >> kPageShift;
    Cached& cached = cache_[number % kCacheEntries];
    if (cached.number == number && cached.generation == generation_) return cached.region;
    return FindSlowly(number);
  }

 private:
  static constexpr size_t kCacheEntries = 256;
  struct Cached {
    uint64_t number = 0, generation = 0;
    ShadowRegion* region = nullptr;
  };
  struct Page {
    uint64_t generation = 0;
    ShadowRegion region;
  };

  ShadowRegion* FindSlowly(uint64_t number) {
    if (pages_.size() >= kMaximumPages && !pages_.contains(number)) {
      std::erase_if(pages_, [this](const auto& entry) { return entry.second->generation != generation_; });
      std::fill_n(cache_, kCacheEntries, Cached{});
      if (pages_.size() >= kMaximumPages) return nullptr;
    }
    std::unique_ptr<Page>& page = pages_[number];
    if (!page) page = std::make_unique<Page>();
    if (page->generation != generation_) {
      page->generation = generation_;
      page->region.Reset(kPageBytes);
    }
    cache_[number % kCacheEntries] = {number, generation_, &page->region};
    return &page->region;
  }

  uint64_t generation_ = 1;
  Cached cache_[kCacheEntries];
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages_;
};

// Over a run of records that a warp's neighbouring lanes hit, `per_lane` = 1 << lane_shift granules each.

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
