// Finds races: two accesses to one address, at least one of them no load, that are not ordered.
//
// Theory of operation. Shadow memory (race_shadow.h) holds for each granule the last write and up to two reads. A
// block's clocks (block_clocks.h) say which earlier accesses happen before a warp's next one. Each access is compared
// with the granule's records: a record of another thread that does not happen before it is a race, with the exceptions
// in race_rule.h, such as two strong accesses. Then the access is recorded.
//
// Shared memory has one region per block. After a block-wide barrier every earlier access is ordered: the floor, a
// lower bound on record numbers, rises, and records below it need no look-up.
//
// Global memory has pages. Launches are ordered, so all pages start afresh at each launch. Blocks, and threads that
// share no barrier, are ordered by the words that they write and read with fences in between (sync_words.h).
//
// Isolated blocks (block_isolation.h) are checked separately: global memory is forgotten from block to block, and the
// shadow memory at a block's end shows which words the block has touched, and how.
//
// In the usual access, consecutive lanes access consecutive words whose last access had the same shape. Such runs are
// checked as a whole if all records are below the floor or belong to one access in step, and lane by lane otherwise.
// Loads of shared memory that nobody writes between two barriers are not recorded at all (race_deferred.h), and most
// accesses that the engine has noted (shared_notes.h) are not even inspected.
#include <algorithm>
#include <bit>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/memory/coalescing.h"
#include "vgpu/observers/block_isolation.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/observers/finding_table.h"
#include "vgpu/observers/race/access_log.h"
#include "vgpu/observers/race/block_clocks.h"
#include "vgpu/observers/race/race_check.h"
#include "vgpu/observers/race/race_isolation.h"
#include "vgpu/observers/race/race_shadow.h"
#include "vgpu/observers/race/race_state.h"

namespace lockstep::vgpu {
namespace {

bool IsStrong(MemoryOrder order) { return order > MemoryOrder::kVolatile; }
bool IsAcquire(const MemoryAccess& access) {
  if (access.kind == AccessKind::kAtomic) return access.returns_value;
  return access.kind == AccessKind::kLoad;
}
bool HasAcquireOrder(MemoryOrder order) {
  return order == MemoryOrder::kAcquire || order == MemoryOrder::kAcquireRelease;
}
bool HasReleaseOrder(MemoryOrder order) {
  return order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease;
}

// OnlyReads: a load, or an atomic that changes no lane's word. OnlyWrites: a store, or an atomic with an unused result.
bool OnlyReads(const MemoryAccess& event) {
  if (event.kind != AccessKind::kAtomic) return event.kind == AccessKind::kLoad;
  bool keeps = event.returns_value && !event.overwrites;
  for (LaneMask left = event.mask; keeps && left != 0; left &= left - 1) {
    keeps = event.KeepsValue(static_cast<uint32_t>(std::countr_zero(left)));
  }
  return keeps;
}
bool OnlyWrites(const MemoryAccess& event) {
  return event.kind == AccessKind::kStore ||
         (event.kind == AccessKind::kAtomic && (event.overwrites || !event.returns_value));
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
  // Between launches it keeps no state of memory.
  std::unique_ptr<Checker> Beside() const override {
    return std::make_unique<RaceChecker>(check_shared_, check_global_);
  }
  std::unique_ptr<Observer> ForkIsolated(BlockIsolation& isolation) const override {
    if (!check_global_) return Fork();
    auto fork = std::make_unique<RaceChecker>(check_shared_, true);
    fork->info_ = info_;
    fork->isolation_ = &isolation;
    fork->keeper_.emplace(isolation);
    fork->pages_.ServeBlocks(ShadowPages::kMaximumBytes / isolation.threads());
    isolation.set_watched();
    return fork;
  }
  void Absorb(Observer& forked) override {
    auto& fork = static_cast<RaceChecker&>(forked);
    findings_.Absorb(fork.findings_);
    gaps_.Add(fork.TakeGaps());
  }

  void OnLaunchBegin(const LaunchInfo& info) override {
    info_ = info;
    order_.ended.clear();
    order_.words.Begin();
    if (log_.late()) RestartGlobal();
    ForgetGlobal();
  }
  void OnLaunchEnd() override {
    if (pages_.overflowed()) gaps_.Add(Gap::kGlobalMemory);
    if (order_.words.was_generous()) gaps_.Add(Gap::kSyncWords);
    for (auto& [index, state] : order_.blocks) idle_.push_back(std::move(state));
    order_.blocks.clear();
    current_ = nullptr;
  }

  void OnBlockBegin(uint32_t block_index) override {
    const bool far = order_.blocks.empty() && log_.size() >= kMostBetweenBlocks;
    if (far && isolation_ == nullptr) gaps_.Add(Gap::kGlobalAccesses);
    if (far || (isolation_ != nullptr && log_.late())) RestartGlobal();
    if (far || isolation_ != nullptr) ForgetGlobal();
    if (!check_global_ && order_.blocks.empty()) order_.words.Clear();
    std::unique_ptr<BlockState> state;
    if (idle_.empty()) {
      state = std::make_unique<BlockState>();
    } else {
      state = std::move(idle_.back());
      idle_.pop_back();
    }
    state->index = block_index;
    const uint32_t threads = static_cast<uint32_t>(std::min<uint64_t>(info_.block.Count(), kMaximumThreads));
    state->clocks.Begin(threads, block_index);
    state->words.Begin();
    if (check_shared_) {
      if (state->shared.bytes() != info_.shared_bytes) RestartShared(*state);
      state->copies.Begin();
      MoveFloor(*state);
    }
    if (check_global_) BlockState::Begin(state->global_cache, log_, CachedAccesses());
    current_ = (order_.blocks[block_index] = std::move(state)).get();
  }
  void OnBlockEnd(uint32_t block_index) override {
    const auto entry = order_.blocks.find(block_index);
    if (entry == order_.blocks.end()) return;
    if (isolation_ != nullptr) {
      if (log_.size() > kMostOfBlock || pages_.overflowed()) isolation_->Break();
      AddUses(pages_, global_floor_, *isolation_);
    }
    if (entry->second->clocks.orders()) order_.ended[block_index] = entry->second->clocks.Fenced();
    idle_.push_back(std::move(entry->second));
    order_.blocks.erase(entry);
    current_ = nullptr;
  }
  void OnBlockGoesOn(uint32_t block_index) override {
    if (isolation_ != nullptr) CompareUses(pages_, global_floor_, block_index, *isolation_);
  }

  void OnMemory(const MemoryAccess& event) override {
    // The most frequent event: a shared-memory load that is only recorded for later.
    BlockState* block = current_;
    if (event.plain_shared_load && check_shared_ && block != nullptr && block->index == event.block_index &&
        block->deferred.open() && event.warp_index < BlockClocks::kMaxWarps && !block->log.full()) {
      const Extent extent = ExtentOf(event);
      if (!block->shared.Written(extent.low, extent.high) && !block->copies.Meets(extent)) {
        block->clocks.Access(event.warp_index);
        const Access access{event.block_index, block->clocks.Now(event.warp_index),
                            event.pc,          static_cast<uint8_t>(event.warp_index),
                            AccessKind::kLoad, Strength::kPlain};
        block->deferred.Add(event, BlockState::Number(block->log, block->shared_cache, access), extent);
        return;
      }
    }
    OnAnyMemory(event);
  }
  void OnCopyIssued(const MemoryAccess& event) override {
    OnAnyMemory(event);
    BlockState* block = FindBlock(event.block_index, event.warp_index);
    if (block != nullptr && check_shared_) {
      block->copies.Issue(event, ExtentOf(event), block->clocks.Now(event.warp_index));
    }
  }
  bool WantsUsedReads() const override { return true; }
  void BeforeDelayedStore(const MemoryAccess& event) override {
    if (isolation_ != nullptr && event.space == MemorySpace::kGlobal) keeper_->BeforeStore(event);
  }
  bool TakesSharedNotes() const override { return true; }
  void OnSharedNotes(const SharedNotes& notes) override {
    BlockState* block = FindBlock(notes.block_index(), 0);
    if (block == nullptr) return;
    block->clocks.AccessOf(notes.warps());
    if (!check_shared_) return;
    // Accesses after a barrier do not race with anything before it, and notes do not conflict with each other. What
    // remains is loads of words written earlier, and accesses that overlap a copy in flight.
    if (notes.last() && !block->copies.any() && !block->shared.Written(notes.loads().low, notes.loads().high)) return;
    EnterNotes(*block, notes);
  }
  [[gnu::noinline]] void OnAnyMemory(const MemoryAccess& event) {
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
      CheckShared(*block, event, access);
    } else {
      if (isolation_ != nullptr && event.kind != AccessKind::kLoad) keeper_->BeforeStore(event);
      if (log_.full()) {
        gaps_.Add(Gap::kGlobalAccesses);
        RestartGlobal();
        ForgetGlobal();
      }
      const uint32_t number = block->Number(log_, block->global_cache, access);
      // If not all lanes are active, address[0] may be anything.
      if (strength == Strength::kPlain && event.bytes >= 4 && event.mask == kFullMask) {
        ShadowRegion* page = pages_.Find(event.address[0], false);
        const uint64_t offset = event.address[0] & (ShadowPages::kPageBytes - 1);
        if (page != nullptr && PutFresh(*page, offset, event, number)) return;
      }
      Comparison comparison(log_, *block, block->global_cache, &order_, access, number, global_floor_, event,
                            findings_);
      CheckLanes(comparison, event, GlobalMemory{&pages_});
    }
  }

  void OnBarrierArrive(const WarpEvent& event, uint32_t barrier) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      block->clocks.Arrive(event.warp_index, barrier, event.waits, event.stays);
    }
  }
  void OnBarrierComplete(uint32_t block_index, uint32_t barrier, uint64_t warps) override {
    BlockState* block = FindBlock(block_index, 0);
    if (block == nullptr) return;
    const bool whole = block->clocks.Complete(barrier, warps);
    if (!check_shared_) return;
    if (whole) {
      MoveFloor(*block);
    } else {
      EnterDeferred(*block);
    }
  }
  void OnWarpSync(const WarpEvent& event) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      EnterDeferred(*block);
      block->clocks.SyncWarp(event.warp_index, event.mask);
    }
  }
  void OnFence(const WarpEvent& event, MemoryScope scope) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      Acquire(*block, event.warp_index, LevelOf(scope));
      block->clocks.Release(event.warp_index, LevelOf(scope));
      block->clocks.NoteFence(event.warp_index);
    }
  }
  void OnExit(const WarpEvent& event) override {
    if (BlockState* block = FindBlock(event.block_index, event.warp_index)) {
      block->clocks.Exit(event.warp_index, event.mask);
    }
  }

  const FindingTable& findings() const override { return findings_; }
  std::vector<RawFinding> TakeFindings() override { return findings_.Take(); }
  GapSet TakeGaps() override { return std::exchange(gaps_, {}); }

 private:
  static constexpr uint64_t kMaximumThreads = uint64_t{BlockClocks::kMaxWarps} * kWarpSize;
  // Size of the global log above which it restarts at the next block's start. This ensures that a block with at most
  // kMostOfBlock accesses never finds its log full, so races within it are found wherever it is in the launch.
  static constexpr size_t kMostOfBlock = AccessLog::kMost / 3, kMostBetweenBlocks = AccessLog::kMost - kMostOfBlock;

  // The shadow of an address; region nullptr: not watched. At() gets `small` for accesses of less than 4 bytes.
  struct Place {
    ShadowRegion* region;
    uint64_t offset;  // in the region
  };
  // Only if kBounded may accesses extend beyond the region.
  struct SharedMemory {
    static constexpr bool kBounded = true;
    ShadowRegion* region;
    Place At(uint64_t address, bool small) const {
      if (small) region->Refine();
      return {region, address};
    }
  };
  struct GlobalMemory {
    static constexpr bool kBounded = false;  // accesses are aligned, and pages are watched whole
    ShadowPages* pages;
    Place At(uint64_t address, bool small) const {
      return {pages->Find(address, small), address & (ShadowPages::kPageBytes - 1)};
    }
  };

  // Size of a block's cache of recent accesses.
  size_t CachedAccesses() const {
    const uint64_t threads = std::min<uint64_t>(info_.block.Count(), kMaximumThreads);
    return static_cast<size_t>((threads + kWarpSize - 1) / kWarpSize) * BlockState::kCachedPcs;
  }

  BlockState* FindBlock(uint32_t block_index, uint32_t warp_index) {
    if (warp_index >= BlockClocks::kMaxWarps) return nullptr;
    if (current_ != nullptr && current_->index == block_index) return current_;
    const auto entry = order_.blocks.find(block_index);
    if (entry == order_.blocks.end()) return nullptr;
    return current_ = entry->second.get();
  }

  void MoveFloor(BlockState& block) {
    if (block.log.late()) RestartShared(block);
    block.log.Forget();
    block.floor = MakeRecord(block.log.next(), 0);
    block.shared.Forget();
    block.deferred.Begin();
    BlockState::Begin(block.shared_cache, block.log, CachedAccesses());
  }
  void RestartShared(BlockState& block) {
    block.shared.Reset(info_.shared_bytes);
    block.log.Restart();
    BlockState::Clear(block.shared_cache, CachedAccesses());
  }

  // Numbering restarts; everything is forgotten.
  void RestartGlobal() {
    pages_.Clear();
    log_.Restart();
    for (const auto& state : idle_) state->global_cache.accesses.clear();
  }
  void ForgetGlobal() {
    pages_.NextGeneration();
    order_.words.Clear();
    log_.Forget();
    global_floor_ = MakeRecord(log_.next(), 0);
    for (auto& [index, state] : order_.blocks) {
      BlockState::Clear(state->global_cache, CachedAccesses());
      state->global_cache.oldest = 0;
    }
  }

  void EnterNotes(BlockState& block, const SharedNotes& notes) {
    for (const SharedNote& note : notes) {
      const Extent extent = notes.ExtentOf(note);
      const bool apart = !block.copies.Meets(extent);
      const bool clean = apart && (note.store() || !block.shared.Written(extent.low, extent.high));
      if (clean && notes.last()) continue;
      const uint32_t warp = note.warp();
      const AccessKind kind = note.store() ? AccessKind::kStore : AccessKind::kLoad;
      const Access access{notes.block_index(), block.clocks.Now(warp), note.pc(), static_cast<uint8_t>(warp), kind,
                          Strength::kPlain};
      if (clean && !note.store() && block.deferred.open() && !block.log.full()) {
        block.deferred.Add(notes, note, BlockState::Number(block.log, block.shared_cache, access), extent);
        continue;
      }
      uint64_t address[kWarpSize];
      CheckShared(block, notes.Event(note, address), access);
    }
  }
  void CheckShared(BlockState& block, const MemoryAccess& event, const Access& access) {
    const Extent extent = ExtentOf(event);
    if (block.copies.Meets(extent)) CheckCopies(block, event, access);
    CheckRecords(block, event, access, extent);
  }
  // A copy in flight is not ordered before any access of another thread, and its value differs from the memory's: by
  // Race (race_rule.h) the two race. If the access is unordered with the copy's issue and changes the value,
  // CheckRecords reports it instead, through the record of the issue.
  [[gnu::noinline]] void CheckCopies(BlockState& block, const MemoryAccess& event, const Access& access) {
    if (event.kind == AccessKind::kStore) block.copies.Complete(event);
    block.copies.ForMet(event, [&](uint32_t lane, const CopiesUnderWay::Copy& copy) {
      const uint32_t warp = copy.thread / kWarpSize;
      const bool ordered =
          block.clocks.SeenByAllLanes(warp, copy.time, access.warp) ||
          (warp == access.warp && block.clocks.SeenByLane(warp, copy.thread % kWarpSize, copy.time, lane));
      const bool races = ordered || event.KeepsValue(lane);
      if (races) {
        findings_.Add(RaceOf({access.block_index, copy.thread, copy.pc, AccessKind::kStore},
                             {access.block_index, event.thread_base + lane, access.pc, access.kind}, event,
                             event.address[lane]));
      }
      return races;
    });
  }
  void CheckRecords(BlockState& block, const MemoryAccess& event, const Access& access, const Extent& extent) {
    if (block.log.full()) {
      gaps_.Add(Gap::kSharedAccesses);
      RestartShared(block);
      MoveFloor(block);
    }
    const uint32_t number = block.Number(block.log, block.shared_cache, access);
    if (event.kind == AccessKind::kLoad) {
      if (block.deferred.open() && !block.shared.Written(extent.low, extent.high)) {
        block.deferred.Add(event, number, extent);
        return;
      }
    } else if (block.deferred.Meets(extent)) {
      EnterDeferred(block);
    }
    if (access.strength == Strength::kPlain && PutFresh(block.shared, event.address[0], event, number)) return;
    EnterShared(block, event, access, number);
  }
  void EnterShared(BlockState& block, const MemoryAccess& event, const Access& access, uint32_t number) {
    Comparison comparison(block.log, block, block.shared_cache, nullptr, access, number, block.floor, event, findings_);
    CheckLanes(comparison, event, SharedMemory{&block.shared});
  }
  void EnterDeferred(BlockState& block) {
    if (block.deferred.empty()) return;
    block.deferred.Enter(block.log, [&](const MemoryAccess& event, uint32_t number) {
      EnterShared(block, event, block.log[number], number);
    });
  }

  // Lets the access publish to its words and read from them (sync_words.h). Returns its strength.
  Strength Synchronise(BlockState& block, const MemoryAccess& event) {
    const uint32_t warp = event.warp_index;
    BlockClocks& clocks = block.clocks;
    const bool fenced = clocks.JustFenced(warp);
    clocks.Access(warp);
    const bool atomic = event.kind == AccessKind::kAtomic;
    if (!atomic && event.order == MemoryOrder::kWeak) return Strength::kPlain;
    const bool shared = event.space == MemorySpace::kShared;
    const OrderLevel level = event.order == MemoryOrder::kVolatile ? kDeviceLevel : LevelOf(event.scope);
    const LevelGroups groups = GroupsOf(block.index);
    SyncWords& words = shared ? block.words : order_.words;
    if (event.kind != AccessKind::kLoad && HasReleaseOrder(event.order)) clocks.Release(warp, level);
    if (IsAcquire(event)) {
      clocks.set_heard();
      if (!words.empty()) {
        if (words.Read(event, level, groups, clocks.Pending(warp))) clocks.NoteRead(warp);
        if (atomic) words.Read(event, level, groups, clocks.AcquiredState(warp));
      }
      if (HasAcquireOrder(event.order)) Acquire(block, warp, level);
    }
    if (event.kind != AccessKind::kLoad) words.Publish(event, level, !atomic, groups, clocks.fenced(warp));
    const bool by_block = level == kBlockLevel && !shared;
    bool waits = event.waits;
    if (info_.strong_is_data) {
      if (waits) words.NoteWait(event);
      waits = waits || (IsAcquire(event) && words.Awaited(event));
      if (IsStrong(event.order) && !waits && !by_block) {
        if (OnlyReads(event)) return Strength::kReads;
        if (OnlyWrites(event)) return Strength::kWrites;
      }
    }
    if (shared && !atomic && event.order == MemoryOrder::kRelaxed && !waits) return Strength::kRelaxed;
    if (atomic || IsStrong(event.order) || waits) {
      return by_block ? Strength::kBlockStrong : Strength::kStrong;
    }
    // In shared memory, a volatile store immediately after a fence sets a flag.
    return shared && event.kind == AccessKind::kStore && fenced ? Strength::kStrong : Strength::kVolatile;
  }

  void Acquire(BlockState& block, uint32_t warp, OrderLevel level) {
    if (!block.clocks.HasPending(warp)) return;
    EnterDeferred(block);
    block.clocks.Acquire(warp, level);
  }

  LevelGroups GroupsOf(uint32_t block_index) const {
    if (info_.cluster.Count() == 1) return {block_index, kNoGroup, 0};
    const Dim3 &grid = info_.grid, &shape = info_.cluster;
    const uint32_t x = block_index % grid.x, y = block_index / grid.x % grid.y, z = block_index / grid.x / grid.y;
    const uint32_t across = (grid.x + shape.x - 1) / shape.x, up = (grid.y + shape.y - 1) / shape.y;
    return {block_index, x / shape.x + across * (y / shape.y + up * (z / shape.z)), 0};
  }

  // Fast path for a full warp's plain loads and stores at consecutive addresses without records since the floor rose:
  // has the effect of CheckRun. For any other access returns false and does nothing.
  static bool PutFresh(ShadowRegion& region, uint64_t offset, const MemoryAccess& event, uint32_t number) {
    if (event.form != AccessForm::kUnit || event.mask != kFullMask || event.kind == AccessKind::kAtomic) return false;
    const int shift = region.shift();
    const int lane_shift = std::countr_zero(static_cast<unsigned>(event.bytes)) - shift;
    if (lane_shift < 0 || lane_shift > ShadowRegion::kMaximumLaneShift) return false;
    const size_t granule = offset >> shift, count = size_t{kWarpSize} << lane_shift;
    if (offset + uint64_t{kWarpSize} * event.bytes > region.bytes() || !region.Untouched(granule, count)) return false;
    const Trace own = event.kind == AccessKind::kLoad ? kRead : kLastWrite;
    if (granule % kLineGranules != 0) {
      Fill(region.Touch(own, granule, count), count, MakeRecord(number, 0), lane_shift);
      return true;
    }
    for (size_t at = 0; at < count; at += kLineGranules) {
      const uint32_t lane = static_cast<uint32_t>(at >> lane_shift);
      region.SetLine(own, (granule + at) / kLineGranules, MakeRecord(number, lane), lane_shift);
    }
    return true;
  }

  template <typename Memory>
  void CheckLanes(Comparison& c, const MemoryAccess& event, Memory memory) {
    constexpr uint32_t kHalf = kWarpSize / 2;
    switch (event.form) {
      case AccessForm::kUnit:
        if (!IsContiguous(event.mask)) break;
        CheckRow(c, event, memory, static_cast<uint32_t>(std::countr_zero(event.mask)),
                 static_cast<uint32_t>(std::popcount(event.mask)));
        return;
      case AccessForm::kHalves:
        for (const uint32_t first : {0u, kHalf}) {
          if (event.address[first] != event.address[first + 1]) {
            CheckRow(c, event, memory, first, kHalf);
          } else {  // two lanes represent all
            CheckLane(c, event, memory, first);
            CheckLane(c, event, memory, first + kHalf - 1);
          }
        }
        return;
      default:
        break;
    }
    if constexpr (Memory::kBounded) {
      if (CheckSpread(c, *memory.At(0, event.bytes < 4).region, event)) return;
    }
    // Of consecutive lanes at one address, checking the first and the last suffices if their accesses do not conflict.
    const bool skip_equal =
        event.form == AccessForm::kScattered && (event.kind != AccessKind::kStore || event.same_value);
    for (const uint32_t lane : EachLane(event.mask)) {
      const uint64_t address = event.address[lane];
      if (skip_equal && lane > 0 && lane + 1 < kWarpSize && (event.mask >> (lane - 1) & 7) == 7 &&
          event.address[lane - 1] == address && event.address[lane + 1] == address) {
        continue;
      }
      CheckLane(c, event, memory, lane);
    }
  }

  // Consecutive lanes at consecutive addresses.
  template <typename Memory>
  void CheckRow(Comparison& c, const MemoryAccess& event, Memory memory, uint32_t lane, uint32_t lanes) {
    uint64_t address = event.address[lane];
    for (uint32_t left = lanes; left > 0;) {
      const Place place = memory.At(address, event.bytes < 4);
      const uint64_t room = place.region == nullptr
                                ? ShadowPages::kPageBytes - (address & (ShadowPages::kPageBytes - 1))
                                : place.region->bytes() - std::min<uint64_t>(place.offset, place.region->bytes());
      const uint32_t here = static_cast<uint32_t>(std::min<uint64_t>(left, room / event.bytes));
      if (here == 0) return;
      if (place.region != nullptr) {
        const int shift = place.region->shift();
        const int lane_shift = std::countr_zero(static_cast<unsigned>(event.bytes)) - shift;
        CheckRun(c, *place.region, {place.offset >> shift, size_t{here} << lane_shift, lane, lane_shift}, c.kind(),
                 address);
      }
      address += uint64_t{here} * event.bytes;
      lane += here;
      left -= here;
    }
  }

  template <typename Memory>
  [[gnu::always_inline]] void CheckLane(Comparison& c, const MemoryAccess& event, Memory memory, uint32_t lane) {
    const uint64_t address = event.address[lane];
    const Place place = memory.At(address, event.bytes < 4);
    if (place.region == nullptr) return;
    if (Memory::kBounded &&
        (event.bytes > place.region->bytes() || place.offset > place.region->bytes() - event.bytes)) {
      return;
    }
    const int shift = place.region->shift();
    const size_t granules = size_t{event.bytes} >> shift;
    for (size_t k = 0; k < granules; ++k) {
      const size_t granule = (place.offset >> shift) + k;
      if (CheckFreshGranule(c, *place.region, granule, lane, c.kind())) continue;
      CheckGranule(c, *place.region, granule, lane, c.kind(), address);
    }
  }

  const bool check_shared_, check_global_;
  LaunchInfo info_;
  std::vector<std::unique_ptr<BlockState>> idle_;
  BlockState* current_ = nullptr;
  ShadowPages pages_;
  AccessLog log_;  // of global accesses
  Record global_floor_ = MakeRecord(1, 0);
  LaunchOrder order_;
  FindingTable findings_;
  GapSet gaps_;
  BlockIsolation* isolation_ = nullptr;  // of a fork for isolated blocks
  std::optional<BlockIsolation::PageSaver> keeper_;
};

}  // namespace

std::unique_ptr<Checker> MakeRaceChecker() { return MakeRaceChecker(true, true); }

std::unique_ptr<Checker> MakeRaceChecker(bool shared, bool global) {
  return std::make_unique<RaceChecker>(shared, global);
}

}  // namespace lockstep::vgpu
