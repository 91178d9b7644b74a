// The race checker's state of each block, and of the synchronisation between blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/race/access_log.h"
#include "vgpu/observers/race/block_clocks.h"
#include "vgpu/observers/race/copies_under_way.h"
#include "vgpu/observers/race/race_deferred.h"
#include "vgpu/observers/race/race_shadow.h"
#include "vgpu/observers/race/sync_words.h"

namespace lockstep::vgpu {

// The state of a block, from its start to its end.
struct BlockState {
  static constexpr uint32_t kCachedPcs = 16;
  struct CachedAccess {
    uint32_t pc = ~uint32_t{0}, time = 0, number = 0;
    Strength strength = Strength::kPlain;
  };

  uint32_t index = 0;
  BlockClocks clocks;
  SyncWords words;  // in shared memory
  ShadowRegion shared;
  DeferredLoads deferred;
  CopiesUnderWay copies;
  AccessLog log;  // of shared accesses
  Record floor = MakeRecord(1, 0);
  // The numbers of each warp's recent accesses, by pc, in the two logs. Numbers below `oldest` are outdated: from
  // before the floor rose, or from another block.
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
  // Marks everything in the log as outdated.
  static void Begin(Cache& cache, const AccessLog& log, size_t accesses) {
    cache.oldest = log.next();
    if (cache.accesses.size() != accesses) Clear(cache, accesses);
  }
  // Called when numbering restarts: forgets everything.
  static void Clear(Cache& cache, size_t accesses) { cache.accesses.assign(accesses, {}); }
};

// The synchronisation between the blocks of a launch.
struct LaunchOrder {
  SyncWords words;
  std::unordered_map<uint32_t, std::unique_ptr<BlockState>> blocks;  // that are running
  std::unordered_map<uint32_t, FencedTimes> ended;                   // blocks that executed fences

  FencedTimes FencedBy(uint32_t block_index) const {
    if (const BlockClocks* running = Running(block_index)) return running->Fenced();
    const auto entry = ended.find(block_index);
    return entry == ended.end() ? FencedTimes() : entry->second;
  }
  const BlockClocks* Running(uint32_t block_index) const {
    const auto running = blocks.find(block_index);
    return running == blocks.end() ? nullptr : &running->second->clocks;
  }
};

}  // namespace lockstep::vgpu
