// How a launch's global accesses relate over time: what caches would save, and how accesses jump between DRAM pages.
//
// Each engine (CPU thread) has a Locality. For each 32-byte sector of global memory that the launch touches, it keeps
// one bit per kind of access, and one bit that says that the running block has loaded it. The latter bits are reset
// when the next block starts and after the block has loaded kBlockCacheSectors other sectors, as if each block had a
// cache of that size to itself. Results do not depend on which engine runs which block: the engines' bits are combined
// with OR at the end.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/core/finding.h"
#include "vgpu/core/lane_mask.h"
#include "vgpu/memory/coalescing.h"
#include "vgpu/memory/touched_range.h"

namespace lockstep::vgpu {

class Locality {
 public:
  static constexpr uint32_t kBlockCacheSectors = (128 << 10) >> kSectorShift;

  explicit Locality(size_t instructions) : runs_(instructions) {}

  // Bytes that each kind of access touched, in units of kPieceBytes, each counted once.
  static constexpr uint64_t kPieceBytes = 64;
  struct Footprint {
    uint64_t loads = 0, stores = 0, atomics = 0;
  };
  static Footprint FootprintOf(const std::vector<const Locality*>& engines);
  // Adds the touched part of the range.
  void AddTo(TouchedRange& range) const;

  // Touches sectors first to last, at most 32 adjacent ones. For a load, returns how many are not in the block's cache.
  uint32_t Touch(uint32_t block, AccessKind kind, uint64_t first, uint64_t last) {
    EnterBlock(block);
    uint32_t missed = 0;
    for (uint64_t word = first >> kWordShift; word <= last >> kWordShift; ++word) {
      const uint64_t from = word == first >> kWordShift ? first % kWordSectors : 0;
      const uint64_t to = word == last >> kWordShift ? last % kWordSectors : kWordSectors - 1;
      missed += TouchBits(kind, word, (~uint64_t{0} >> (kWordSectors - 1 - (to - from))) << from);
    }
    return missed;
  }
  // The same for arbitrary lane addresses; each lane's access is within one sector.
  uint32_t TouchLanes(uint32_t block, AccessKind kind, const uint64_t address[kWarpSize], LaneMask mask) {
    EnterBlock(block);
    // Scattered lanes each miss the host's cache, here and when the value is moved. Issue the misses together.
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const uint64_t where = address[std::countr_zero(left)];
      const uint64_t word = where >> (kSectorShift + kWordShift), number = word >> kRegionShift;
      const Cached& cached = cache_[number % kCached];
      if (cached.number == number) __builtin_prefetch(&cached.region->words[word % kRegionWords], 1);
      __builtin_prefetch(reinterpret_cast<const void*>(where));
    }
    uint32_t missed = 0;
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const uint64_t sector = address[std::countr_zero(left)] >> kSectorShift;
      missed += TouchBits(kind, sector >> kWordShift, uint64_t{1} << sector % kWordSectors);
    }
    return missed;
  }

  // DRAM reads and writes by pages. Switching to another page takes time, which is hidden if a run of accesses covers
  // the part of the page that one memory channel holds. A switch after a shorter run is counted. A run consists of
  // consecutive accesses by one instruction in one block, across lanes and warps. When a warp executes the instruction
  // again in a loop, a new run starts: on hardware, other warps would have run in between. Offsets count from the
  // buffer's start, as if buffers were page-aligned.
  static constexpr int kPageShift = 13;
  static constexpr uint32_t kChannelBytes = 256;
  void BeginRequest(uint32_t pc, uint32_t block, uint32_t warp) {
    Run& run = runs_[pc];
    if (run.block != block || run.warp == warp) run.page = kNoPage;
    run.block = block;
    run.warp = warp;
  }
  // Bytes [low, high) of the request.
  uint32_t Follow(uint32_t pc, uint64_t low, uint64_t high) { return GoOn(runs_[pc], low, high); }
  uint32_t FollowLanes(uint32_t pc, const uint64_t address[kWarpSize], LaneMask mask, int bytes, uint64_t buffer) {
    Run run = runs_[pc];
    uint32_t switched = 0;
    for (LaneMask left = mask; left != 0; left &= left - 1) {
      const uint64_t offset = address[std::countr_zero(left)] - buffer;
      switched += GoOn(run, offset, offset + static_cast<uint64_t>(bytes));
    }
    runs_[pc] = run;
    return switched;
  }

 private:
  static constexpr int kWordShift = 6;
  static constexpr uint64_t kWordSectors = 64;  // 2 KiB
  static constexpr int kRegionShift = 7;        // 256 KiB, in words
  static constexpr size_t kCached = 512;

  static constexpr size_t kRegionWords = size_t{1} << kRegionShift;
  // One bit per sector; cache-line aligned, since random accesses use each word once.
  struct alignas(64) Word {
    uint64_t ever[3] = {};             // by AccessKind
    uint64_t in_block = 0, epoch = 0;  // loaded by the block with this epoch
  };
  struct Region {
    Word words[kRegionWords];
  };
  struct Cached {
    uint64_t number = ~uint64_t{0};
    Region* region = nullptr;
  };
  static constexpr uint64_t kNoPage = ~uint64_t{0};
  struct Run {
    uint64_t page = kNoPage;
    uint32_t block = ~uint32_t{0}, warp = 0;
    uint32_t bytes = 0;
  };

  static uint32_t GoOn(Run& run, uint64_t low, uint64_t high) {
    const uint64_t page = low >> kPageShift;
    const bool other = run.page != page;
    const uint32_t switched = other & (run.page != kNoPage) & (run.bytes < kChannelBytes);
    run.bytes = (other ? 0 : run.bytes) + static_cast<uint32_t>(high - low);
    run.page = (high - 1) >> kPageShift;
    return switched;
  }

  void EnterBlock(uint32_t block) {
    if (block == block_ && missed_ < kBlockCacheSectors) return;
    block_ = block;
    missed_ = 0;
    ++epoch_;
  }

  uint32_t TouchBits(AccessKind kind, uint64_t word_number, uint64_t bits) {
    const uint64_t number = word_number >> kRegionShift;
    const Cached& cached = cache_[number % kCached];
    Region& region = cached.number == number ? *cached.region : FindRegion(number);
    Word& word = region.words[word_number % kRegionWords];
    word.ever[static_cast<size_t>(kind)] |= bits;
    if (kind != AccessKind::kLoad) return 0;
    if (word.epoch != epoch_) {
      word.epoch = epoch_;
      word.in_block = 0;
    }
    const uint32_t missed = static_cast<uint32_t>(std::popcount(bits & ~word.in_block));
    word.in_block |= bits;
    missed_ += missed;
    return missed;
  }

  [[gnu::noinline]] Region& FindRegion(uint64_t number) {
    std::unique_ptr<Region>& region = regions_[number];
    if (!region) region = std::make_unique<Region>();
    cache_[number % kCached] = {number, region.get()};
    return *region;
  }

  uint32_t block_ = ~uint32_t{0};
  uint32_t missed_ = 0;  // since the epoch began
  uint64_t epoch_ = 0;
  Cached cache_[kCached];
  std::unordered_map<uint64_t, std::unique_ptr<Region>> regions_;
  std::vector<Run> runs_;
};

}  // namespace lockstep::vgpu
