// What the race checker knows of each block, and of what blocks have released to each other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/access_log.h"
#include "vgpu/observers/block_clocks.h"
#include "vgpu/observers/race_deferred.h"
#include "vgpu/observers/race_shadow.h"

namespace lockstep::vgpu {

// What a block's accesses need, from its begin to its end.
struct BlockState {
  static constexpr uint32_t kCachedPcs = 16;
  struct CachedAccess {
    uint32_t pc = ~uint32_t{0}, time = 0, number = 0;
    Strength strength = Strength::kPlain;
  };

  uint32_t index = 0;
  BlockClocks clocks;
  ShadowRegion shared;
  DeferredLoads deferred;
  AccessLog log;  // of shared accesses
  Record floor = MakeRecord(1, 0);
  // The numbers that recent accesses of each warp have, by pc, in the two logs. Numbers below `oldest` are of another
  // time: before the floor moved, of another block.
  struct Cache {
    std::vector<CachedAccess> accesses;
    uint32_t oldest = 0;
  };
  Cache shared_cache, global_cache;

  [[gnu::always_inline]] static uint32_t Number(AccessLog& log, Cache& cache, const Access& access) {
    CachedAccess& cached = cache.accesses[access.warp * kCachedPcs + access.pc % kCachedPcs];
    if (cached.pc != access.pc || cached.time != access.time || cached.strength != access.strength ||
        cached.number < cache.oldest) {
      cached = {access.pc, access.time, log.Add(access), access.strength};
    }
    return cached.number;
  }
  // All that is in the log lies behind.
  static void Begin(Cache& cache, const AccessLog& log, size_t accesses) {
    cache.oldest = log.next();
    if (cache.accesses.size() != accesses) Clear(cache, accesses);
  }
  // For when numbers begin again.
  static void Clear(Cache& cache, size_t accesses) { cache.accesses.assign(accesses, {}); }
};

// What a block has released to others.
struct Release {
  uint64_t sequence;
  std::vector<uint32_t> clock;  // of each warp, accesses stamped below
};

class Releases {
 public:
  void Add(uint32_t block_index, uint64_t sequence, const std::vector<uint32_t>& clock) {
    std::vector<Release>& list = by_block_[block_index];
    if (list.size() == kKept) {
      // Long lists are rare; the elder half goes, and what it released counts from the beginning.
      list.erase(list.begin(), list.begin() + kKept / 2);
      list.front().sequence = 0;
    }
    list.push_back({sequence, clock});
    newest_ = sequence;
  }
  bool Covers(uint32_t block_index, uint32_t warp, uint32_t time, uint64_t acquired) const {
    const auto entry = by_block_.find(block_index);
    if (entry == by_block_.end()) return false;
    const std::vector<Release>& list = entry->second;
    const auto after = std::upper_bound(list.begin(), list.end(), acquired,
                                        [](uint64_t value, const Release& r) { return value < r.sequence; });
    return after != list.begin() && time < std::prev(after)->clock[warp];
  }
  void Clear() {
    by_block_.clear();
    newest_ = 0;
  }
  uint64_t newest() const { return newest_; }  // the last release's number

 private:
  static constexpr size_t kKept = 256;
  std::unordered_map<uint32_t, std::vector<Release>> by_block_;
  uint64_t newest_ = 0;
};

}  // namespace lockstep::vgpu
