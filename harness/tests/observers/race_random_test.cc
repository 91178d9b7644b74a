// The race checker against the definition, on random programs: every thread with its own vector clock, every access
// remembered. race_order_random_test.cc has those with fences and atomics.
#include <gtest/gtest.h>

#include <array>
#include <map>
#include <random>
#include <vector>

#include "tests/observers/observer_events.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace {

constexpr uint32_t kWarps = 3, kThreads = kWarps * kWarpSize;

class Oracle {
 public:
  Oracle() {
    for (uint32_t t = 0; t < kThreads; ++t) clock_[t][t] = 1;
  }
  void Synchronise(const std::vector<uint32_t>& threads) {
    Clock joined{};
    for (const uint32_t t : threads) {
      ++clock_[t][t];
      for (uint32_t k = 0; k < kThreads; ++k) joined[k] = std::max(joined[k], clock_[t][k]);
    }
    for (const uint32_t t : threads) clock_[t] = joined;
  }
  // Whether the access races with an earlier one.
  bool Access(uint32_t thread, uint64_t address, uint32_t bytes, bool store) {
    bool race = false;
    for (uint64_t byte = address; byte < address + bytes; ++byte) {
      for (const Past& past : past_[byte]) {
        race |= (past.store || store) && past.thread != thread && past.time >= clock_[thread][past.thread];
      }
      past_[byte].push_back({thread, clock_[thread][thread], store});
    }
    return race;
  }

 private:
  using Clock = std::array<uint32_t, kThreads>;  // of each thread, accesses stamped below are seen
  struct Past {
    uint32_t thread, time;
    bool store;
  };
  std::array<Clock, kThreads> clock_{};
  std::map<uint64_t, std::vector<Past>> past_;
};

std::vector<uint32_t> ThreadsOf(uint32_t warp, LaneMask mask) {
  std::vector<uint32_t> threads;
  for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
    if (mask >> lane & 1) threads.push_back(warp * kWarpSize + lane);
  }
  return threads;
}

std::vector<uint32_t> ThreadsOfWarps(uint32_t warps) {
  std::vector<uint32_t> threads;
  for (uint32_t w = 0; w < kWarps; ++w) {
    if (!(warps >> w & 1)) continue;
    const auto more = ThreadsOf(w, kFullMask);
    threads.insert(threads.end(), more.begin(), more.end());
  }
  return threads;
}

struct Outcome {
  int programs_with_a_race = 0, missed = 0;
};

enum class Style {
  kWhole,    // barriers of the block, syncs of whole warps
  kPartial,  // also barriers of some warps, syncs of some lanes
};

// Runs random programs until their first race.
Outcome Compare(MemorySpace space, Style style, uint32_t seed, int programs) {
  const bool partial = style == Style::kPartial;
  std::mt19937 random(seed);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  const uint64_t base = space == MemorySpace::kGlobal ? 0x200000000fc0 : 0;
  Outcome outcome;
  for (int program = 0; program < programs; ++program) {
    const auto checker = MakeRaceChecker(true, true);
    EventSource events(*checker, 1, kThreads, 4096);
    Oracle oracle;
    const bool bytes_too = pick(4) == 0;
    bool raced = false;
    for (int step = 0; step < 60 && !raced; ++step) {
      const uint32_t warp = pick(kWarps);
      const uint32_t what = pick(10);
      if (pick(30) == 0) {  // another launch: all before is ordered, and what the checker knows of it is stale
        events.Launch();
        oracle = Oracle();
        continue;
      }
      if (what < 2) {
        const uint32_t stays = pick(3);  // none, all, some
        const uint32_t warps = partial && what == 1 ? 1 + pick((1 << kWarps) - 1) : (1 << kWarps) - 1;
        for (uint32_t w = 0; w < kWarps; ++w) {
          if (warps >> w & 1) events.At(0, w).Arrive(1, 0, stays != 0 && (stays == 1 || pick(2) != 0));
        }
        events.Complete(warps, 1);
        oracle.Synchronise(ThreadsOfWarps(warps));
        continue;
      }
      if (what < 5) {
        LaneMask mask = kFullMask;
        if (partial && what > 2) mask = what == 3 ? 0xffffu << (16 * pick(2)) : random() | 1u;
        events.At(0, warp, mask).SyncWarp();
        oracle.Synchronise(ThreadsOf(warp, mask));
        continue;
      }
      EventSource::Options options;
      options.space = space;
      options.kind = pick(3) == 0 ? AccessKind::kStore : AccessKind::kLoad;
      options.bytes = 4 << (pick(6) == 0 ? pick(3) : 0);
      if (bytes_too && pick(2)) options.bytes = 1 << pick(2);
      const uint32_t bytes = static_cast<uint32_t>(options.bytes);
      const LaneMask mask = pick(2) ? kFullMask : (pick(2) ? (2u << pick(31)) - 1 : random() | 1u);
      const uint32_t shape = pick(5), shift = pick(3) * 16, stride = 1 + pick(3);
      const auto address = [&](uint32_t lane) -> uint64_t {
        uint32_t element = lane + shift;                    // neighbours
        if (shape == 1) element = warp * kWarpSize + lane;  // each warp's own
        if (shape == 2) element = shift;                    // uniform
        if (shape == 3) element = lane * stride + shift;    // strided
        if (shape == 4) element = lane / 8 + shift;         // rows
        return base + uint64_t{element} * bytes;
      };
      const std::vector<uint32_t> threads = ThreadsOf(warp, mask);
      const bool store = options.kind != AccessKind::kLoad;
      events.At(0, warp, mask);
      events.Access(static_cast<uint32_t>(step), options, address);
      for (const uint32_t thread : threads) {
        raced |= oracle.Access(thread, address(thread % kWarpSize), bytes, store);
      }
      const bool found = !checker->TakeFindings().empty();
      EXPECT_FALSE(found && !raced) << "false alarm in program " << program << ", step " << step;
      if (found && !raced) return outcome;
      outcome.programs_with_a_race += raced;
      outcome.missed += raced && !found;
    }
    events.Finish();
  }
  return outcome;
}

class RaceRandomTest : public ::testing::TestWithParam<MemorySpace> {};

TEST_P(RaceRandomTest, FindsEveryFirstRaceUnderBlockBarriersAndWarpSyncs) {
  const Outcome outcome = Compare(GetParam(), Style::kWhole, 1, 1500);
  EXPECT_GT(outcome.programs_with_a_race, 500);
  EXPECT_EQ(outcome.missed, 0);
}

TEST_P(RaceRandomTest, NeverAccusesUnderPartialSynchronisationAndMissesLittle) {
  const Outcome outcome = Compare(GetParam(), Style::kPartial, 2, 1500);
  EXPECT_GT(outcome.programs_with_a_race, 500);
  EXPECT_LT(outcome.missed, outcome.programs_with_a_race / 50);
}

INSTANTIATE_TEST_SUITE_P(Spaces, RaceRandomTest, ::testing::Values(MemorySpace::kShared, MemorySpace::kGlobal),
                         [](const auto& info) { return info.param == MemorySpace::kShared ? "Shared" : "Global"; });

}  // namespace
}  // namespace lockstep::vgpu
