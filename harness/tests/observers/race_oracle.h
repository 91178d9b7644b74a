// The plain definition of a race, for tests of the race checker: every thread has its own vector clock, every access is
// remembered byte by byte, every word by which threads synchronise has its clocks in full. Quadratic, and meant to be
// read: RaceOracle::Race is the rule, and the functions above it define what is ordered.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/observers/observer_events.h"

namespace lockstep::vgpu {

inline constexpr uint32_t kOracleBlocks = 4, kOracleClusterBlocks = 2, kOracleWarps = 3;
inline constexpr uint32_t kOracleAllWarps = kOracleBlocks * kOracleWarps;
inline constexpr uint32_t kOracleThreads = kOracleAllWarps * kWarpSize;  // numbered through the grid
inline constexpr uint32_t kOracleAllOfBlock = (1u << kOracleWarps) - 1;  // warps, a bit each
inline constexpr uint64_t kOracleGlobal = 0x200000000f00;                // beginning of global memory

// One access of a warp.
struct OracleStep {
  uint32_t warp = 0;  // of the grid
  uint32_t pc = 0;
  LaneMask mask = kFullMask;
  std::array<uint64_t, kWarpSize> address{};
  EventSource::Options options;
  bool behind_fence = false;  // the warp has done nothing since a fence
  bool awaited = false;       // RaceOracle::Awaited

  uint32_t block() const { return warp / kOracleWarps; }
  size_t level() const {
    if (options.order == MemoryOrder::kVolatile) return 2;
    return options.scope == MemoryScope::kCta ? 0 : options.scope == MemoryScope::kCluster ? 1 : 2;
  }
  bool load() const { return options.kind == AccessKind::kLoad; }
  bool store() const { return options.kind == AccessKind::kStore; }
  bool atomic() const { return options.kind == AccessKind::kAtomic; }
  bool shared() const { return options.space == MemorySpace::kShared; }
  bool synchronises() const { return atomic() || options.order != MemoryOrder::kWeak; }
  bool strong() const {
    const bool sets_flag = shared() && store() && options.order == MemoryOrder::kVolatile && behind_fence;
    return atomic() || options.order > MemoryOrder::kVolatile || waits() || sets_flag;
  }
  bool plain_volatile() const { return synchronises() && !strong(); }
  bool relaxed_in_shared() const { return shared() && !atomic() && options.order == MemoryOrder::kRelaxed && !waits(); }
  // With LaunchInfo::strong_is_data.
  bool one_way() const { return options.order > MemoryOrder::kVolatile && !waits() && (shared() || level() != 0); }
  bool only_reads() const {
    return one_way() &&
           (load() || (atomic() && options.returns_value && !options.overwrites && (mask & ~options.keeps) == 0));
  }
  bool only_writes() const {
    return one_way() && (store() || (atomic() && (options.overwrites || !options.returns_value)));
  }
  bool waits() const { return options.waits || awaited; }
  bool hears() const { return load() || (atomic() && options.returns_value); }
  bool Keeps(uint32_t lane) const { return (options.keeps >> lane & 1) != 0; }
  bool has(uint32_t lane) const { return (mask >> lane & 1) != 0; }
};

class RaceOracle {
 public:
  explicit RaceOracle(bool strong_is_data = false)
      : strong_is_data_(strong_is_data), clock_(kOracleThreads, Clock(kOracleThreads)) {
    Launch();
  }

  // Synchronisation.

  void Launch() {
    for (uint32_t t = 0; t < kOracleThreads; ++t) {
      std::fill(clock_[t].begin(), clock_[t].end(), 0u);
      clock_[t][t] = 1;
    }
    order_ = {};
    words_.clear();
    awaited_.clear();
    past_.clear();
    copies_.clear();
    meetings_.clear();
    exited_ = 0;
  }
  void SyncWarp(uint32_t warp, LaneMask mask) {
    const std::vector<uint32_t> threads = ThreadsOf(warp, mask);
    const Clock joined = Until(threads);
    for (const uint32_t t : threads) Join(clock_[t], joined);
  }
  // A warp arrives at a barrier of its block. Once the barrier completes, its earlier accesses precede all later ones
  // of the warps that wait there. When all remaining warps wait, exited warps count as arrived.
  void Arrive(uint32_t warp, uint32_t barrier, bool waits) {
    Meeting& meeting = meetings_[{warp / kOracleWarps, barrier}];
    if (waits) meeting.waiting.push_back(warp);
    Bring(meeting, warp);
  }
  void Complete(uint32_t block, uint32_t barrier) {
    Meeting& meeting = meetings_[{block, barrier}];
    uint32_t settled = exited_;
    for (const uint32_t warp : meeting.waiting) settled |= 1u << warp;
    const uint32_t all = kOracleAllOfBlock << (block * kOracleWarps);
    for (uint32_t warp = 0; warp < kOracleAllWarps && (settled & all) == all; ++warp) {
      if ((exited_ & all) >> warp & 1) Bring(meeting, warp);
    }
    for (const uint32_t warp : meeting.waiting) {
      for (const uint32_t t : ThreadsOf(warp)) Join(clock_[t], meeting.clock);
      for (size_t k = 0; k < kLevels; ++k) Join(order_[warp].fenced[k], meeting.fenced[k]);
    }
    meeting = {};
  }
  void Exit(uint32_t warp) { exited_ |= 1u << warp; }
  bool exited(uint32_t warp) const { return (exited_ >> warp & 1) != 0; }
  void Fence(uint32_t warp, size_t level) {
    Acquire(warp, level);
    Release(warp, level);
  }
  // What the access publishes and reads.
  void Synchronise(const OracleStep& step) {
    if (!step.synchronises()) return;
    const MemoryOrder order = step.options.order;
    if (!step.load() && (order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease)) {
      Release(step.warp, step.level());
    }
    Order& own = order_[step.warp];
    if (step.hears()) {
      ForWords(step, true, [&](const Place& key) { Hear(step, own, key); });
      if (order == MemoryOrder::kAcquire || order == MemoryOrder::kAcquireRelease) Acquire(step.warp, step.level());
    }
    if (!step.load()) ForWords(step, false, [&](const Place& key) { Publish(step, own, key); });
    if (step.options.waits) ForWords(step, false, [&](const Place& key) { awaited_.insert(key); });
  }
  // With LaunchInfo::strong_is_data: whether some thread has waited on each of the words that the access reads.
  bool Awaited(const OracleStep& step) const {
    bool all = strong_is_data_ && step.hears();
    ForWords(step, false, [&](const Place& key) { all = all && awaited_.contains(key); });
    return all;
  }

  // The accesses.

  // An earlier access to a byte, or one of the same instruction by a lower lane.
  struct Past {
    const OracleStep* step;
    uint32_t lane, time;

    uint32_t thread() const { return step->warp * kWarpSize + lane; }
  };
  using Place = std::pair<int, uint64_t>;  // -1: global memory, else a block's shared memory; the address
  static Place PlaceOf(const OracleStep& step, uint32_t lane, uint64_t byte = 0) {
    return {step.shared() ? static_cast<int>(step.block()) : -1, step.address[lane] + byte};
  }

  // kSameValue: they would race if they did not store the same value. kCopyRace: the earlier one is a copy that may
  // still happen at any moment, whatever is between its issue and now. kStaleRace: a load through the constant cache
  // races with a store that comes before it, but something else has been stored since.
  // kTorn: two halves of the value come from two stores of one thread, and no fence is between these.
  enum Verdict { kNone, kSameValue, kRace, kCopyRace, kStaleRace, kTorn };
  // f(lane, place of the byte, past, verdict) for all pairs that race or store one value.
  template <typename F>
  void ForRaces(const OracleStep& step, const F& f) const {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!step.has(lane)) continue;
      for (uint32_t k = 0; k < static_cast<uint32_t>(step.options.bytes); ++k) {
        const Place place = PlaceOf(step, lane, k);
        if (const auto at = past_.find(place); at != past_.end()) {
          const auto last_store =
              std::find_if(at->second.rbegin(), at->second.rend(), [](const Past& past) { return !past.step->load(); });
          bool has_read = false;  // the thread, after the past access
          for (size_t index = at->second.size(); index-- > 0;) {
            const Past& past = at->second[index];
            const bool lies_there = last_store != at->second.rend() && &past == &*last_store;
            if (const Verdict verdict = Race(past, lies_there, has_read, step, lane)) f(lane, place, past, verdict);
            has_read |= past.step->load() && past.thread() == step.warp * kWarpSize + lane;
          }
        }
        if (const Past* half = Torn(step, lane, k)) f(lane, place, *half, kTorn);
        const auto copy = copies_.find(place);
        if (copy != copies_.end() && copy->second.thread() != step.warp * kWarpSize + lane) {
          f(lane, place, copy->second, kCopyRace);
        }
      }
      for (uint32_t lower = 0; lower < lane; ++lower) {
        if (!step.has(lower) || step.address[lower] != step.address[lane]) continue;
        const Past past{&step, lower, TimeOf(step, lower)};
        const Verdict verdict = Race(past, false, false, step, lane);
        for (uint32_t k = 0; verdict != kNone && k < static_cast<uint32_t>(step.options.bytes); ++k) {
          f(lane, PlaceOf(step, lane, k), past, verdict);
        }
      }
    }
  }
  // The step must stay where it is.
  void Remember(const OracleStep& step) {
    ForBytes(step,
             [&](uint32_t lane, const Place& place) { past_[place].push_back({&step, lane, TimeOf(step, lane)}); });
  }
  // An asynchronous copy may store at any moment from its issue to its end.
  void BeginCopy(const OracleStep& step) {
    ForBytes(step, [&](uint32_t lane, const Place& place) { copies_[place] = {&step, lane, TimeOf(step, lane)}; });
  }
  void EndCopy(const OracleStep& step) {
    ForBytes(step, [&](uint32_t, const Place& place) { copies_.erase(place); });
  }
  bool copying(const OracleStep& step) const {
    bool any = false;
    ForBytes(step, [&](uint32_t, const Place& place) { any |= copies_.contains(place); });
    return any;
  }

  // The state of a warp that Synchronise may change, to undo an access that is left out.
  struct Before;
  Before Keep(uint32_t warp) const;
  void Restore(uint32_t warp, Before&& before);

 private:
  static constexpr size_t kLevels = 3;  // block, cluster, device

  using Clock = std::vector<uint32_t>;  // by thread: its accesses with smaller times are known; empty: none
  struct Order {
    std::array<Clock, kLevels> fenced, pending, told;
  };
  struct Word {
    std::array<std::map<uint32_t, Clock>, kLevels> clocks;
    std::set<uint32_t> observers;
    bool is_flag = false;
  };

  struct Meeting {
    Clock clock;
    std::array<Clock, kLevels> fenced;
    std::vector<uint32_t> waiting;  // warps
  };

  // When two accesses to a byte race: of different threads, not both loads, ordered by nothing, and none of the
  // exceptions of docs/concepts/fault-checking.md, which are given in its order, that of equal values last.
  // lies_there: the earlier access is the last that has written the byte.
  // has_read: this thread has read the byte since.
  Verdict Race(const Past& past, bool lies_there, bool has_read, const OracleStep& step, uint32_t lane) const {
    const OracleStep& old = *past.step;
    const uint32_t thread = step.warp * kWarpSize + lane;
    const auto reads = [&](const OracleStep& s) { return s.load() || (strong_is_data_ && s.only_reads()); };
    if (past.thread() == thread || (reads(old) && reads(step))) return kNone;
    const bool stale = step.options.constant && !old.load();  // whatever is between the two
    if (past.time < clock_[thread][past.thread()]) return !stale ? kNone : lies_there ? kRace : kStaleRace;
    if (step.synchronises() && (!step.store() || has_read) && Told(past, step.warp)) return kNone;

    // Atomics, and strong accesses: with each other within their scopes, and with volatile ones.
    const bool same_block = old.block() == step.block(), same_warp = old.warp == step.warp;
    if (old.synchronises() && step.synchronises()) {
      const auto within_block = [](const OracleStep& s) { return s.strong() && s.level() == 0 && !s.shared(); };
      const bool relies_on_step =
          same_warp && old.relaxed_in_shared() && step.relaxed_in_shared() && old.load() != step.load();
      const auto is_data = [](const OracleStep& a, const OracleStep& b) {
        return (a.only_reads() || (a.plain_volatile() && a.load())) &&
               (b.only_writes() || (b.plain_volatile() && b.store()));
      };
      if (!relies_on_step && !(strong_is_data_ && (is_data(old, step) || is_data(step, old)))) {
        if (within_block(old) || within_block(step)) {
          if (same_block) return kNone;
        } else if (old.strong() || step.strong()) {
          return kNone;
        }
      }
    }
    // Volatile stores that set a flag.
    const auto found = words_.find(PlaceOf(step, lane));
    const Word* word = found == words_.end() ? nullptr : &found->second;
    if (old.store() && step.store() && !step.shared() && old.plain_volatile() && step.plain_volatile() &&
        (same_warp || (word != nullptr && word->is_flag))) {
      return kNone;
    }
    // A plain access to a word of which this block has already read the stored value: the store comes first.
    if (!step.shared() && !step.synchronises() && !stale && old.synchronises() && !old.load() && Observed(step, lane)) {
      return kNone;
    }
    // Stores of the same value: by all lanes that share an address, or equal to the value already in memory.
    const bool same_value = &old == &step ? step.options.same_value : step.Keeps(lane);
    return old.store() && step.store() && same_value ? kSameValue : kRace;
  }
  // The store that byte k of the load comes from, if byte k - 4 comes from another one of the same thread.
  const Past* Torn(const OracleStep& step, uint32_t lane, uint32_t k) const {
    if (!step.load() || !step.synchronises() || k % 8 < 4) return nullptr;
    const Past* halves[] = {LastStore(PlaceOf(step, lane, k)), LastStore(PlaceOf(step, lane, k - 4))};
    for (const Past* half : halves) {
      if (half == nullptr || !half->step->store() || half->thread() == step.warp * kWarpSize + lane) return nullptr;
      if (half->time < clock_[step.warp * kWarpSize + lane][half->thread()]) return nullptr;
    }
    const bool apart = halves[0]->thread() != halves[1]->thread() || halves[0]->time != halves[1]->time;
    return apart || halves[0]->step->pc == halves[1]->step->pc ? nullptr : halves[0];
  }
  const Past* LastStore(const Place& place) const {
    const auto at = past_.find(place);
    if (at == past_.end()) return nullptr;
    const auto last =
        std::find_if(at->second.rbegin(), at->second.rend(), [](const Past& p) { return !p.step->load(); });
    return last == at->second.rend() ? nullptr : &*last;
  }
  bool Told(const Past& past, uint32_t warp) const {
    const auto& told = order_[warp].told;
    return std::any_of(told.begin(), told.end(), [&](const Clock& clock) {
      return past.thread() < clock.size() && past.time < clock[past.thread()];
    });
  }
  bool Observed(const OracleStep& step, uint32_t lane) const {
    for (uint64_t k = 0; k < static_cast<uint64_t>(step.options.bytes); k += 4) {
      const auto word = words_.find(PlaceOf(step, lane, k));
      if (word != words_.end() && word->second.observers.contains(step.block())) return true;
    }
    return false;
  }

  static void Join(Clock& into, const Clock& from) {
    into.resize(std::max(into.size(), from.size()));
    for (size_t k = 0; k < from.size(); ++k) into[k] = std::max(into[k], from[k]);
  }
  uint32_t TimeOf(const OracleStep& step, uint32_t lane) const {
    const uint32_t thread = step.warp * kWarpSize + lane;
    return clock_[thread][thread];
  }
  template <typename F>
  static void ForBytes(const OracleStep& step, const F& f) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      for (uint64_t k = 0; step.has(lane) && k < static_cast<uint64_t>(step.options.bytes); ++k) {
        f(lane, PlaceOf(step, lane, k));
      }
    }
  }
  // The words of an access: one every four bytes from its address on. A read also finds the aligned word around it.
  template <typename F>
  static void ForWords(const OracleStep& step, bool reads, const F& f) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!step.has(lane)) continue;
      f(PlaceOf(step, lane));
      for (uint64_t k = 4; k < static_cast<uint64_t>(step.options.bytes); k += 4) f(PlaceOf(step, lane, k));
      const Place place = PlaceOf(step, lane);
      if (reads && place.second % 4 != 0) f({place.first, place.second / 4 * 4});
    }
  }
  void Hear(const OracleStep& step, Order& own, const Place& key) {
    const auto at = words_.find(key);
    if (at == words_.end()) return;
    for (size_t k = 0; k <= step.level(); ++k) {
      const auto held = at->second.clocks[k].find(GroupOf(step.block(), k));
      if (held == at->second.clocks[k].end()) continue;
      Join(own.pending[k], held->second);
      if (step.atomic()) Join(own.told[k], held->second);
    }
    at->second.observers.insert(step.block());
    at->second.is_flag |= step.strong();
  }
  void Publish(const OracleStep& step, const Order& own, const Place& key) {
    if (own.fenced[0].empty() && !words_.contains(key)) return;
    Word& word = words_[key];
    word.observers.clear();
    if (step.store()) word.clocks = {};
    for (size_t k = 0; k <= step.level(); ++k) {
      if (!own.fenced[k].empty()) Join(word.clocks[k][GroupOf(step.block(), k)], own.fenced[k]);
    }
  }
  static uint32_t GroupOf(uint32_t block, size_t level) {
    return level == 0 ? block : level == 1 ? block / kOracleClusterBlocks : 0;
  }
  static std::vector<uint32_t> ThreadsOf(uint32_t warp, LaneMask mask = kFullMask) {
    std::vector<uint32_t> threads;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane & 1) != 0) threads.push_back(warp * kWarpSize + lane);
    }
    return threads;
  }
  // A clock of all that the threads have done so far; what they do later gets later times.
  Clock Until(const std::vector<uint32_t>& threads) {
    Clock joined;
    for (const uint32_t t : threads) {
      ++clock_[t][t];
      Join(joined, clock_[t]);
    }
    return joined;
  }
  void Bring(Meeting& meeting, uint32_t warp) {
    Acquire(warp, 2);
    for (size_t k = 0; k < kLevels; ++k) Join(meeting.fenced[k], order_[warp].fenced[k]);
    Join(meeting.clock, Until(ThreadsOf(warp)));
  }
  // Lanes share what their warp fences and acquires.
  void Release(uint32_t warp, size_t level) {
    const Clock now = Until(ThreadsOf(warp));
    for (size_t k = 0; k <= level; ++k) order_[warp].fenced[k] = now;
  }
  void Acquire(uint32_t warp, size_t level) {
    for (size_t k = 0; k <= level; ++k) {
      for (const uint32_t t : ThreadsOf(warp)) Join(clock_[t], order_[warp].pending[k]);
      order_[warp].pending[k].clear();
    }
  }

  const bool strong_is_data_;
  std::vector<Clock> clock_;
  std::array<Order, kOracleAllWarps> order_;
  std::map<Place, Word> words_;
  std::set<Place> awaited_;
  std::map<Place, std::vector<Past>> past_;
  std::map<Place, Past> copies_;                               // not finished
  std::map<std::pair<uint32_t, uint32_t>, Meeting> meetings_;  // by block and barrier
  uint32_t exited_ = 0;                                        // warps of the grid
};

struct RaceOracle::Before {
  std::vector<Clock> clock;
  Order order;
  std::map<Place, Word> words;
  std::set<Place> awaited;
};
inline RaceOracle::Before RaceOracle::Keep(uint32_t warp) const {
  const auto begin = clock_.begin() + warp * kWarpSize;
  return {{begin, begin + kWarpSize}, order_[warp], words_, awaited_};
}
inline void RaceOracle::Restore(uint32_t warp, Before&& before) {
  std::move(before.clock.begin(), before.clock.end(), clock_.begin() + warp * kWarpSize);
  order_[warp] = std::move(before.order);
  words_ = std::move(before.words);
  awaited_ = std::move(before.awaited);
}

}  // namespace lockstep::vgpu
