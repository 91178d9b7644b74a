// The race checker against the definition where threads of several blocks tell each other things by words in memory:
// every thread with its own vector clock, every access remembered, every word with its clocks in full.
//
// The definition is that of sync_words.h. Half of the programs are free of races by construction: an access that would
// race is left out. LOCKSTEP_RANDOM_PROGRAMS sets how many programs of each kind run.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/observers/observer_events.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kBlocks = 4, kClusterBlocks = 2, kWarps = 2, kAllWarps = kBlocks * kWarps;
constexpr uint32_t kThreads = kAllWarps * kWarpSize;  // numbered through the grid
constexpr size_t kLevels = 3;                         // block, cluster, device

using Clock = std::vector<uint32_t>;  // of each thread, accesses stamped below are known; empty: none
void Join(Clock& into, const Clock& from) {
  into.resize(std::max(into.size(), from.size()));
  for (size_t k = 0; k < from.size(); ++k) into[k] = std::max(into[k], from[k]);
}

struct Step {
  uint32_t warp = 0;  // of the grid
  LaneMask mask = kFullMask;
  uint64_t address = 0, lane_bytes = 0;  // of lane 0, from lane to lane
  EventSource::Options options;

  uint32_t block() const { return warp / kWarps; }
  size_t level() const {
    if (options.order == MemoryOrder::kVolatile) return 2;
    return options.scope == MemoryScope::kCta ? 0 : options.scope == MemoryScope::kCluster ? 1 : 2;
  }
  bool shared() const { return options.space == MemorySpace::kShared; }
  bool synchronises() const { return options.kind == AccessKind::kAtomic || options.order != MemoryOrder::kWeak; }
  bool strong() const {
    return options.kind == AccessKind::kAtomic || options.order > MemoryOrder::kVolatile || options.waits;
  }
  bool relaxed_in_shared() const {
    return shared() && options.kind != AccessKind::kAtomic && options.order == MemoryOrder::kRelaxed && !options.waits;
  }
  bool hears() const {
    return options.kind == AccessKind::kLoad || (options.kind == AccessKind::kAtomic && options.returns_value);
  }
};

class Oracle {
 public:
  Oracle() : clock_(kThreads, Clock(kThreads)) {
    for (uint32_t t = 0; t < kThreads; ++t) clock_[t][t] = 1;
  }

  void SyncWarp(uint32_t warp) { JoinAll(ThreadsOf(warp, warp + 1)); }
  void SyncBlock(uint32_t block) {
    const uint32_t begin = block * kWarps, end = begin + kWarps;
    Order together;
    for (uint32_t w = begin; w < end; ++w) {
      Acquire(w, 2);
      for (size_t k = 0; k < kLevels; ++k) Join(together.fenced[k], order_[w].fenced[k]);
    }
    for (uint32_t w = begin; w < end; ++w) {
      for (size_t k = 0; k < kLevels; ++k) Join(order_[w].fenced[k], together.fenced[k]);
    }
    JoinAll(ThreadsOf(begin, end));
  }
  void Fence(uint32_t warp, size_t level) {
    Acquire(warp, level);
    Release(warp, level);
  }
  // What the access publishes and reads.
  void Synchronise(const Step& step) {
    if (!step.synchronises()) return;
    const MemoryOrder order = step.options.order;
    const bool store = step.options.kind != AccessKind::kLoad;
    if (store && (order == MemoryOrder::kRelease || order == MemoryOrder::kAcquireRelease)) {
      Release(step.warp, step.level());
    }
    Order& own = order_[step.warp];
    if (step.hears()) {
      ForWords(step, [&](const Place& key) { Hear(step, own, key); });
      if (order == MemoryOrder::kAcquire || order == MemoryOrder::kAcquireRelease) Acquire(step.warp, step.level());
    }
    if (store) ForWords(step, [&](const Place& key) { Publish(step, own, key); });
  }
  bool Races(const Step& step) const {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!(step.mask >> lane & 1)) continue;
      const auto at = past_.find(PlaceOf(step, lane));
      if (at == past_.end()) continue;
      for (const Past& past : at->second) {
        if (Clash(past, step, lane)) return true;
      }
    }
    return false;
  }
  void Remember(const Step& step) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (!(step.mask >> lane & 1)) continue;
      const uint32_t thread = step.warp * kWarpSize + lane;
      past_[PlaceOf(step, lane)].push_back({step, thread, clock_[thread][thread]});
    }
  }

  // What Synchronise may change, of a warp.
  struct Order {
    std::array<Clock, kLevels> fenced, pending, told;
  };
  struct Word {
    std::array<std::map<uint32_t, Clock>, kLevels> clocks;
    std::set<uint32_t> observers;
    bool is_flag = false;
  };
  using Place = std::pair<int, uint64_t>;  // -1: global memory; else a block's shared memory
  struct Before {
    std::vector<Clock> clock;
    Order order;
    std::map<Place, Word> words;
  };
  Before Keep(uint32_t warp) const {
    const auto begin = clock_.begin() + warp * kWarpSize;
    return {{begin, begin + kWarpSize}, order_[warp], words_};
  }
  void Restore(uint32_t warp, Before&& before) {
    std::move(before.clock.begin(), before.clock.end(), clock_.begin() + warp * kWarpSize);
    order_[warp] = std::move(before.order);
    words_ = std::move(before.words);
  }

 private:
  struct Past {
    Step step;
    uint32_t thread, time;
  };
  static Place PlaceOf(const Step& step, uint32_t lane) {
    return {step.shared() ? static_cast<int>(step.block()) : -1, step.address + lane * step.lane_bytes};
  }
  template <typename F>
  static void ForWords(const Step& step, const F& f) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
      if (step.mask >> lane & 1) f(PlaceOf(step, lane));
    }
  }
  void Hear(const Step& step, Order& own, const Place& key) {
    const auto at = words_.find(key);
    if (at == words_.end()) return;
    for (size_t k = 0; k <= step.level(); ++k) {
      const auto held = at->second.clocks[k].find(GroupOf(step.block(), k));
      if (held == at->second.clocks[k].end()) continue;
      Join(own.pending[k], held->second);
      if (step.options.kind == AccessKind::kAtomic) Join(own.told[k], held->second);
    }
    at->second.observers.insert(step.block());
    at->second.is_flag |= step.strong();
  }
  void Publish(const Step& step, const Order& own, const Place& key) {
    if (own.fenced[0].empty() && !words_.contains(key)) return;
    Word& word = words_[key];
    word.observers.clear();
    if (step.options.kind == AccessKind::kStore) word.clocks = {};
    for (size_t k = 0; k <= step.level(); ++k) {
      if (!own.fenced[k].empty()) Join(word.clocks[k][GroupOf(step.block(), k)], own.fenced[k]);
    }
  }
  static uint32_t GroupOf(uint32_t block, size_t level) {
    return level == 0 ? block : level == 1 ? block / kClusterBlocks : 0;
  }
  static std::vector<uint32_t> ThreadsOf(uint32_t begin, uint32_t end) {  // warps
    std::vector<uint32_t> threads;
    for (uint32_t t = begin * kWarpSize; t < end * kWarpSize; ++t) threads.push_back(t);
    return threads;
  }
  void JoinAll(const std::vector<uint32_t>& threads) {
    Clock joined;
    for (const uint32_t t : threads) {
      ++clock_[t][t];
      Join(joined, clock_[t]);
    }
    for (const uint32_t t : threads) clock_[t] = joined;
  }
  // Lanes share what their warp fences and acquires.
  void Release(uint32_t warp, size_t level) {
    Clock now;
    for (const uint32_t t : ThreadsOf(warp, warp + 1)) {
      ++clock_[t][t];
      Join(now, clock_[t]);
    }
    for (size_t k = 0; k <= level; ++k) order_[warp].fenced[k] = now;
  }
  void Acquire(uint32_t warp, size_t level) {
    for (size_t k = 0; k <= level; ++k) {
      for (const uint32_t t : ThreadsOf(warp, warp + 1)) Join(clock_[t], order_[warp].pending[k]);
      order_[warp].pending[k].clear();
    }
  }
  bool Clash(const Past& past, const Step& step, uint32_t lane) const {
    const uint32_t thread = step.warp * kWarpSize + lane;
    const bool load = step.options.kind == AccessKind::kLoad, past_load = past.step.options.kind == AccessKind::kLoad;
    if (past.thread == thread || (load && past_load) || past.time < clock_[thread][past.thread]) return false;
    const auto told = [&](const Clock& clock) { return past.thread < clock.size() && past.time < clock[past.thread]; };
    const auto& all_told = order_[step.warp].told;
    if (step.synchronises() && std::any_of(all_told.begin(), all_told.end(), told)) return false;
    const bool same_block = past.step.block() == step.block();
    if (past.step.synchronises() && step.synchronises()) {
      const auto within_block = [](const Step& s) { return s.strong() && s.level() == 0 && !s.shared(); };
      // A load and a store that nothing but a warp's running in step would order.
      const bool in_step =
          past.step.warp == step.warp && past.step.relaxed_in_shared() && step.relaxed_in_shared() && load != past_load;
      if (in_step) {
        // data
      } else if (within_block(past.step) || within_block(step)) {
        if (same_block) return false;
      } else if (past.step.strong() || step.strong()) {
        return false;
      }
    }
    const auto word = words_.find(PlaceOf(step, lane));
    if (!step.shared() && !step.synchronises() && past.step.synchronises() && !past_load && word != words_.end() &&
        word->second.observers.contains(step.block())) {
      return false;
    }
    const auto plain_volatile = [](const Step& s) { return s.synchronises() && !s.strong(); };
    const bool stores = step.options.kind == AccessKind::kStore && past.step.options.kind == AccessKind::kStore;
    return !(stores && !step.shared() && plain_volatile(step) && plain_volatile(past.step) &&
             (past.step.warp == step.warp || (word != words_.end() && word->second.is_flag)));
  }

  std::vector<Clock> clock_;
  std::array<Order, kAllWarps> order_;
  std::map<Place, Word> words_;
  std::map<Place, std::vector<Past>> past_;
};

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  MemoryScope Scope() {
    constexpr std::array kScopes = {MemoryScope::kCta, MemoryScope::kCluster, MemoryScope::kGpu, MemoryScope::kGpu,
                                    MemoryScope::kSystem};
    return kScopes[Pick(kScopes.size())];
  }
  // Words that threads tell each other things by, lane 0's; or data: a row that each lane has a word of, or one word.
  Step Access() {
    Step step;
    step.warp = Pick(kAllWarps);
    step.options.space = Pick(4) == 0 ? MemorySpace::kShared : MemorySpace::kGlobal;
    const uint64_t base = step.shared() ? 0 : 0x200000000fc0;
    const bool word = Pick(2) == 0;
    if (word) {
      step.mask = 1;
      step.address = base + 2048 + 4 * Pick(3);
      if (Pick(6) == 0) {  // each lane its own
        step.mask = kFullMask;
        step.lane_bytes = 4;
      }
      step.options.kind =
          std::array{AccessKind::kLoad, AccessKind::kLoad, AccessKind::kStore, AccessKind::kAtomic}[Pick(4)];
      step.options.scope = Scope();
      step.options.order = MemoryOrder::kRelaxed;
      step.options.returns_value = Pick(3) != 0;
      if (step.options.kind == AccessKind::kAtomic) {
        step.options.order = std::array{MemoryOrder::kRelaxed, MemoryOrder::kRelaxed, MemoryOrder::kAcquire,
                                        MemoryOrder::kRelease, MemoryOrder::kAcquireRelease}[Pick(5)];
        if (!step.options.returns_value && step.options.order != MemoryOrder::kRelease) {
          step.options.order = MemoryOrder::kRelaxed;
        }
      } else if (Pick(3) == 0) {
        step.options.order = step.options.kind == AccessKind::kLoad ? MemoryOrder::kAcquire : MemoryOrder::kRelease;
      } else if (!step.shared() && Pick(2) == 0) {
        step.options.order = MemoryOrder::kVolatile;
        step.options.scope = MemoryScope::kGpu;
        step.options.waits = step.options.kind == AccessKind::kLoad && Pick(4) != 0;
      }
      if (Pick(12) == 0) {  // a plain access to a word
        step.options.kind = Pick(2) ? AccessKind::kLoad : AccessKind::kStore;
        step.options.order = MemoryOrder::kWeak;
        step.options.waits = false;
      }
      return step;
    }
    const uint32_t row = Pick(4);
    step.address = base + 128 * row;
    step.lane_bytes = 4;
    step.mask = Pick(2) ? kFullMask : Pick(2) ? 1 : 0xffff;
    step.options.kind = Pick(2) ? AccessKind::kLoad : AccessKind::kStore;
    if (!step.shared() && Pick(5) == 0) step.options.order = MemoryOrder::kVolatile;
    return step;
  }

 private:
  std::mt19937 random_;
};

int Programs(int usual) {
  const char* asked = std::getenv("LOCKSTEP_RANDOM_PROGRAMS");
  return asked == nullptr ? usual : std::atoi(asked);
}

struct Outcome {
  int accesses = 0, ordered_between_blocks = 0, raced = 0, missed = 0, false_alarms = 0;
};

// One program: until its first race; or, race_free, without the accesses that would race.
class RandomProgram {
 public:
  RandomProgram(Generator& generator, bool race_free, Outcome& outcome)
      : generator_(generator), race_free_(race_free), outcome_(outcome) {}

  void Run() {
    for (int k = 0; k < 60 && !over_; ++k) {
      const uint32_t warp = generator_.Pick(kAllWarps);
      switch (generator_.Pick(12)) {
        case 0:
          events_.SyncBlock(warp / kWarps);
          oracle_.SyncBlock(warp / kWarps);
          break;
        case 1:
          events_.At(warp / kWarps, warp % kWarps).SyncWarp();
          oracle_.SyncWarp(warp);
          break;
        case 2:
          Fence(warp, generator_.Scope());
          break;
        case 3:
        case 4:
        case 5:
          HandOver(warp, generator_.Pick(kAllWarps));
          break;
        default:
          Access(generator_.Access());
      }
    }
    events_.Finish();
  }

 private:
  void Fence(uint32_t warp, MemoryScope scope) {
    events_.At(warp / kWarps, warp % kWarps).Fence(scope);
    oracle_.Fence(warp, scope == MemoryScope::kCta ? 0 : scope == MemoryScope::kCluster ? 1 : 2);
  }
  // One warp writes, fences and sets a word; another one reads the word, fences and reads the data; or so it is meant.
  void HandOver(uint32_t from, uint32_t to) {
    Step data, word;
    do {
      data = generator_.Access();
    } while (data.synchronises() || data.shared());
    do {
      word = generator_.Access();
    } while (!word.strong() || word.shared());
    const auto fence = [&](uint32_t warp) {
      if (generator_.Pick(8) != 0) Fence(warp, generator_.Pick(5) == 0 ? generator_.Scope() : MemoryScope::kGpu);
    };
    data.warp = word.warp = from;
    data.options.kind = AccessKind::kStore;
    Access(data);
    fence(from);
    if (word.options.kind == AccessKind::kLoad) {
      word.options.kind = AccessKind::kStore;
      word.options.waits = false;
      if (word.options.order == MemoryOrder::kAcquire) word.options.order = MemoryOrder::kRelease;
    }
    Access(word);
    word.warp = to;
    word.options.kind = AccessKind::kLoad;
    word.options.waits = word.options.order == MemoryOrder::kVolatile;
    if (!word.options.waits) word.options.order = generator_.Pick(2) ? MemoryOrder::kRelaxed : MemoryOrder::kAcquire;
    Access(word);
    fence(to);
    data.warp = to;
    if (generator_.Pick(3) != 0) data.options.kind = AccessKind::kLoad;
    Access(data);
  }
  void Access(const Step& step) {
    if (over_) return;
    Oracle::Before before;
    if (race_free_) before = oracle_.Keep(step.warp);
    oracle_.Synchronise(step);
    const bool races = oracle_.Races(step);
    if (races && race_free_) {
      oracle_.Restore(step.warp, std::move(before));
      return;
    }
    events_.At(step.block(), step.warp % kWarps, step.mask);
    events_.Access(++pc_, step.options, [&](uint32_t lane) { return step.address + lane * step.lane_bytes; });
    oracle_.Remember(step);
    ++outcome_.accesses;
    if (!step.synchronises() && !step.shared()) {
      const auto last = writer_.find(step.address);
      outcome_.ordered_between_blocks += !races && last != writer_.end() && last->second != step.block();
      if (step.options.kind == AccessKind::kStore) writer_[step.address] = step.block();
    }
    const bool found = !checker_->TakeFindings().empty();
    outcome_.false_alarms += found && !races;
    outcome_.raced += races;
    outcome_.missed += races && !found;
    over_ = found || races;
  }

  Generator& generator_;
  const bool race_free_;
  Outcome& outcome_;
  const std::unique_ptr<Checker> checker_ = MakeRaceChecker(true, true);
  EventSource events_{*checker_, kBlocks, kWarps* kWarpSize, 4096, kClusterBlocks};
  Oracle oracle_;
  std::map<uint64_t, uint32_t> writer_;  // the block that wrote an address last
  uint32_t pc_ = 0;
  bool over_ = false;
};

TEST(RaceOrderRandomTest, NeverAccusesProgramsFreeOfRaces) {
  Generator generator(4);
  Outcome outcome;
  const int programs = Programs(400);
  for (int k = 0; k < programs; ++k) RandomProgram(generator, true, outcome).Run();
  EXPECT_EQ(outcome.false_alarms, 0);
  EXPECT_GT(outcome.accesses, programs * 20);
  EXPECT_GT(outcome.ordered_between_blocks, programs);
  std::printf("%d programs, %d accesses, %d of data that another block wrote\n", programs, outcome.accesses,
              outcome.ordered_between_blocks);
}

TEST(RaceOrderRandomTest, FindsFirstRaces) {
  Generator generator(5);
  Outcome outcome;
  const int programs = Programs(1500);
  for (int k = 0; k < programs; ++k) RandomProgram(generator, false, outcome).Run();
  EXPECT_EQ(outcome.false_alarms, 0);
  EXPECT_GT(outcome.raced, programs / 2);
  EXPECT_LE(outcome.missed, outcome.raced / 50);
  std::printf("%d programs, %d with a race, %d missed\n", programs, outcome.raced, outcome.missed);
}

}  // namespace
}  // namespace lockstep::vgpu
