// Shared-memory accesses that the engine has noted, to report them to observers together.
//
// Most accesses of a checked program are weak accesses of shared memory, and most are harmless: between two block-wide
// barriers, memory is either only read, or written by one thread. So the engine notes such an access in 12 bytes and
// continues. The address range of a whole batch is usually enough for observers to see that it is harmless.
//
// A load is noted unless it may overlap a noted store. A store is noted if no access since the last block-wide barrier,
// noted or reported, can overlap it; so no one ever needs the bytes that it overwrites. Noted accesses are reported
// before any event that must come after them: other shared-memory accesses, accesses that synchronise threads, fences,
// barriers, the block's end. Weak accesses of global and local memory may be reported before them.
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
  uint32_t place;  // pc, store or load, log2 of the bytes per lane, warp
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

// The noted accesses of one block.
class SharedNotes {
 public:
  static constexpr uint32_t kMost = 512;

  // patterns, by pc: the lanes' address pattern; nullptr: consecutive. They do not change while accesses are noted.
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
  // The next event is a block-wide barrier or the block's end.
  void set_last() { last_ = true; }

  uint32_t block_index() const { return block_index_; }
  const Extent& loads() const { return loads_; }  // covers all loads
  const Extent& stores() const { return stores_; }
  uint32_t warps() const { return warps_; }  // bit w: warp w has accesses here
  bool last() const { return last_; }
  const SharedNote* begin() const { return notes_.data(); }
  const SharedNote* end() const { return notes_.data() + size_; }

  // nullptr: consecutive lanes.
  const AccessPattern* PatternOf(const SharedNote& note) const { return patterns_[note.pc()]; }
  Extent ExtentOf(const SharedNote& note) const {
    if (const AccessPattern* pattern = PatternOf(note)) {
      const uint32_t low = note.first + pattern->low;
      return {low, uint64_t{low} + pattern->span};
    }
    const int lanes = kWarpSize - std::countl_zero(note.mask) - std::countr_zero(note.mask);
    return {note.first, note.first + static_cast<uint64_t>(lanes) * note.bytes()};
  }
  // Expands a note into an event. address: buffer for its addresses.
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

// The address ranges of a block's accesses since its last barrier; decides which stores may be noted.
class SharedUse {
 public:
  void Resize(uint64_t shared_bytes) { stored_words_.assign(shared_bytes / 4 / 32 + 2, 0); }
  // After a block-wide barrier, or at the block's start.
  void Begin() {
    told_ = {};
    if (stored_.high == 0) return;
    const auto words = stored_words_.begin();
    std::fill(words + static_cast<std::ptrdiff_t>(stored_.low / 128),
              words + static_cast<std::ptrdiff_t>(stored_.high / 128 + 2), 0u);
    stored_ = {};
  }
  // Accesses that have been or are about to be reported to observers.
  void Tell(const Extent& extent) { told_.Join(extent); }
  // A store of consecutive addresses, 4 bytes per lane. words: which words from extent.low on. False: it may not be
  // noted.
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
  std::vector<uint32_t> stored_words_;  // one bit per word of shared memory: noted stores
};

}  // namespace lockstep::vgpu
