// Finds races: two accesses to one address, not both loads, that nothing orders.
//
// Theory of operation. Shadow memory (race_shadow.h) knows of each granule the last write and up to two reads; the
// clocks of a block (block_clocks.h) know which of its earlier accesses a warp has seen. Each access is held against
// the granule's records: a record that is not seen, by another thread, is a race, unless both are strong. Then it takes
// its place in the records.
//
// Shared memory has one region a block. After a barrier of the whole block, every earlier access is ordered: a floor
// under the records' numbers moves up, and no look-up is needed for what lies below.
//
// Global memory has pages. Blocks are ordered by releases and acquires only, and launches by their boundary, at which
// all pages start afresh. A block's release gets the next of a global sequence of numbers, beside a copy of the
// releasing block's clock; an acquire remembers the newest number. An access of block A is ordered before one of block
// B when a release of A that covers it has a number that B has acquired.
//
// The usual access is by neighbouring lanes to neighbouring words, which last saw an access of the same shape. Runs are
// therefore checked as a whole where all records are below the floor or one access's in step, and lane by lane
// otherwise.
#include <algorithm>
#include <bit>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/observers/access_log.h"
#include "vgpu/observers/block_clocks.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/observers/coalescing.h"
#include "vgpu/observers/finding_table.h"
#include "vgpu/observers/race_shadow.h"

namespace lockstep::vgpu {
namespace {

constexpr const char* kDetail[3][3] = {
    // second: load, store, atomic
    {"", "write after read", "atomic after read"},
    {"read after write", "write after write", "atomic after write"},
    {"read after atomic", "write after atomic", ""},
};

bool IsStrong(MemoryOrder order) { return order > MemoryOrder::kVolatile; }
bool Acquires(const MemoryAccess& access) {
  if (access.kind == AccessKind::kAtomic) return access.returns_value;
  return access.kind == AccessKind::kLoad && access.order != MemoryOrder::kWeak;
}
bool HasReleaseOrder(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease;
}

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
  AccessLog log;  // of shared accesses
  Record floor = MakeRecord(1, 0);
  // The numbers that recent accesses of each warp have, by pc, in the two logs.
  std::vector<CachedAccess> shared_cache, global_cache;

  uint32_t Number(AccessLog& log_used, std::vector<CachedAccess>& cache, const Access& access) {
    CachedAccess& cached = cache[access.warp * kCachedPcs + access.pc % kCachedPcs];
    if (cached.pc != access.pc || cached.time != access.time || cached.strength != access.strength) {
      cached = {access.pc, access.time, log_used.Add(access), access.strength};
    }
    return cached.number;
  }
  static void Clear(std::vector<CachedAccess>& cache) { std::fill(cache.begin(), cache.end(), CachedAccess{}); }
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
  }
  bool Covers(uint32_t block_index, uint32_t warp, uint32_t time, uint64_t acquired) const {
    const auto entry = by_block_.find(block_index);
    if (entry == by_block_.end()) return false;
    const std::vector<Release>& list = entry->second;
    const auto after = std::upper_bound(list.begin(), list.end(), acquired,
                                        [](uint64_t value, const Release& r) { return value < r.sequence; });
    return after != list.begin() && time < std::prev(after)->clock[warp];
  }
  void Clear() { by_block_.clear(); }

 private:
  static constexpr size_t kKept = 256;
  std::unordered_map<uint32_t, std::vector<Release>> by_block_;
};

// One warp access while it is held against the records.
class Comparison {
 public:
  Comparison(const AccessLog& log, const BlockState& block, const Releases* releases, const Access& access,
             uint32_t number, Record floor, const MemoryAccess& event, FindingTable& findings)
      : log_(log),
        block_(block),
        releases_(releases),
        access_(access),
        number_(number),
        floor_(floor),
        event_(event),
        findings_(findings) {}

  Record floor() const { return floor_; }
  Record RecordOf(uint32_t lane) const { return MakeRecord(number_, lane); }

  // Whether the record's access comes before this one by `lane`.
  bool Ordered(Record record, uint32_t lane) {
    if (record < floor_) return true;
    LookUp(record);
    if (seen_) return true;
    return same_warp_ && block_.clocks.SeenByLane(access_.warp, LaneOf(record), old_.time, lane);
  }
  bool Races(Record record, uint32_t lane) {
    if (Ordered(record, lane) || benign_) return false;
    return !(same_instruction_ && event_.same_value && AccessOf(record) == number_);
  }
  // The same for a run in step that begins with the record, at `lane`: false where lanes may differ.
  bool RunOrdered(Record record, uint32_t lane) {
    if (record < floor_) return true;
    LookUp(record);
    return seen_ || (same_warp_ && LaneOf(record) == lane);
  }
  bool RunHarmless(Record record, uint32_t lane) { return RunOrdered(record, lane) || benign_; }
  // Whether two reads are of one warp; after neither has been found ordered.
  bool SameWarp(Record a, Record b) {
    LookUp(a);
    const uint32_t warp = old_.warp, block_index = old_.block_index;
    LookUp(b);
    return warp == old_.warp && block_index == old_.block_index;
  }

  void Report(Record record, uint32_t lane, uint64_t address) {
    LookUp(record);
    RawFinding finding;
    finding.kind = FindingKind::kRace;
    finding.first = {old_.block_index, old_.warp * kWarpSize + LaneOf(record), old_.pc, old_.kind};
    finding.has_second = true;
    finding.second = {access_.block_index, access_.warp * kWarpSize + lane, access_.pc, access_.kind};
    finding.has_memory = true;
    finding.space = event_.space;
    finding.address = address;
    finding.bytes = event_.bytes;
    finding.detail = kDetail[static_cast<int>(old_.kind)][static_cast<int>(access_.kind)];
    if (same_instruction_) {
      finding.hint = "several threads of one warp write this address by one instruction, and any of them may win";
    } else if (same_warp_) {
      finding.hint = "threads of one warp need not run in step: put __syncwarp() between these two accesses";
    } else if (old_.block_index == access_.block_index) {
      finding.hint = "no barrier orders these two accesses: __syncthreads() must stand between them";
    } else {
      finding.hint =
          "blocks run side by side in any order: use an atomic operation, two kernels, or __threadfence() before the "
          "atomic that tells the others";
    }
    findings_.Add(finding);
  }

 private:
  // Facts about a record's access, kept for the next record, which is mostly of the same one.
  void LookUp(Record record) {
    const uint32_t number = AccessOf(record);
    if (number == looked_up_) return;
    looked_up_ = number;
    old_ = log_[number];
    const bool same_block = old_.block_index == access_.block_index;
    same_warp_ = same_block && old_.warp == access_.warp;
    same_instruction_ = number == number_;
    seen_ = same_block ? block_.clocks.SeenByAllLanes(old_.warp, old_.time, access_.warp)
                       : releases_ != nullptr && releases_->Covers(old_.block_index, old_.warp, old_.time,
                                                                   block_.clocks.acquired(access_.warp));
    benign_ = Benign(old_.strength, access_.strength);
  }
  // Strong accesses are what programs synchronise by. Volatile ones serve for that in old code on global memory. On
  // shared memory old code reduces with them inside a warp, without __syncwarp, which is a race: there, a volatile
  // access is taken for synchronisation only against a strong one.
  bool Benign(Strength a, Strength b) const {
    if (a == Strength::kPlain || b == Strength::kPlain) return false;
    return event_.space == MemorySpace::kGlobal || a == Strength::kStrong || b == Strength::kStrong;
  }

  const AccessLog& log_;
  const BlockState& block_;
  const Releases* releases_;
  const Access& access_;
  const uint32_t number_;
  const Record floor_;
  const MemoryAccess& event_;
  FindingTable& findings_;
  uint32_t looked_up_ = 0;
  Access old_;
  bool same_warp_ = false, same_instruction_ = false, seen_ = false, benign_ = false;
};

// One granule, one lane.
void CheckGranule(Comparison& c, ShadowRegion& region, size_t granule, uint32_t lane, AccessKind kind,
                  uint64_t address) {
  Record& write = region.write()[granule];
  Record& read = region.read()[granule];
  Record& other = region.other_read()[granule];
  const Record record = c.RecordOf(lane);
  if (c.Races(write, lane)) c.Report(write, lane, address);
  if (kind == AccessKind::kLoad) {
    if (c.Ordered(read, lane)) {
      read = record;
    } else if (c.Ordered(other, lane) || c.SameWarp(read, other)) {
      other = record;
    }
    return;
  }
  if (c.Races(read, lane)) {
    c.Report(read, lane, address);
  } else if (c.Races(other, lane)) {
    c.Report(other, lane, address);
  }
  write = record;
  read = other = 0;
}

// Granules that neighbouring lanes hit one after the other, from `lane` on.
void CheckRun(Comparison& c, ShadowRegion& region, size_t granule, size_t count, uint32_t lane, int lane_shift,
              AccessKind kind, uint64_t address) {
  Record* write = region.write() + granule;
  Record* read = region.read() + granule;
  Record* other = region.other_read() + granule;
  const Record floor = c.floor();
  const bool write_below = AllBelow(write, count, floor);
  bool simple = write_below || (AllInStep(write, count, lane_shift) && c.RunHarmless(write[0], lane));
  const bool read_below = AllBelow(read, count, floor);
  const bool read_in_step = !read_below && AllInStep(read, count, lane_shift);
  const bool other_below = read_below || AllBelow(other, count, floor);
  const bool other_in_step = !other_below && AllInStep(other, count, lane_shift);
  simple = simple && (read_below || read_in_step) && (other_below || other_in_step);
  if (simple && kind == AccessKind::kLoad) {
    if (read_below || c.RunOrdered(read[0], lane)) {
      Fill(read, count, c.RecordOf(lane), lane_shift);
      return;
    }
    if (other_below || c.RunOrdered(other[0], lane) || c.SameWarp(read[0], other[0])) {
      Fill(other, count, c.RecordOf(lane), lane_shift);
      return;
    }
    // Two readers of other warps stand already. A read of their warp that syncs lane by lane takes the slow way.
    if (!c.SameWarp(read[0], c.RecordOf(lane)) && !c.SameWarp(other[0], c.RecordOf(lane))) return;
  } else if (simple && (read_below || c.RunHarmless(read[0], lane)) && (other_below || c.RunHarmless(other[0], lane))) {
    Fill(write, count, c.RecordOf(lane), lane_shift);
    if (!read_below) {
      std::fill_n(read, count, 0u);
      std::fill_n(other, count, 0u);
    }
    return;
  }
  for (size_t k = 0; k < count; ++k) {
    CheckGranule(c, region, granule + k, lane + static_cast<uint32_t>(k >> lane_shift), kind,
                 address + ((k >> lane_shift) << (lane_shift + region.shift())));
  }
}

class RaceChecker : public Checker {
 public:
  RaceChecker(bool shared, bool global) : check_shared_(shared), check_global_(global) {}

  std::unique_ptr<Observer> Fork() const override {
    if (check_global_) return nullptr;
    auto fork = std::make_unique<RaceChecker>(check_shared_, false);
    fork->info_ = info_;
    return fork;
  }
  void Absorb(Observer& forked) override { findings_.Absorb(static_cast<RaceChecker&>(forked).findings_); }

  void OnLaunchBegin(const LaunchInfo& info) override {
    info_ = info;
    sequence_ = 0;
    ForgetGlobal();
  }
  void OnLaunchEnd() override {
    for (auto& [index, state] : blocks_) idle_.push_back(std::move(state));
    blocks_.clear();
    current_ = nullptr;
  }

  void OnBlockBegin(uint32_t block_index) override {
    std::unique_ptr<BlockState> state;
    if (idle_.empty()) {
      state = std::make_unique<BlockState>();
    } else {
      state = std::move(idle_.back());
      idle_.pop_back();
    }
    state->index = block_index;
    const uint32_t threads = static_cast<uint32_t>(std::min<uint64_t>(info_.block.Count(), kMaximumThreads));
    state->clocks.Begin(threads);
    const size_t cached = size_t{(threads + kWarpSize - 1) / kWarpSize} * BlockState::kCachedPcs;
    if (check_shared_) {
      state->shared_cache.assign(cached, {});
      if (state->shared.bytes() != info_.shared_bytes || state->log.full()) {
        state->shared.Reset(info_.shared_bytes);
        state->log.Restart();
      }
      MoveFloor(*state);
    }
    if (check_global_) state->global_cache.assign(cached, {});
    current_ = (blocks_[block_index] = std::move(state)).get();
  }
  void OnBlockEnd(uint32_t block_index) override {
    const auto entry = blocks_.find(block_index);
    if (entry == blocks_.end()) return;
    idle_.push_back(std::move(entry->second));
    blocks_.erase(entry);
    current_ = nullptr;
  }

  void OnMemory(const MemoryAccess& event) override {
    if (event.space != MemorySpace::kShared && event.space != MemorySpace::kGlobal) return;
    BlockState* block = FindBlock(event.block_index, event.warp_index);
    if (block == nullptr || event.mask == 0 || event.bytes == 0) return;
    const Strength strength = Synchronise(*block, event);
    const bool shared = event.space == MemorySpace::kShared;
    if (shared ? !check_shared_ : !check_global_) return;
    const Access access{event.block_index, block->clocks.Now(event.warp_index),
                        event.pc,          static_cast<uint8_t>(event.warp_index),
                        event.kind,        strength};
    if (shared) {
      if (block->log.full()) {
        block->shared.Reset(info_.shared_bytes);
        block->log.Restart();
        MoveFloor(*block);
      }
      const uint32_t number = block->Number(block->log, block->shared_cache, access);
      Comparison comparison(block->log, *block, nullptr, access, number, block->floor, event, findings_);
      CheckLanes(comparison, event, SharedMemory{&block->shared});
    } else {
      if (log_.full()) ForgetGlobal();
      const uint32_t number = block->Number(log_, block->global_cache, access);
      Comparison comparison(log_, *block, &releases_, access, number, MakeRecord(1, 0), event, findings_);
      CheckLanes(comparison, event, GlobalMemory{&pages_});
    }
    PublishRelease(*block, event);
  }

  void OnBarrierArrive(const WarpEvent& event, uint32_t barrier) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      block->clocks.Arrive(event.warp_index, barrier);
    }
  }
  void OnBarrierComplete(uint32_t block_index, uint32_t barrier, uint64_t warps) override {
    BlockState* block = FindBlock(block_index, 0);
    if (block != nullptr && block->clocks.Complete(barrier, warps) && check_shared_) MoveFloor(*block);
  }
  void OnWarpSync(const WarpEvent& event) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      block->clocks.SyncWarp(event.warp_index, event.mask);
    }
  }
  void OnFence(const WarpEvent& event, MemoryScope) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) block->clocks.Fence(event.warp_index);
  }
  void OnExit(const WarpEvent& event) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      block->clocks.Exit(event.warp_index, event.mask);
    }
  }

  std::vector<RawFinding> TakeFindings() override { return findings_.Take(); }

 private:
  static constexpr uint64_t kMaximumThreads = uint64_t{BlockClocks::kMaxWarps} * kWarpSize;

  // Where the shadow of an address lies; region nullptr: it is not watched.
  struct Place {
    ShadowRegion* region;
    uint64_t offset;  // in the region
  };
  struct SharedMemory {
    ShadowRegion* region;
    Place At(uint64_t address) const { return {region, address}; }
  };
  struct GlobalMemory {
    ShadowPages* pages;
    Place At(uint64_t address) const { return {pages->Find(address), address & (ShadowPages::kPageBytes - 1)}; }
  };

  BlockState* FindBlock(uint32_t block_index, uint32_t warp_index) {
    if (warp_index >= BlockClocks::kMaxWarps) return nullptr;
    if (current_ != nullptr && current_->index == block_index) return current_;
    const auto entry = blocks_.find(block_index);
    if (entry == blocks_.end()) return nullptr;
    return current_ = entry->second.get();
  }

  void MoveFloor(BlockState& block) {
    block.log.Forget();
    block.floor = MakeRecord(block.log.next(), 0);
    BlockState::Clear(block.shared_cache);
  }

  void ForgetGlobal() {
    pages_.NextGeneration();
    releases_.Clear();
    log_.Restart();
    for (auto& [index, state] : blocks_) BlockState::Clear(state->global_cache);
  }

  // Acquires, and says how strong the access is.
  Strength Synchronise(BlockState& block, const MemoryAccess& event) {
    const uint32_t warp = event.warp_index;
    const bool fenced = block.clocks.JustFenced(warp);
    block.clocks.Access(warp);
    if (event.kind != AccessKind::kAtomic && event.order == MemoryOrder::kWeak) return Strength::kPlain;
    if (Acquires(event)) {
      block.clocks.Acquire(warp);
      block.clocks.set_acquired(warp, sequence_);
    }
    if (event.kind == AccessKind::kAtomic || IsStrong(event.order)) return Strength::kStrong;
    // A volatile store straight after a fence raises a flag.
    return event.kind == AccessKind::kStore && fenced ? Strength::kStrong : Strength::kVolatile;
  }

  // After the access itself: what it releases does not include it.
  void PublishRelease(BlockState& block, const MemoryAccess& event) {
    const bool strong = event.kind == AccessKind::kAtomic || event.order != MemoryOrder::kWeak;
    if (!strong || event.kind == AccessKind::kLoad) return;
    if (!block.clocks.Release(event.warp_index, HasReleaseOrder(event.order))) return;
    if (check_global_) releases_.Add(block.index, ++sequence_, block.clocks.released());
  }

  template <typename Memory>
  void CheckLanes(Comparison& c, const MemoryAccess& event, Memory memory) {
    const AccessShape shape = ShapeOf(event.address, event.mask);
    const uint32_t first = static_cast<uint32_t>(std::countr_zero(event.mask));
    const uint32_t lanes = static_cast<uint32_t>(std::popcount(event.mask));
    const bool in_order = shape.affine && lanes > 1 && shape.stride == event.bytes && IsContiguous(event.mask);
    if (!in_order) {
      CheckEachLane(c, event, memory);
      return;
    }
    uint64_t address = event.address[first];
    uint32_t lane = first;
    for (uint32_t left = lanes; left > 0;) {
      const Place place = memory.At(address);
      const uint64_t room = place.region == nullptr
                                ? ShadowPages::kPageBytes - (address & (ShadowPages::kPageBytes - 1))
                                : place.region->bytes() - std::min<uint64_t>(place.offset, place.region->bytes());
      const uint32_t here = static_cast<uint32_t>(std::min<uint64_t>(left, room / event.bytes));
      if (here == 0) return;
      if (place.region != nullptr) {
        if (event.bytes < 4) place.region->Refine();
        const int shift = place.region->shift();
        const int lane_shift = std::countr_zero(static_cast<unsigned>(event.bytes)) - shift;
        CheckRun(c, *place.region, place.offset >> shift, size_t{here} << lane_shift, lane, lane_shift, event.kind,
                 address);
      }
      address += uint64_t{here} * event.bytes;
      lane += here;
      left -= here;
    }
  }

  template <typename Memory>
  void CheckEachLane(Comparison& c, const MemoryAccess& event, Memory memory) {
    // Of neighbouring lanes at one address the first and the last stand for all, where their accesses do not clash.
    const bool skip_equal = event.kind != AccessKind::kStore || event.same_value;
    for (LaneMask left = event.mask; left != 0; left &= left - 1) {
      const uint32_t lane = static_cast<uint32_t>(std::countr_zero(left));
      const uint64_t address = event.address[lane];
      if (skip_equal && lane > 0 && lane + 1 < kWarpSize && (event.mask >> (lane - 1) & 7) == 7 &&
          event.address[lane - 1] == address && event.address[lane + 1] == address) {
        continue;
      }
      const Place place = memory.At(address);
      if (place.region == nullptr || event.bytes > place.region->bytes() ||
          place.offset > place.region->bytes() - event.bytes) {
        continue;
      }
      if (event.bytes < 4) place.region->Refine();
      const int shift = place.region->shift();
      const size_t granules = std::max<size_t>(1, size_t{event.bytes} >> shift);
      for (size_t k = 0; k < granules; ++k) {
        CheckGranule(c, *place.region, (place.offset >> shift) + k, lane, event.kind, address);
      }
    }
  }

  const bool check_shared_, check_global_;
  LaunchInfo info_;
  std::unordered_map<uint32_t, std::unique_ptr<BlockState>> blocks_;
  std::vector<std::unique_ptr<BlockState>> idle_;
  BlockState* current_ = nullptr;
  ShadowPages pages_;
  AccessLog log_;  // of global accesses
  Releases releases_;
  uint64_t sequence_ = 0;
  FindingTable findings_;
};

}  // namespace

std::unique_ptr<Checker> MakeRaceChecker(bool shared, bool global) {
  return std::make_unique<RaceChecker>(shared, global);
}

}  // namespace lockstep::vgpu
