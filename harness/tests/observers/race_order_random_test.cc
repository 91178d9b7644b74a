// The race checker against the plain definition (race_oracle.h) where threads of several blocks communicate through
// words in memory.
//
// Programs of one kind are free of races by construction: an access that would race is left out. Those of the other
// kind end at their first race. LOCKSTEP_RANDOM_PROGRAMS sets how many programs of each kind run.
// Optimised: it takes 2 s then, and 11 s unoptimised.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "tests/observers/observer_events.h"
#include "tests/observers/race_oracle.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace race_order_random_test {

class Generator {
 public:
  explicit Generator(uint32_t seed) : random_(seed) {}
  uint32_t Pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  MemoryScope Scope() {
    constexpr std::array kScopes = {MemoryScope::kCta, MemoryScope::kCluster, MemoryScope::kGpu, MemoryScope::kGpu,
                                    MemoryScope::kSystem};
    return kScopes[Pick(kScopes.size())];
  }
  // An access to a word by which lanes 0 communicate, or to data: a row with a word for each lane, or one word.
  OracleStep Access() {
    OracleStep step;
    step.warp = Pick(kOracleAllWarps);
    step.options.space = Pick(4) == 0 ? MemorySpace::kShared : MemorySpace::kGlobal;
    const uint64_t base = step.shared() ? 0 : 0x200000000fc0;
    const bool word = Pick(2) == 0;
    if (word) {
      const bool each = Pick(6) == 0;  // every lane has its own word
      step.mask = each ? kFullMask : 1;
      Lay(step, base + 2048 + 4 * Pick(3), each ? 4 : 0);
      step.options.kind =
          std::array{AccessKind::kLoad, AccessKind::kLoad, AccessKind::kStore, AccessKind::kAtomic}[Pick(4)];
      step.options.scope = Scope();
      step.options.order = MemoryOrder::kRelaxed;
      step.options.returns_value = Pick(3) != 0;
      step.options.overwrites = step.options.returns_value && Pick(4) == 0;
      step.options.keeps = Pick(2) == 0 ? kFullMask : 0;
      step.options.waits = step.options.kind == AccessKind::kLoad && Pick(2) == 0;
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
    Lay(step, base + 128 * row, 4);
    step.mask = Pick(2) ? kFullMask : Pick(2) ? 1 : 0xffff;
    step.options.kind = Pick(2) ? AccessKind::kLoad : AccessKind::kStore;
    if (!step.shared() && Pick(5) == 0) step.options.order = MemoryOrder::kVolatile;
    return step;
  }

 private:
  static void Lay(OracleStep& step, uint64_t first, uint64_t lane_bytes) {
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) step.address[lane] = first + lane * lane_bytes;
  }

  std::mt19937 random_;
};

int Programs(int usual) {
  const char* asked = std::getenv("LOCKSTEP_RANDOM_PROGRAMS");
  return asked == nullptr ? usual : std::atoi(asked);
}

struct Outcome {
  int accesses = 0, ordered_between_blocks = 0, raced = 0, missed = 0, false_alarms = 0;
};

// One program. It ends at its first race or, if race_free, leaves out the accesses that would race.
class RandomProgram {
 public:
  RandomProgram(Generator& generator, bool race_free, bool strong_is_data, Outcome& outcome)
      : generator_(generator), race_free_(race_free), strong_is_data_(strong_is_data), outcome_(outcome) {}

  void Run() {
    for (int k = 0; k < 60 && !over_; ++k) {
      const uint32_t warp = generator_.Pick(kOracleAllWarps);
      switch (generator_.Pick(12)) {
        case 0:
          SyncBlock(warp / kOracleWarps);
          break;
        case 1:
          events_.At(warp / kOracleWarps, warp % kOracleWarps).SyncWarp();
          oracle_.SyncWarp(warp, kFullMask);
          break;
        case 2:
          Fence(warp, generator_.Scope());
          break;
        case 3:
        case 4:
        case 5:
          HandOver(warp, generator_.Pick(kOracleAllWarps));
          break;
        default:
          Access(generator_.Access());
      }
    }
    events_.Finish();
  }

 private:
  void SyncBlock(uint32_t block) {
    events_.SyncBlock(block);
    for (uint32_t w = 0; w < kOracleWarps; ++w) oracle_.Arrive(block * kOracleWarps + w, 0, true);
    oracle_.Complete(block, 0);
  }
  void Fence(uint32_t warp, MemoryScope scope) {
    events_.At(warp / kOracleWarps, warp % kOracleWarps).Fence(scope);
    oracle_.Fence(warp, scope == MemoryScope::kCta ? 0 : scope == MemoryScope::kCluster ? 1 : 2);
  }
  // One warp writes, fences and sets a word; another one reads the word, fences and reads the data. Some fences are
  // missing, or of another scope.
  void HandOver(uint32_t from, uint32_t to) {
    OracleStep data, word;
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
    word.options.waits |= generator_.Pick(4) != 0;
    Access(word);
    fence(to);
    data.warp = to;
    if (generator_.Pick(3) != 0) data.options.kind = AccessKind::kLoad;
    Access(data);
  }
  void Access(OracleStep step) {
    if (over_) return;
    RaceOracle::Before before;
    if (race_free_) before = oracle_.Keep(step.warp);
    oracle_.Synchronise(step);
    step.awaited = oracle_.Awaited(step);
    const bool races = Races(step);
    if (races && race_free_) {
      oracle_.Restore(step.warp, std::move(before));
      return;
    }
    events_.At(step.block(), step.warp % kOracleWarps, step.mask);
    events_.Access(++pc_, step.options, [&](uint32_t lane) { return step.address[lane]; });
    oracle_.Remember(steps_.emplace_back(step));
    ++outcome_.accesses;
    if (!step.synchronises() && !step.shared()) {
      const auto last = writer_.find(step.address[0]);
      outcome_.ordered_between_blocks += !races && last != writer_.end() && last->second != step.block();
      if (step.options.kind == AccessKind::kStore) writer_[step.address[0]] = step.block();
    }
    const bool found = !checker_->TakeFindings().empty();
    outcome_.false_alarms += found && !races;
    outcome_.raced += races;
    outcome_.missed += races && !found;
    over_ = found || races;
  }

  bool Races(const OracleStep& step) const {
    bool races = false;
    oracle_.ForRaces(step, [&](auto, const auto&, const auto&, RaceOracle::Verdict verdict) {
      races |= verdict != RaceOracle::kSameValue;
    });
    return races;
  }

  Generator& generator_;
  const bool race_free_, strong_is_data_;
  Outcome& outcome_;
  const std::unique_ptr<Checker> checker_ = MakeRaceChecker(true, true);
  EventSource events_{*checker_, kOracleBlocks, kOracleWarps * kWarpSize, 4096, kOracleClusterBlocks, strong_is_data_};
  RaceOracle oracle_{strong_is_data_};
  std::deque<OracleStep> steps_;
  std::map<uint64_t, uint32_t> writer_;  // the block that wrote an address last
  uint32_t pc_ = 0;
  bool over_ = false;
};

TEST(RaceOrderRandomTest, NeverAccusesProgramsFreeOfRaces) {
  Generator generator(4);
  Outcome outcome;
  const int programs = Programs(400);
  for (int k = 0; k < programs; ++k) RandomProgram(generator, true, k % 2 != 0, outcome).Run();
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
  for (int k = 0; k < programs; ++k) RandomProgram(generator, false, k % 2 != 0, outcome).Run();
  EXPECT_EQ(outcome.false_alarms, 0);
  EXPECT_GT(outcome.raced, programs / 2);
  EXPECT_LE(outcome.missed, outcome.raced / 50);
  std::printf("%d programs, %d with a race, %d missed\n", programs, outcome.raced, outcome.missed);
}

}  // namespace race_order_random_test
}  // namespace lockstep::vgpu
