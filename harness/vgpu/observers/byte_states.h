// One bit a byte: whether something has been written there.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

namespace lockstep::vgpu {

// Operations on the bits [begin, begin + count) of an array of words.
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

// A small range that starts at 0 with nothing written: a block's shared memory, a thread's local memory. Grows as it is
// written; what lies beyond its end has not been.
class ByteStates {
 public:
  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  void Set(uint64_t begin, uint64_t count) {
    if ((begin + count + 63) / 64 > words_.size()) words_.resize((begin + count + 63) / 64);
    ForBitWords(begin, count, [&](uint64_t word, uint64_t mask) { words_[word] |= mask; });
  }
  bool All(uint64_t begin, uint64_t count) const {
    return begin + count <= words_.size() * 64 && AllSet(words_.data(), begin, count);
  }
  bool Any(uint64_t begin, uint64_t count) const {
    const uint64_t end = std::min<uint64_t>(begin + count, words_.size() * 64);
    return begin < end && AnySet(words_.data(), begin, end - begin);
  }

 private:
  std::vector<uint64_t> words_;
};

// The whole of global memory. What has not been named by SetRange(…, false) counts as written.
class GlobalByteStates {
 public:
  void Set(uint64_t begin, uint64_t count) { SetRange(begin, count, true); }
  bool All(uint64_t begin, uint64_t count) {
    return Every(begin, count, [](const Page* page, uint64_t offset, uint64_t here) {
      return page == nullptr || page->missing == 0 ||
             (page->missing < kPageBytes && AllSet(page->bits.get(), offset, here));
    });
  }
  bool Any(uint64_t begin, uint64_t count) {
    return !Every(begin, count, [](const Page* page, uint64_t offset, uint64_t here) {
      return page != nullptr && page->missing != 0 &&
             (page->missing == kPageBytes || !AnySet(page->bits.get(), offset, here));
    });
  }

  void SetRange(uint64_t begin, uint64_t count, bool written) {
    while (count > 0) {
      const uint64_t offset = begin % kPageBytes;
      const uint64_t here = std::min(kPageBytes - offset, count);
      Page* page = Find(begin / kPageBytes);
      if (page == nullptr && !written) {
        page = &pages_[begin / kPageBytes];
        std::fill_n(cache_, kCacheEntries, Cached{});
      }
      if (page != nullptr) SetInPage(*page, offset, here, written);
      begin += here;
      count -= here;
    }
  }
  // A range becomes what another is.
  void Copy(uint64_t to, uint64_t from, uint64_t count) {
    if (from < to && to - from < count) {  // the end first, where the ranges overlap so
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
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr size_t kCacheEntries = 256;
  // bits exists only where the page is partly written.
  struct Page {
    uint64_t missing = 0;  // bytes not written
    std::unique_ptr<uint64_t[]> bits;
  };
  struct Cached {
    uint64_t number = ~uint64_t{0};
    Page* page = nullptr;
  };

  Page* Find(uint64_t number) {
    Cached& cached = cache_[number % kCacheEntries];
    if (cached.number != number) {
      const auto entry = pages_.find(number);
      cached = {number, entry == pages_.end() ? nullptr : &entry->second};
    }
    return cached.page;
  }

  template <typename F>
  bool Every(uint64_t begin, uint64_t count, F f) {
    while (count > 0) {
      const uint64_t offset = begin % kPageBytes;
      const uint64_t here = std::min(kPageBytes - offset, count);
      if (!f(Find(begin / kPageBytes), offset, here)) return false;
      begin += here;
      count -= here;
    }
    return true;
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

  std::unordered_map<uint64_t, Page> pages_;
  Cached cache_[kCacheEntries];
};

}  // namespace lockstep::vgpu
