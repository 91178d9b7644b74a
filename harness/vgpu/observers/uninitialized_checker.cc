// Finds reads of bytes that have not been written since their allocation: global memory by the host or a kernel, shared
// memory by its block, local memory by its thread.
//
// A load is reported if one of the 4-byte words that it covers (or all of it, if it is smaller) has no written byte. So
// padding inside a word of a struct that is copied whole is no finding. An atomic counts as a read, except an exchange
// whose result nobody reads. A device-to-device copy propagates the state of its bytes and does not count as a read.
//
// The same holds for padding of a whole word or more, if the struct is copied by a load of several elements
// (core/copy_plan.h): if one of the surrounding 16 bytes has been written and the word is only stored again, the store
// does not mark the destination bytes as written. So a read of the copy is reported like a read of the original. The
// lanes whose registers hold such words are kept per register, which works because each register has exactly one
// writer: it holds what its load last returned.
//
// For global memory it can matter which block writes first, so a launch runs on one CPU thread unless its blocks are
// isolated (block_isolation.h). A fork then sees the state before the launch and its own blocks' writes.
#include <bit>
#include <iterator>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/core/copy_plan.h"
#include "vgpu/core/hint.h"
#include "vgpu/core/program.h"
#include "vgpu/memory/coalescing.h"
#include "vgpu/observers/access_extent.h"
#include "vgpu/observers/block_isolation.h"
#include "vgpu/observers/byte_states.h"
#include "vgpu/observers/checkers.h"
#include "vgpu/observers/finding_table.h"
#include "vgpu/observers/shared_notes.h"

namespace lockstep::vgpu {
namespace {

constexpr uint64_t kWordBytes = 4;

// The host's last write that began at an allocation's start.
struct HostWrites {
  uint64_t bytes = 0;    // of the allocation
  uint64_t written = 0;  // bytes; 0: no such write
  // Whether it wrote as many bytes as there are elements of 4 or 8 bytes.
  bool CountedElements() const { return written > 0 && (written * 4 == bytes || written * 8 == bytes); }
};

struct BlockStates {
  ByteStates shared;
  std::vector<LaneMask> unwritten;     // by warp and slot of the program's CopyPlan; empty: none
  std::vector<LocalByteStates> local;  // by warp
};

class UninitializedChecker : public Checker {
 public:
  UninitializedChecker() = default;
  UninitializedChecker(const UninitializedChecker& root, BlockIsolation& isolation)
      : warps_(root.warps_),
        program_(root.program_),
        states_(std::make_shared<GlobalByteStates>(&root.global_)),
        allocations_(root.allocations_),
        isolation_(&isolation) {}
  explicit UninitializedChecker(const UninitializedChecker& beside)
      : states_(beside.states_), allocations_(beside.allocations_) {}

  std::unique_ptr<Checker> Beside() const override { return std::make_unique<UninitializedChecker>(*this); }

  std::unique_ptr<Observer> ForkIsolated(BlockIsolation& isolation) const override {
    return std::make_unique<UninitializedChecker>(*this, isolation);
  }
  void Absorb(Observer& forked) override {
    auto& fork = static_cast<UninitializedChecker&>(forked);
    global_.TakeOver(fork.global_);
    findings_.Absorb(fork.findings_);
  }

  void OnLaunchBegin(const LaunchInfo& info) override {
    warps_ = info.warps_per_block;
    program_ = info.program;
    copied_unwritten_ = false;
  }
  void OnLaunchEnd() override {
    blocks_.clear();
    current_ = nullptr;
  }
  void OnBlockBegin(uint32_t block_index) override {
    std::unique_ptr<BlockStates> states;
    if (idle_.empty()) {
      states = std::make_unique<BlockStates>();
    } else {
      states = std::move(idle_.back());
      idle_.pop_back();
    }
    states->shared.Clear();
    states->unwritten.clear();
    for (LocalByteStates& local : states->local) local.Clear();
    current_index_ = block_index;
    current_ = (blocks_[block_index] = std::move(states)).get();
  }
  void OnBlockEnd(uint32_t block_index) override {
    const auto entry = blocks_.find(block_index);
    if (entry == blocks_.end()) return;
    idle_.push_back(std::move(entry->second));
    blocks_.erase(entry);
    current_ = nullptr;
  }

  void OnMemory(const MemoryAccess& event) override {
    if (event.mask == 0 || event.bytes == 0) return;
    if (copied_unwritten_ && FollowCopy(event)) return;
    if (event.space == MemorySpace::kShared) {
      // Once a block has written all of its memory, there is nothing left to find or to record.
      BlockStates* block = FindBlock(event.block_index);
      if (block == nullptr || block->shared.Filled(ExtentOf(event).high)) return;
      VisitShared(event, *block);
    } else if (event.space == MemorySpace::kGlobal) {
      // Likewise if a whole region of a few megabytes has been written, as is usual.
      const Extent extent = ExtentOf(event);
      const bool one_region = (extent.low ^ (extent.high - 1)) >> GlobalByteStates::kRegionShift == 0;
      if (one_region && global_.RegionWritten(extent.low)) return;
      VisitGlobal(event);
    } else if (event.space == MemorySpace::kLocal) {
      if (BlockStates* block = FindBlock(event.block_index)) VisitLocal(event, *block);
    }
  }

  bool WantsUsedReads() const override { return true; }
  bool TakesSharedNotes() const override { return true; }
  void OnSharedNotes(const SharedNotes& notes) override {
    BlockStates* block = FindBlock(notes.block_index());
    if (block == nullptr || block->shared.Filled(std::max(notes.loads().high, notes.stores().high))) return;
    for (const SharedNote& note : notes) {
      const Extent extent = notes.ExtentOf(note);
      if (block->shared.Filled(extent.high)) continue;
      const AccessPattern* pattern = notes.PatternOf(note);
      if (pattern == nullptr && IsContiguous(note.mask)) {
        const uint64_t bytes = extent.high - extent.low;
        if (note.store()) block->shared.Set(extent.low, bytes);
        if (note.store() || block->shared.All(extent.low, bytes)) continue;
      } else if (pattern != nullptr && !note.store()) {
        const auto address = [&](int lane) { return note.first + pattern->offset[lane]; };
        if (block->shared.AllOfLanes(address, note.bytes(), extent.high)) continue;
      }
      uint64_t address[kWarpSize];
      VisitShared(notes.Event(note, address), *block);
    }
  }

  void OnAllocate(uint64_t address, uint64_t bytes) override {
    global_.SetRange(address, bytes, false);
    (*allocations_)[address] = {.bytes = bytes};
  }
  void OnFree(uint64_t address, uint64_t bytes) override {
    global_.SetRange(address, bytes, true);
    allocations_->erase(address);
  }
  void OnHostWrite(uint64_t address, uint64_t bytes) override {
    global_.Set(address, bytes);
    NoteHostWrite(address, bytes);
  }
  void OnHostCopy(uint64_t to, uint64_t from, uint64_t bytes) override {
    global_.Copy(to, from, bytes);
    NoteHostWrite(to, bytes);
  }
  uint64_t FirstUnwritten(uint64_t address, uint64_t bytes, uint32_t element) override {
    if (global_.All(address, bytes)) return bytes;
    const uint64_t piece = std::min<uint64_t>(element, kWordBytes);
    for (uint64_t at = 0; at < bytes; at += piece) {
      if (!global_.Any(address + at, std::min(piece, bytes - at))) return at;
    }
    return bytes;
  }

  const FindingTable& findings() const override { return findings_; }
  std::vector<RawFinding> TakeFindings() override { return findings_.Take(); }

 private:
  static bool Reads(const MemoryAccess& event) { return event.kind != AccessKind::kStore && !event.overwrites; }

  BlockStates* FindBlock(uint32_t block_index) {
    if (current_ != nullptr && current_index_ == block_index) return current_;
    const auto entry = blocks_.find(block_index);
    if (entry == blocks_.end()) return nullptr;
    current_index_ = block_index;
    return current_ = entry->second.get();
  }

  [[gnu::noinline]] void VisitGlobal(const MemoryAccess& event) { Visit(event, global_); }
  [[gnu::noinline]] void VisitShared(const MemoryAccess& event, BlockStates& block) { Visit(event, block.shared); }

  template <typename States>
  void Visit(const MemoryAccess& event, States& states) {
    constexpr uint32_t kHalf = kWarpSize / 2;
    switch (event.form) {
      case AccessForm::kUnit:
        if (!IsContiguous(event.mask)) break;
        VisitRow(event, event.mask, uint64_t{event.bytes} * static_cast<uint64_t>(std::popcount(event.mask)), states);
        return;
      case AccessForm::kHalves:
        for (const uint32_t first : {0u, kHalf}) {
          const bool uniform = event.address[first] == event.address[first + 1];
          VisitRow(event, LaneMask{0xffff} << first, uint64_t{event.bytes} * (uniform ? 1 : kHalf), states);
        }
        return;
      default:
        break;
    }
    if (Reads(event) && states.AllOfLanes(event.address, event.mask, event.bytes, ExtentOf(event).high)) {
      return;
    }
    VisitLanes(event, event.mask, states);
  }

  // Lanes whose accesses are within `bytes` of the first one's address.
  template <typename States>
  void VisitRow(const MemoryAccess& event, LaneMask lanes, uint64_t bytes, States& states) {
    const uint64_t address = event.address[std::countr_zero(lanes)];
    if (!Reads(event)) {
      states.Set(address, bytes);
    } else if (!states.All(address, bytes)) {
      VisitLanes(event, lanes, states);
    }
  }

  template <typename States>
  void VisitLanes(const MemoryAccess& event, LaneMask lanes, States& states) {
    for (const uint32_t lane : EachLane(lanes)) {
      const uint64_t address = event.address[lane];
      if (Reads(event)) {
        if (states.All(address, event.bytes)) continue;
        CheckPieces(event, lane, [&](uint64_t at, uint64_t count) { return states.Any(at, count); });
      }
      if (event.kind != AccessKind::kLoad) states.Set(address, event.bytes);
    }
  }

  [[gnu::noinline]] void VisitLocal(const MemoryAccess& event, BlockStates& block) {
    if (block.local.size() < warps_) block.local.resize(warps_);
    if (event.warp_index >= block.local.size()) return;
    LocalByteStates& states = block.local[event.warp_index];
    // Process lanes with the same offset together.
    for (LaneMask left = event.mask; left != 0;) {
      const uint64_t address = event.address[std::countr_zero(left)];
      LaneMask lanes = 0;
      for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        lanes |= static_cast<LaneMask>(event.address[lane] == address) << lane;
      }
      lanes &= left;
      left &= ~lanes;
      if (Reads(event)) {
        for (LaneMask missing = lanes & ~states.All(address, event.bytes); missing != 0; missing &= missing - 1) {
          const uint32_t lane = static_cast<uint32_t>(std::countr_zero(missing));
          CheckPieces(event, lane,
                      [&](uint64_t at, uint64_t count) { return (states.Any(at, count) >> lane & 1) != 0; });
        }
      }
      if (event.kind != AccessKind::kLoad) states.Set(address, event.bytes, lanes);
    }
  }

  // any(address, bytes): whether one of these bytes has been written.
  template <typename F>
  void CheckPieces(const MemoryAccess& event, uint32_t lane, F any) {
    const uint64_t piece = std::min<uint64_t>(event.bytes, kWordBytes);
    for (uint64_t at = event.address[lane]; at < event.address[lane] + event.bytes; at += piece) {
      if (any(at, piece) || IsCopied(event, lane, at, piece, any)) continue;
      // For an access of more than 8 bytes, only the unwritten word is reported.
      const bool vector = event.bytes > 8;
      Report(event, lane, vector ? at : event.address[lane], vector ? piece : event.bytes);
      return;
    }
  }

  static uint32_t SlotOf(const CopyPlan::Access& access, uint32_t offset) {
    const uint32_t slot = access.slot[offset / access.element_bytes];
    return slot == CopyPlan::kNoSlot ? slot : slot + offset % access.element_bytes / kWordBytes;
  }

  // Whether the unwritten word at `at` is only copied along with its surroundings; if so, records that.
  template <typename F>
  bool IsCopied(const MemoryAccess& event, uint32_t lane, uint64_t at, uint64_t bytes, const F& any) {
    if (event.kind != AccessKind::kLoad || program_ == nullptr || program_->copies == nullptr) return false;
    const CopyPlan::Access* access = program_->copies->At(event.pc);
    if (access == nullptr) return false;
    const uint64_t begin = event.address[lane] - event.skipped;
    const uint32_t first = static_cast<uint32_t>(at - begin), end = first + static_cast<uint32_t>(bytes);
    for (uint32_t offset = first; offset < end; ++offset) {
      if ((access->copied >> offset & 1) == 0) return false;
    }
    const uint64_t whole = uint64_t{access->elements} * access->element_bytes;
    const bool alone = access->elements == 1 && event.space != MemorySpace::kLocal;
    if (!any(alone ? begin : begin & ~uint64_t{15}, alone ? whole : std::max<uint64_t>(whole, 16))) return false;
    // Recursive functions have several instances of their registers.
    const FunctionInfo& entry = program_->functions[0];
    if (!program_->bounded_stack && !(event.pc >= entry.entry_pc && event.pc < entry.end_pc)) return true;
    BlockStates* block = FindBlock(event.block_index);
    if (block == nullptr) return true;
    if (block->unwritten.empty()) block->unwritten.resize(warps_ * program_->copies->slots);
    const uint32_t step = std::min<uint32_t>(access->element_bytes, kWordBytes);
    for (uint32_t offset = first; offset < end; offset += step) {
      const uint32_t slot = SlotOf(*access, offset);
      if (slot != CopyPlan::kNoSlot) Unwritten(*block, event)[slot] |= LaneMask{1} << lane;
    }
    return copied_unwritten_ = true;
  }
  LaneMask* Unwritten(BlockStates& block, const MemoryAccess& event) const {
    return &block.unwritten[event.warp_index * program_->copies->slots];
  }

  // Tracks registers that hold unwritten words: a load replaces them, and storing them does not count as a write. True:
  // the event needs no further handling.
  [[gnu::noinline]] bool FollowCopy(const MemoryAccess& event) {
    const CopyPlan::Access* access = program_->copies->At(event.pc);
    BlockStates* block = access == nullptr ? nullptr : FindBlock(event.block_index);
    if (block == nullptr || block->unwritten.empty() || event.kind == AccessKind::kAtomic) return false;
    LaneMask* const unwritten = Unwritten(*block, event);
    const uint32_t step = std::min<uint32_t>(access->element_bytes, kWordBytes);
    LaneMask any = 0;
    for (uint32_t offset = 0; offset < event.bytes; offset += step) {
      const uint32_t slot = SlotOf(*access, event.skipped + offset);
      if (slot == CopyPlan::kNoSlot) continue;
      any |= unwritten[slot] & event.mask;
      if (event.kind == AccessKind::kLoad) unwritten[slot] &= ~event.mask;
    }
    if (event.kind == AccessKind::kLoad || any == 0) return false;
    if (block->local.size() < warps_) block->local.resize(warps_);
    for (const uint32_t lane : EachLane(event.mask)) {
      for (uint32_t offset = 0; offset < event.bytes; offset += step) {
        const uint32_t slot = SlotOf(*access, offset);
        if (slot != CopyPlan::kNoSlot && (unwritten[slot] >> lane & 1) != 0) continue;
        const uint64_t address = event.address[lane] + offset;
        if (event.space == MemorySpace::kShared) {
          block->shared.Set(address, step);
        } else if (event.space == MemorySpace::kGlobal) {
          global_.Set(address, step);
        } else if (event.space == MemorySpace::kLocal) {
          block->local[event.warp_index].Set(address, step, LaneMask{1} << lane);
        }
      }
    }
    return true;
  }

  void Report(const MemoryAccess& event, uint32_t lane, uint64_t address, uint64_t bytes) {
    // If several blocks reduce to one word, only the first finds it unwritten.
    if (isolation_ != nullptr && event.space == MemorySpace::kGlobal && event.kind == AccessKind::kAtomic) {
      isolation_->Break();
    }
    RawFinding finding;
    finding.kind = FindingKind::kUninitialized;
    finding.first = {event.block_index, event.warp_index * kWarpSize + lane, event.pc, event.kind};
    finding.has_memory = true;
    finding.space = event.space;
    finding.address = address;
    finding.bytes = static_cast<uint32_t>(bytes);
    if (event.space == MemorySpace::kGlobal) {
      const auto next = allocations_->upper_bound(address);
      if (next != allocations_->begin() && std::prev(next)->second.CountedElements()) finding.hint = Hint::kCountsBytes;
    }
    findings_.Add(finding);
  }

  void NoteHostWrite(uint64_t address, uint64_t bytes) {
    if (const auto at = allocations_->find(address); at != allocations_->end()) at->second.written = bytes;
  }

  size_t warps_ = 0;
  const Program* program_ = nullptr;
  bool copied_unwritten_ = false;  // in this launch, registers have held unwritten words
  std::shared_ptr<GlobalByteStates> states_ = std::make_shared<GlobalByteStates>();
  GlobalByteStates& global_ = *states_;
  std::shared_ptr<std::map<uint64_t, HostWrites>> allocations_ =
      std::make_shared<std::map<uint64_t, HostWrites>>();  // by address
  std::unordered_map<uint32_t, std::unique_ptr<BlockStates>> blocks_;
  std::vector<std::unique_ptr<BlockStates>> idle_;
  BlockStates* current_ = nullptr;
  uint32_t current_index_ = 0;
  FindingTable findings_;
  BlockIsolation* isolation_ = nullptr;  // of a fork
};

}  // namespace

std::unique_ptr<Checker> MakeUninitializedChecker() { return std::make_unique<UninitializedChecker>(); }

}  // namespace lockstep::vgpu
