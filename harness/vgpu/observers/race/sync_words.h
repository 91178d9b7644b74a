// The words by which threads tell each other something, and what is ordered behind them.
//
// Theory of operation. Between threads that no barrier orders, order comes from a word: one thread writes it, another
// reads what was written. In the manner of ThreadSanitizer every such word has clocks of its own (order_clock.h), with
// the scopes of PTX's memory model:
//
//   * A fence *releases* what its thread knows at its scope: all that its warp did until then and all that happened
//     before that. A barrier passes on what has been fenced, so one thread may fence for its block behind a barrier,
//     or each for itself before it.
//   * A strong or volatile store, or an atomic operation, *publishes* on its word what is released, at most at its own
//     scope. A store replaces what stood there; a read-modify-write adds to it. What was done behind the fence, or
//     without one, is not published.
//   * A strong or volatile load, or an atomic that returns a value, makes what stands on its word *pending* for its
//     warp. The next fence acquires what is pending at its scope; a barrier of the block acquires all of it, for all
//     threads that meet there.
//   * Behind an atomic that has returned a value, volatile and strong accesses of its warp come after what stood on its
//     word without a fence: they go where the atomic operation took place. Plain ones do not.
//   * .release is a fence before the access, .acquire one behind it, at the scope of the access.
//
// Three scopes are told apart: block, cluster, device; the system is the device. What a block publishes at block scope
// only threads of that block find, and likewise for clusters.
//
// Where this is more generous than the model: lanes of a warp share what their warp has fenced and acquired; what a
// thread fenced is released by other threads behind a barrier; fences that only acquire also release, and the other way
// round; a compare-and-swap that fails adds to its word all the same; a plain store leaves its clocks as they are. A
// word is found by the address of each of its four bytes, or by its own where it is smaller. Of more than kMost words
// the rest share one, which only grows.
//
// A launch without fences has no such words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
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
using LevelGroups = std::array<uint32_t, kOrderLevels>;  // which block, which cluster, 0
inline constexpr uint32_t kNoGroup = ~uint32_t{0};       // of a launch without clusters: what its blocks do suffices

class SyncWords {
 public:
  static constexpr size_t kMost = size_t{1} << 18;

  bool empty() const { return words_.empty(); }
  // replaces: a store, not a read-modify-write.
  void Publish(const MemoryAccess& event, OrderLevel level, bool replaces, const LevelGroups& groups,
               const LevelClocks& fenced);
  // Adds to `pending` what stands on the words of an access by a block of these groups. False: that was nothing new.
  bool Read(const MemoryAccess& event, OrderLevel level, const LevelGroups& groups, LevelClocks& pending);
  // Whether the block has read, by Read, what was last published on the word at this address, or added to it.
  bool Observed(uint64_t address, uint32_t bytes, uint32_t block) const;
  // Whether somebody has read the word by an atomic or strong load, or to wait, and it was published on before.
  bool IsFlag(uint64_t address) const {
    const auto at = words_.find(address);
    return at == words_.end() ? words_.size() >= kMost : at->second.is_flag;
  }
  void Clear() {
    words_.clear();
    rest_ = {};
  }
  // How often something was published.
  uint64_t published() const { return published_; }

 private:
  using GroupClocks = std::vector<std::pair<uint32_t, OrderClock>>;  // in order
  struct Word {
    std::array<GroupClocks, kOrderLevels> clocks;
    std::vector<uint32_t> observers;  // blocks
    bool observed_by_all = false, is_flag = false;
  };
  static constexpr size_t kMostObservers = 64;

  void PublishOn(uint64_t key, OrderLevel level, bool replaces, const LevelGroups& groups, const LevelClocks& fenced);
  static bool Take(Word& word, OrderLevel level, const LevelGroups& groups, LevelClocks& pending);

  std::unordered_map<uint64_t, Word> words_;
  Word rest_;
  uint64_t published_ = 0;
};

}  // namespace lockstep::vgpu
