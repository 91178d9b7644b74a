// What the race checker remembers, and the texts of its findings. Whether it finds the right races is tested by
// race_random_test.cc, against the definition, and by the kernels of checker_pairs_race.cu and similar files.
#include <gtest/gtest.h>

#include <utility>

#include "tests/observers/observer_events.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace race_test {

using Options = EventSource::Options;
constexpr Options kLoad{};
constexpr Options kStore{.kind = AccessKind::kStore};
constexpr Options kVolatileWait{.order = MemoryOrder::kVolatile, .waits = true};
constexpr Options kVolatileStore{.kind = AccessKind::kStore, .order = MemoryOrder::kVolatile};

Options Global(Options options) {
  options.space = MemorySpace::kGlobal;
  return options;
}

constexpr uint64_t kHeap = 0x200000000000;

class SharedRaceTest : public ::testing::Test {
 protected:
  // Word k of shared memory.
  static uint64_t Word(uint64_t k) { return 4 * k; }
  std::vector<RawFinding> Findings() {
    events_.Finish();
    return checker_->TakeFindings();
  }

  std::unique_ptr<Checker> checker_ = MakeRaceChecker(true, true);
  EventSource events_{*checker_, 2, 128, 1024};
};

// The lower warp's access is named first, whichever came first, unless that warp had executed the other instruction
// before.
TEST_F(SharedRaceTest, MissingBarrierNamesBothParties) {
  events_.At(0, 0).Access(7, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(0, 2).Access(7, kStore, [&](uint32_t l) { return Word(64 + l); });
  events_.At(0, 0).Access(9, kLoad, [&](uint32_t l) { return Word(64 + l); });
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::kRace);
  EXPECT_STREQ(findings[0].detail, "read after write");
  EXPECT_EQ(findings[0].first.thread_index, 64u);
  EXPECT_EQ(findings[0].first.pc, 7u);
  EXPECT_EQ(findings[0].second.thread_index, 0u);
  EXPECT_EQ(findings[0].second.pc, 9u);
  EXPECT_EQ(findings[0].address, 256u);
  EXPECT_EQ(findings[0].count, 32u);
}

TEST_F(SharedRaceTest, OneInstructionThatWritesOneAddressTwice) {
  Options same = kStore;
  same.same_value = true;
  events_.At(0, 0).Access(1, same, [&](uint32_t) { return Word(3); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 0).Access(2, kStore, [&](uint32_t l) { return Word(100 + l / 2); });
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_STREQ(findings[0].detail, "write after write");
  EXPECT_EQ(findings[0].count, 16u);
}

TEST_F(SharedRaceTest, BarrierCountsThreadsThatHaveNotExited) {
  events_.At(0, 3).Access(1, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(0, 3).Exit();
  for (uint32_t w = 0; w < 3; ++w) events_.At(0, w).Arrive();
  events_.Complete(0b111);
  events_.At(0, 0).Access(2, kLoad, [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(Findings().empty());
}

// An instruction that runs again before its warp synchronises keeps its number in the log.
TEST_F(SharedRaceTest, OneValueStoredByTheSameInstructionAgainIsClean) {
  Options keeps = kStore;
  keeps.keeps = kFullMask;
  events_.At(0, 0, 1).Access(1, kStore, [&](uint32_t) { return Word(0); });
  events_.At(0, 0, 2).Access(1, keeps, [&](uint32_t) { return Word(0); });
  EXPECT_TRUE(Findings().empty());
}

TEST_F(SharedRaceTest, AnotherValueStoredByTheSameInstructionAgainIsARace) {
  Options apart = kStore;
  apart.same_value = true;  // as for every store in which no two lanes share a word
  events_.At(0, 0, 0xff).Access(1, apart, [&](uint32_t l) { return Word(l ^ 5); });
  events_.At(0, 0, 0xff).Access(1, apart, [&](uint32_t l) { return Word(l ^ 6); });
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].count, 8u);
}

// The word still holds what it held when the copy was issued.
TEST_F(SharedRaceTest, StoreOfTheOldValueRacesWithACopyUnderWay) {
  Options keeps = kStore;
  keeps.keeps = kFullMask;
  events_.At(0, 0, 1).IssueCopy(1, kStore, [&](uint32_t) { return Word(0); });
  events_.At(0, 1, 1).Access(2, keeps, [&](uint32_t) { return Word(0); });
  EXPECT_EQ(Findings().size(), 1u);
}

// Both loads are recorded before some threads synchronise: a load ordered later must not replace the other.
TEST_F(SharedRaceTest, LoadsThatLaterComeInAnOrderAreBothRemembered) {
  Options load = kLoad;
  load.plain_shared_load = true;
  const auto word = [](uint32_t) { return Word(3); };
  events_.At(0, 0, 1 << 0).Access(1, load, word);
  events_.At(0, 0, 1 << 5).Access(2, load, word);
  events_.At(0, 0, 1 << 5 | 1 << 7).SyncWarp();
  events_.At(0, 0, 1 << 0 | 1 << 5).SyncWarp();
  events_.At(0, 0, 1 << 7).Access(3, kStore, word);
  EXPECT_EQ(checker_->TakeFindings().size(), 1u);

  const auto meet = [&](uint32_t first, uint32_t second) {
    for (const uint32_t warp : {first, second}) events_.At(1, warp).Arrive(1);
    events_.Complete(1u << first | 1u << second, 1);
  };
  events_.At(1, 0, 1).Access(1, load, word);
  events_.At(1, 1, 1).Access(2, load, word);
  meet(1, 2);
  meet(0, 1);
  events_.At(1, 2, 1).Access(3, kStore, word);
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(SharedRaceTest, BlocksHaveTheirOwnSharedMemory) {
  events_.At(0, 0).Access(1, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(1, 1).Access(2, kLoad, [&](uint32_t l) { return Word(l); });
  events_.Launch();
  events_.At(0, 1).Access(2, kLoad, [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(Findings().empty());
}

TEST_F(SharedRaceTest, ForkFindsTheSame) {
  std::unique_ptr<Checker> checker = MakeRaceChecker(true, false);
  std::unique_ptr<Observer> fork = checker->Fork();
  ASSERT_NE(fork, nullptr);
  EXPECT_EQ(checker_->Fork(), nullptr);
  EventSource events(*fork, 4, 64, 256);
  for (const uint32_t b : {3u, 1u, 2u}) {
    events.At(b, 0).Access(1, kStore, [&](uint32_t l) { return Word(l); });
    events.At(b, 1).Access(2, kStore, [&](uint32_t l) { return Word(l); });
  }
  events.Finish();
  checker->Absorb(*fork);
  const auto findings = checker->TakeFindings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].second.block_index, 1u);
  EXPECT_EQ(findings[0].count, 96u);
}

class GlobalRaceTest : public SharedRaceTest {
 protected:
  // Word k of a buffer that begins near the end of a shadow page.
  static uint64_t Word(uint64_t k) { return kHeap + 4096 - 64 + 4 * k; }
};

TEST_F(GlobalRaceTest, LaunchesAreOrdered) {
  events_.At(0, 0).Access(1, Global(kStore), [&](uint32_t l) { return Word(l); });
  events_.Launch();
  events_.At(1, 0).Access(2, Global(kLoad), [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(Findings().empty());
}

TEST_F(GlobalRaceTest, WordThatABlockHasReadIsItsOwnToReadButNotByTheConstantCache) {
  Options constant = Global(kLoad);
  constant.constant = true;
  const auto word = [](uint32_t) { return Word(0); };
  events_.At(0, 0, 1).Fence();
  events_.At(0, 0, 1).Access(1, Global(kVolatileStore), word);
  events_.At(1, 0, 1).Access(2, Global(kVolatileWait), word);
  events_.At(1, 0, 1).Access(3, Global(kLoad), word);
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(1, 0, 1).Access(4, constant, word);
  EXPECT_EQ(Findings().size(), 1u);
}

// Of three readers two are remembered: those of different blocks.
TEST_F(GlobalRaceTest, ReaderOfAnotherBlockIsNotForgottenForTwoOfOne) {
  const auto one = [](uint32_t) { return Word(0); };
  const auto row = [](uint32_t l) { return Word(64 + l); };
  const auto odd_row = [](uint32_t l) { return Word(129 + l); };
  for (const auto& [block, warp] : {std::pair{0u, 0u}, {0u, 1u}, {1u, 0u}}) {
    events_.At(block, warp, 1).Access(1, Global(kLoad), one);
    events_.At(block, warp).Access(2, Global(kLoad), row);
    events_.At(block, warp).Access(3, Global(kLoad), odd_row);
  }
  events_.SyncBlock(0);
  events_.At(0, 0, 1).Access(4, Global(kStore), one);
  events_.At(0, 0).Access(5, Global(kStore), row);
  events_.At(0, 0).Access(6, Global(kStore), odd_row);
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 3u);
  EXPECT_EQ(findings[0].count + findings[1].count + findings[2].count, 65u);
}

// Two blocks have read all of a page: a third reader is not recorded, unless the page may have been written since.
TEST_F(GlobalRaceTest, ReaderOfAPageThatMayHaveBeenWrittenIsHeldAgainstTheWrite) {
  Options wide = Global(kLoad);
  wide.bytes = 16;
  const std::unique_ptr<Checker> checker = MakeRaceChecker(true, true);
  EventSource events(*checker, 4, 32, 0);
  for (const uint32_t block : {0u, 1u}) {
    for (uint32_t row = 0; row < 8; ++row) {
      events.At(block, 0).Access(1, wide, [&](uint32_t l) { return kHeap + 512 * row + 16 * l; });
    }
  }
  events.At(2, 0).Access(1, wide, [&](uint32_t l) { return kHeap + 16 * l; });
  EXPECT_TRUE(checker->TakeFindings().empty());
  events.At(2, 0, 1).Access(2, Global(kStore), [](uint32_t) { return Word(7); });
  EXPECT_EQ(checker->TakeFindings().size(), 1u);
  events.At(3, 0, 1).Access(3, Global(kLoad), [](uint32_t) { return Word(7); });
  EXPECT_EQ(checker->TakeFindings().size(), 1u);
  events.Finish();
}

TEST_F(GlobalRaceTest, ReaderOfAPageThatWarpsOfOneBlockHaveReadIsRemembered) {
  Options wide = Global(kLoad);
  wide.bytes = 16;
  for (const uint32_t warp : {0u, 1u}) {
    for (uint32_t row = 0; row < 8; ++row) {
      events_.At(0, warp).Access(1, wide, [&](uint32_t l) { return kHeap + 512 * row + 16 * l; });
    }
  }
  events_.At(1, 0).Access(2, wide, [&](uint32_t l) { return kHeap + 16 * l; });
  events_.SyncBlock(0);
  events_.At(0, 0, 1).Access(3, Global(kStore), [](uint32_t) { return kHeap; });
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(GlobalRaceTest, ConstantLoadDoesNotSeeWhatAPartialSyncwarpOrders) {
  Options constant = Global(kLoad);
  constant.constant = true;
  events_.At(0, 0, 1).Access(1, Global(kStore), [&](uint32_t) { return Word(0); });
  events_.At(0, 0, 3).SyncWarp();
  events_.At(0, 0, 2).Access(2, Global(kLoad), [&](uint32_t) { return Word(0); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 0, 2).Access(3, constant, [&](uint32_t) { return Word(0); });
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(GlobalRaceTest, WideAccessesCoverAllTheirWords) {
  Options wide = Global(kStore);
  wide.bytes = 16;
  events_.At(0, 0).Access(1, wide, [&](uint32_t l) { return kHeap + 16 * l; });
  events_.At(1, 0, 1).Access(2, Global(kLoad), [&](uint32_t) { return kHeap + 508; });
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].first.thread_index, 31u);
}

}  // namespace race_test
}  // namespace lockstep::vgpu
