// One bit per byte: whether the byte has been written.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/core/lane_mask.h"

namespace lockstep::vgpu {

// Operations on bits [begin, begin + count) of an array of words.
inline uint64_t BitRange(uint64_t begin, uint64_t count) {  // within one word; 1 <= count <= 64
  return (~uint64_t{0} >> (64 - count)) << begin;
}
template <typename F>
inline void ForBitWords(uint64_t begin, uint64_t count, F f) {
  while (count > 0) {
    const uint64_t bit = begin % 64;
    const uint64_t here = std::min(64 - bit, count);
    f(begin / 64, BitRange(bit, here));
    begin += here;
    count -= here;
  }
}
inline bool AllSet(const uint64_t* words, uint64_t begin, uint64_t count) {
  uint64_t missing = 0;
  ForBitWords(begin, count, [&](uint64_t word, uint64_t mask) { missing |= ~words[word] & mask; });
  return missing == 0;
}
inline bool AnySet(const uint64_t* words, uint64_t begin, uint64_t count) {
  uint64_t found = 0;
  ForBitWords(begin, count, [&](uint64_t word, uint64_t mask) { found |= words[word] & mask; });
  return found != 0;
}

// A small range that starts at 0 with nothing written: a block's shared memory. Grows as it is written; bytes beyond
// its end are unwritten.
class ByteStates {
 public:
  void Clear() {
    std::fill(words_.begin(), words_.end(), 0);
    filled_words_ = 0;
  }
  void Set(uint64_t begin, uint64_t count) {
    if ((begin + count + 63) / 64 > words_.size()) words_.resize((begin + count + 63) / 64);
    ForBitWords(begin, count, [&](uint64_t word, uint64_t mask) { words_[word] |= mask; });
    while (filled_words_ < words_.size() && words_[filled_words_] == ~uint64_t{0}) ++filled_words_;
  }
  // Whether all bytes below `end` are known to be written; a single comparison that may miss some cases.
  bool Filled(uint64_t end) const { return end <= filled_words_ * 64; }
  bool All(uint64_t begin, uint64_t count) const {
    return begin + count <= words_.size() * 64 && AllSet(words_.data(), begin, count);
  }
  bool Any(uint64_t begin, uint64_t count) const {
    const uint64_t end = std::min<uint64_t>(begin + count, words_.size() * 64);
    return begin < end && AnySet(words_.data(), begin, end - begin);
  }
  // Whether all bytes of every active lane have been written; no access extends beyond `end`. Accesses are aligned.
  bool AllOfLanes(const uint64_t* address, LaneMask lanes, uint64_t bytes, uint64_t end) const {
    const uint64_t any = address[std::countr_zero(lanes)];
    return AllOfLanes([=](int lane) { return lanes >> lane & 1 ? address[lane] : any; }, bytes, end);
  }
  // The same for a full warp, with addresses from address(lane).
  template <typename F>
  bool AllOfLanes(const F& address, uint64_t bytes, uint64_t end) const {
    if (end > words_.size() * 64) return false;
    const uint64_t* const words = words_.data();
    uint64_t written = ~uint64_t{0};
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint64_t at = address(lane);
      written &= words[at / 64] >> (at % 64);
    }
    return (~written & BitRange(0, bytes)) == 0;
  }

 private:
  std::vector<uint64_t> words_;
  size_t filled_words_ = 0;  // number of leading words with all bits set
};

// The same for the local memory of a warp's threads. Lanes usually access the same offset, so each byte has one word
// with a bit per lane.
class LocalByteStates {
 public:
  void Clear() { std::fill(lanes_.begin(), lanes_.end(), 0); }
  void Set(uint64_t begin, uint64_t count, LaneMask lanes) {
    if (begin + count > lanes_.size()) lanes_.resize(begin + count);
    for (uint64_t byte = begin; byte < begin + count; ++byte) lanes_[byte] |= lanes;
  }
  // The lanes for which every byte (All) or any byte (Any) has been written.
  LaneMask All(uint64_t begin, uint64_t count) const {
    if (begin + count > lanes_.size()) return 0;
    LaneMask all = kFullMask;
    for (uint64_t byte = begin; byte < begin + count; ++byte) all &= lanes_[byte];
    return all;
  }
  LaneMask Any(uint64_t begin, uint64_t count) const {
    LaneMask any = 0;
    for (uint64_t byte = begin; byte < std::min<uint64_t>(begin + count, lanes_.size()); ++byte) any |= lanes_[byte];
    return any;
  }

 private:
  std::vector<LaneMask> lanes_;
};

// All of global memory, in regions of pages. A fully written or fully unwritten piece stores only the number of its
// missing bytes. Memory that was never passed to SetRange(…, false) counts as written.
//
// An instance can be layered over another one, its base: it shows the base's state plus what was written through
// itself, and does not modify the base. Several threads may share one base while it does not change.
class GlobalByteStates {
 public:
  static constexpr int kRegionShift = 22;

  GlobalByteStates() = default;
  explicit GlobalByteStates(const GlobalByteStates* base) : base_(base) {}
  GlobalByteStates(const GlobalByteStates&) = delete;
  GlobalByteStates& operator=(const GlobalByteStates&) = delete;

  // Merges what was written to an instance layered over this one.
  void TakeOver(const GlobalByteStates& above) {
    for (const auto& [number, from] : above.regions_) {
      if (from.missing == 0) {
        SetRange(number * kRegionBytes, kRegionBytes, true);
        continue;
      }
      Region* into = Find(number);
      if (into == nullptr || into->missing == 0 || !from.pages) continue;
      for (uint64_t page = 0; page < kPages; ++page) {
        if (from.pages[page].missing == 0) {
          SetInRegion(*into, page * kPageBytes, kPageBytes, true);
        } else if (from.pages[page].bits) {
          MergeBits(*into, page * kPageBytes, from.pages[page].bits.get());
        }
      }
    }
  }

  void Set(uint64_t begin, uint64_t count) { SetRange(begin, count, true); }
  // Whether the whole region at this address has been written; a single look-up.
  bool RegionWritten(uint64_t address) {
    const Region* region = Find(address >> kRegionShift);
    return region == nullptr || region->missing == 0;
  }
  bool AllOfLanes(const uint64_t*, LaneMask, uint64_t, uint64_t) const { return false; }  // not worth a fast path here
  bool All(uint64_t begin, uint64_t count) {
    return Every(begin, count, [](uint64_t missing, const uint64_t* bits, uint64_t offset, uint64_t here) {
      return missing == 0 || (bits != nullptr && AllSet(bits, offset, here));
    });
  }
  bool Any(uint64_t begin, uint64_t count) {
    return !Every(begin, count, [](uint64_t missing, const uint64_t* bits, uint64_t offset, uint64_t here) {
      return missing != 0 && (bits == nullptr || !AnySet(bits, offset, here));
    });
  }

  void SetRange(uint64_t begin, uint64_t count, bool written) {
    while (count > 0) {
      const uint64_t offset = begin % kRegionBytes;
      const uint64_t here = std::min(kRegionBytes - offset, count);
      Region* region = Find(begin / kRegionBytes);
      if (region == nullptr && !written) {
        region = &regions_[begin / kRegionBytes];
        std::fill_n(cache_, kCacheEntries, Cached{});
      } else if (region != nullptr && base_ != nullptr && region->missing != 0) {
        region = Own(begin / kRegionBytes, *region);
      }
      if (region != nullptr) SetInRegion(*region, offset, here, written);
      begin += here;
      count -= here;
    }
  }
  // Copies the state of one range to another.
  void Copy(uint64_t to, uint64_t from, uint64_t count) {
    if (from < to && to - from < count) {  // copy backwards if the ranges overlap this way
      for (uint64_t i = count; i-- > 0;) SetRange(to + i, 1, All(from + i, 1));
      return;
    }
    while (count > 0) {
      const uint64_t here = std::min({count, kPageBytes - to % kPageBytes, kPageBytes - from % kPageBytes});
      if (All(from, here)) {
        SetRange(to, here, true);
      } else if (!Any(from, here)) {
        SetRange(to, here, false);
      } else {
        for (uint64_t i = 0; i < here; ++i) SetRange(to + i, 1, All(from + i, 1));
      }
      to += here;
      from += here;
      count -= here;
    }
  }

 private:
  static constexpr uint64_t kPageBytes = 4096, kRegionBytes = uint64_t{1} << kRegionShift;
  static constexpr uint64_t kPages = kRegionBytes / kPageBytes;
  static constexpr size_t kCacheEntries = 64;
  // Pages exist only if the region is partly written, bits only if the page is.
  struct Page {
    uint64_t missing = 0;  // bytes not written
    std::unique_ptr<uint64_t[]> bits;
  };
  struct Region {
    uint64_t missing = 0;
    std::unique_ptr<Page[]> pages;
  };
  struct Cached {
    uint64_t number = ~uint64_t{0};
    Region* region = nullptr;
  };

  Region* Find(uint64_t number) {
    Cached& cached = cache_[number % kCacheEntries];
    if (cached.number != number) {
      const auto entry = regions_.find(number);
      cached = {number, entry == regions_.end() ? FindInBase(number) : &entry->second};
    }
    return cached.region;
  }
  // Read-only: see Own.
  Region* FindInBase(uint64_t number) const {
    if (base_ == nullptr) return nullptr;
    const auto entry = base_->regions_.find(number);
    return entry == base_->regions_.end() ? nullptr : const_cast<Region*>(&entry->second);
  }
  // This instance's own copy of a region, starting from the base's state.
  Region* Own(uint64_t number, const Region& region) {
    const auto [entry, added] = regions_.try_emplace(number);
    if (!added) return &entry->second;
    std::fill_n(cache_, kCacheEntries, Cached{});
    entry->second.missing = region.missing;
    if (!region.pages) return &entry->second;
    entry->second.pages = std::make_unique<Page[]>(kPages);
    for (uint64_t page = 0; page < kPages; ++page) {
      Page& into = entry->second.pages[page];
      into.missing = region.pages[page].missing;
      if (!region.pages[page].bits) continue;
      into.bits = std::make_unique<uint64_t[]>(kPageBytes / 64);
      std::copy_n(region.pages[page].bits.get(), kPageBytes / 64, into.bits.get());
    }
    return &entry->second;
  }
  // Merges a page's runs of set bits.
  static void MergeBits(Region& region, uint64_t offset, const uint64_t* bits) {
    for (uint64_t word = 0; word < kPageBytes / 64; ++word) {
      for (uint64_t left = bits[word]; left != 0;) {
        const int first = std::countr_zero(left), count = std::countr_one(left >> first);
        SetInRegion(region, offset + word * 64 + static_cast<uint64_t>(first), static_cast<uint64_t>(count), true);
        left = first + count == 64 ? 0 : left >> (first + count) << (first + count);
      }
    }
  }

  // Whether f(missing, bits or nullptr, offset, count) holds for each page; regions without pages are passed whole.
  template <typename F>
  bool Every(uint64_t begin, uint64_t count, F f) {
    while (count > 0) {
      const Region* region = Find(begin / kRegionBytes);
      const bool pages = region != nullptr && region->pages != nullptr;
      const uint64_t piece = pages ? kPageBytes : kRegionBytes;
      const uint64_t offset = begin % piece;
      const uint64_t here = std::min(piece - offset, count);
      if (pages) {
        const Page& page = region->pages[begin % kRegionBytes / kPageBytes];
        if (!f(page.missing, page.bits.get(), offset, here)) return false;
      } else if (!f(region == nullptr ? 0 : region->missing, nullptr, offset, here)) {
        return false;
      }
      begin += here;
      count -= here;
    }
    return true;
  }

  static void SetInRegion(Region& region, uint64_t offset, uint64_t count, bool written) {
    if (region.missing == (written ? 0 : kRegionBytes)) return;
    if (count == kRegionBytes) {
      region = {written ? 0 : kRegionBytes, nullptr};
      return;
    }
    if (!region.pages) {
      region.pages = std::make_unique<Page[]>(kPages);
      if (region.missing != 0) std::for_each_n(region.pages.get(), kPages, [](Page& p) { p.missing = kPageBytes; });
    }
    while (count > 0) {
      const uint64_t within = offset % kPageBytes;
      const uint64_t here = std::min(kPageBytes - within, count);
      Page& page = region.pages[offset / kPageBytes];
      region.missing -= page.missing;
      SetInPage(page, within, here, written);
      region.missing += page.missing;
      offset += here;
      count -= here;
    }
    if (region.missing == 0 || region.missing == kRegionBytes) region.pages.reset();
  }

  static void SetInPage(Page& page, uint64_t offset, uint64_t count, bool written) {
    if (page.missing == (written ? 0 : kPageBytes)) return;
    if (count == kPageBytes) {
      page = {written ? 0 : kPageBytes, nullptr};
      return;
    }
    if (!page.bits) {
      page.bits = std::make_unique<uint64_t[]>(kPageBytes / 64);
      if (page.missing == 0) std::memset(page.bits.get(), 0xff, kPageBytes / 8);
    }
    ForBitWords(offset, count, [&](uint64_t word, uint64_t mask) {
      uint64_t& bits = page.bits[word];
      if (written) {
        page.missing -= static_cast<uint64_t>(std::popcount(~bits & mask));
        bits |= mask;
      } else {
        page.missing += static_cast<uint64_t>(std::popcount(bits & mask));
        bits &= ~mask;
      }
    });
    if (page.missing == 0 || page.missing == kPageBytes) page.bits.reset();
  }

  const GlobalByteStates* base_ = nullptr;
  std::unordered_map<uint64_t, Region> regions_;
  Cached cache_[kCacheEntries];
};

}  // namespace lockstep::vgpu
