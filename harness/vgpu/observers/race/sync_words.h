// The words through which threads synchronise, and the order that they establish.
//
// Theory of operation. Threads that share no barrier are ordered through a word: one thread writes it, another reads
// the value. As in ThreadSanitizer, each such word has its own clocks (order_clock.h), here with the scopes of PTX's
// memory model:
//
//   * A fence *releases* what its thread knows, at the fence's scope: everything that its warp has done so far and
//     everything that happened before that. A barrier propagates what has been fenced, so one thread may fence for its
//     block after a barrier, or each thread for itself before it.
//   * A strong or volatile store, or an atomic, *publishes* on its word what has been released, at most at the access's
//     own scope. A store replaces the word's clocks; a read-modify-write adds to them. Accesses after the fence, or
//     without one, are not published.
//   * A strong or volatile load, or an atomic that returns a value, makes the word's clocks *pending* for its warp. The
//     next fence acquires what is pending at the fence's scope; a barrier of the block acquires all of it, for all
//     threads at the barrier.
//   * After an atomic that has returned a value, volatile and strong loads of its warp, and atomics, are ordered after
//     what its word published even without a fence: they are performed in the same place as the atomic. Plain ones are
//     not, nor are stores.
//   * .release is a fence before the access, .acquire one after it, at the access's scope.
//
// Three scopes are distinguished: block, cluster and device; system scope counts as device scope. What a block
// publishes at block scope is visible only to threads of that block; the same for clusters.
//
// Where this is more permissive than the memory model: lanes of a warp share what their warp has fenced and acquired; a
// barrier lets other threads release what one thread fenced; acquire-only fences also release, and vice versa; a failed
// compare-and-swap still adds to its word; a plain store does not change the word's clocks. A word is found by the
// address of any of its four bytes, or by its own address if it is smaller. Beyond kMost words all others share one,
// which only grows.
//
// A launch without fences has no such words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vgpu/observers/observer.h"
#include "vgpu/observers/race/order_clock.h"

namespace lockstep::vgpu {

enum OrderLevel : uint8_t { kBlockLevel, kClusterLevel, kDeviceLevel };
inline constexpr size_t kOrderLevels = 3;
inline OrderLevel LevelOf(MemoryScope scope) {
  return scope == MemoryScope::kCta ? kBlockLevel : scope == MemoryScope::kCluster ? kClusterLevel : kDeviceLevel;
}

using LevelClocks = std::array<OrderClock, kOrderLevels>;
using LevelGroups = std::array<uint32_t, kOrderLevels>;  // by level: number of the block, of the cluster, 0
inline constexpr uint32_t kNoGroup = ~uint32_t{0};       // for launches without clusters, which need no cluster order

class SyncWords {
 public:
  static constexpr size_t kMost = size_t{1} << 18;

  bool empty() const { return words_.empty(); }
  // replaces: a store rather than a read-modify-write.
  void Publish(const MemoryAccess& event, OrderLevel level, bool replaces, const LevelGroups& groups,
               const LevelClocks& fenced);
  // Adds to `pending` what the accessed words have published to a block of these groups. False: nothing was new.
  bool Read(const MemoryAccess& event, OrderLevel level, const LevelGroups& groups, LevelClocks& pending);
  // Whether the block has read, by Read, the newest value published on the word at this address.
  bool Observed(uint64_t address, uint32_t bytes, uint32_t block) const;
  // Whether a thread has read the word, after a publication on it, with an atomic or a strong load, or to wait.
  bool IsFlag(uint64_t address) const {
    const auto at = words_.find(address);
    return at == words_.end() ? words_.size() >= kMost : at->second.is_flag;
  }
  // A thread waits on these words. Awaited: some thread has waited on each of the words, since the launch began.
  void NoteWait(const MemoryAccess& event);
  bool Awaited(const MemoryAccess& event) const;
  void Begin() {
    Clear();
    awaited_.clear();
  }
  void Clear() {
    words_.clear();
    rest_ = {};
    was_generous_ = false;
  }
  // Whether, since Clear, accesses may have counted as ordered only because a limit was reached.
  bool was_generous() const { return was_generous_; }
  // Number of publications so far.
  uint64_t published() const { return published_; }

 private:
  using GroupClocks = std::vector<std::pair<uint32_t, OrderClock>>;  // sorted
  struct Word {
    std::array<GroupClocks, kOrderLevels> clocks;
    std::vector<uint32_t> observers;  // blocks that have read it
    bool observed_by_all = false, is_flag = false;
  };
  static constexpr size_t kMostObservers = 64;

  void PublishOn(uint64_t key, OrderLevel level, bool replaces, const LevelGroups& groups, const LevelClocks& fenced);
  static bool Take(Word& word, OrderLevel level, const LevelGroups& groups, LevelClocks& pending);

  std::unordered_map<uint64_t, Word> words_;
  std::unordered_set<uint64_t> awaited_;
  Word rest_;
  uint64_t published_ = 0;
  mutable bool was_generous_ = false;
};

}  // namespace lockstep::vgpu
