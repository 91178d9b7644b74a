// Accesses of shared memory that the engine has noted down, to tell the observers of them together.
//
// Most accesses that a checked program makes are weak ones of shared memory, and most of them can do no harm: between
// two barriers of a block, memory is either read or written, and by one thread. So the engine notes such an access in
// 12 bytes and goes on. What a whole batch lies in mostly tells the observers that nothing of it matters.
//
// A load is noted unless it may hit what a noted store has written. A store is noted where nothing that went before it
// since the last barrier of the whole block, noted or told, can have hit the same bytes: so nobody ever needs to know
// what lay there before. Observers are told of what is noted before anything else that must come behind: any other
// access of shared memory, those by which threads synchronise, fences, barriers, the block's end. Weak accesses of
// global and local memory may come before it.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "vgpu/memory/access_pattern.h"
#include "vgpu/observers/access_extent.h"
#include "vgpu/observers/observer.h"

namespace lockstep::vgpu {

struct SharedNote {
  uint32_t place;  // pc, whether it is a store, binary logarithm of a lane's bytes, warp
  uint32_t first;  // the first active lane's address
  LaneMask mask;

  static constexpr uint32_t kMostPcs = 1u << 23;
  static uint32_t PlaceOf(uint32_t pc, bool store, uint32_t bytes, uint32_t warp) {
    return pc << 9 | uint32_t{store} << 8 | static_cast<uint32_t>(std::countr_zero(bytes)) << 5 | warp;
  }
  uint32_t pc() const { return place >> 9; }
  bool store() const { return (place >> 8 & 1) != 0; }
  uint32_t bytes() const { return 1u << (place >> 5 & 7); }
  uint32_t warp() const { return place & (kWarpSize - 1); }
};

// Of one block.
class SharedNotes {
 public:
  static constexpr uint32_t kMost = 512;

  // patterns, by pc: how the lanes lie; nullptr: side by side. They stay as they are while accesses are noted.
  explicit SharedNotes(const AccessPattern* const* patterns) : patterns_(patterns) {}

  bool empty() const { return size_ == 0; }
  bool HasRoom(uint32_t block_index) const { return block_index == block_index_ && size_ < kMost; }
  void Begin(uint32_t block_index) {
    block_index_ = block_index;
    size_ = 0;
    warps_ = 0;
    loads_ = stores_ = {};
    last_ = false;
  }
  [[gnu::always_inline]] void Add(const SharedNote& note, const Extent& extent) {
    (note.store() ? stores_ : loads_).Join(extent);
    notes_[size_++] = note;
    warps_ |= 1u << note.warp();
  }
  // Told next: a barrier of the whole block, or its end.
  void set_last() { last_ = true; }

  uint32_t block_index() const { return block_index_; }
  const Extent& loads() const { return loads_; }  // where all loads lie
  const Extent& stores() const { return stores_; }
  uint32_t warps() const { return warps_; }  // bit w: warp w has accesses here
  bool last() const { return last_; }
  const SharedNote* begin() const { return notes_.data(); }
  const SharedNote* end() const { return notes_.data() + size_; }

  // nullptr: side by side.
  const AccessPattern* PatternOf(const SharedNote& note) const { return patterns_[note.pc()]; }
  Extent ExtentOf(const SharedNote& note) const {
    if (const AccessPattern* pattern = PatternOf(note)) {
      const uint32_t low = note.first + pattern->low;
      return {low, uint64_t{low} + pattern->span};
    }
    const int lanes = kWarpSize - std::countl_zero(note.mask) - std::countr_zero(note.mask);
    return {note.first, note.first + static_cast<uint64_t>(lanes) * note.bytes()};
  }
  // The access as an event of its own. address: room for its addresses.
  MemoryAccess Event(const SharedNote& note, uint64_t address[kWarpSize]) const {
    const AccessPattern* pattern = PatternOf(note);
    MemoryAccess event{};
    event.space = MemorySpace::kShared;
    event.kind = note.store() ? AccessKind::kStore : AccessKind::kLoad;
    event.bytes = static_cast<uint8_t>(note.bytes());
    event.form = pattern == nullptr ? AccessForm::kUnit : pattern->form;
    event.mask = note.mask;
    event.address = address;
    event.pc = note.pc();
    event.block_index = block_index_;
    event.warp_index = note.warp();
    event.thread_base = note.warp() * kWarpSize;
    event.plain_shared_load = !note.store();
    if (pattern == nullptr) {
      const uint64_t bytes = note.bytes();
      const uint64_t origin = note.first - static_cast<uint64_t>(std::countr_zero(note.mask)) * bytes;
      for (uint64_t lane = 0; lane < kWarpSize; ++lane) address[lane] = origin + lane * bytes;
    } else {
      for (int lane = 0; lane < kWarpSize; ++lane) address[lane] = note.first + pattern->offset[lane];
    }
    return event;
  }

 private:
  const AccessPattern* const* patterns_;
  uint32_t block_index_ = ~uint32_t{0};
  uint32_t size_ = 0, warps_ = 0;
  bool last_ = false;
  Extent loads_, stores_;
  std::array<SharedNote, kMost> notes_;
};

// Where a block's accesses since its last barrier lie, so that it can be told which stores may be noted.
class SharedUse {
 public:
  void Resize(uint64_t shared_bytes) { stored_words_.assign(shared_bytes / 4 / 32 + 2, 0); }
  // After a barrier of the whole block, or at its begin.
  void Begin() {
    told_ = {};
    if (stored_.high == 0) return;
    const auto words = stored_words_.begin();
    std::fill(words + static_cast<std::ptrdiff_t>(stored_.low / 128),
              words + static_cast<std::ptrdiff_t>(stored_.high / 128 + 2), 0u);
    stored_ = {};
  }
  // Observers have been told of accesses, or will be at once.
  void Tell(const Extent& extent) { told_.Join(extent); }
  // A store of 4 bytes a lane, side by side; words: which of those from extent.low on. False where it may not be noted.
  [[gnu::always_inline]] bool TakeStore(const Extent& extent, LaneMask words) {
    if (extent.Meets(told_)) return false;
    const uint64_t word = extent.low / 4;
    uint32_t* const at = &stored_words_[word / 32];
    const uint64_t bits = uint64_t{words} << (word % 32);
    uint64_t stored = 0;
    std::memcpy(&stored, at, sizeof stored);
    if ((stored & bits) != 0) return false;
    stored |= bits;
    std::memcpy(at, &stored, sizeof stored);
    stored_.Join(extent);
    return true;
  }

 private:
  Extent told_, stored_;
  std::vector<uint32_t> stored_words_;  // a bit a word of shared memory: noted stores
};

}  // namespace lockstep::vgpu
