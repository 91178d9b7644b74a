#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "tests/observers/observer_events.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace {

using Options = EventSource::Options;
constexpr Options kLoad{};
constexpr Options kStore{.kind = AccessKind::kStore};
constexpr Options kVolatileLoad{.order = MemoryOrder::kVolatile};
constexpr Options kVolatileWait{.order = MemoryOrder::kVolatile, .waits = true};
constexpr Options kVolatileStore{.kind = AccessKind::kStore, .order = MemoryOrder::kVolatile};
constexpr Options kAtomic{.kind = AccessKind::kAtomic, .order = MemoryOrder::kRelaxed};

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

TEST_F(SharedRaceTest, TreeReductionWithBarriersIsClean) {
  for (uint32_t w = 0; w < 4; ++w) events_.At(0, w).Access(1, kStore, [&](uint32_t l) { return Word(32 * w + l); });
  events_.SyncBlock(0);
  for (uint32_t s = 64; s > 0; s /= 2) {
    for (uint32_t w = 0; w < 4; ++w) {
      if (w * 32 >= s) continue;
      const LaneMask mask = s >= 32 ? kFullMask : (1u << s) - 1;
      events_.At(0, w, mask).Access(2, kLoad, [&](uint32_t l) { return Word(32 * w + l + s); });
      events_.At(0, w, mask).Access(3, kLoad, [&](uint32_t l) { return Word(32 * w + l); });
      events_.At(0, w, mask).Access(4, kStore, [&](uint32_t l) { return Word(32 * w + l); });
    }
    events_.SyncBlock(0);
  }
  events_.At(0, 0, 1).Access(5, kLoad, [&](uint32_t) { return Word(0); });
  EXPECT_TRUE(Findings().empty());
}

// The lower warp's access is named first, whichever came first; but behind the other one where that warp had done the
// same as the other before.
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

TEST_F(SharedRaceTest, WriteAfterReadIsFoundWhenTheWriterHadReadToo) {
  // Thread 64 + l and thread l both read the word; then its owner writes.
  events_.At(0, 2).Access(1, kLoad, [&](uint32_t l) { return Word(64 + l); });
  events_.At(0, 0).Access(2, kLoad, [&](uint32_t l) { return Word(64 + l); });
  events_.At(0, 2).Access(3, kStore, [&](uint32_t l) { return Word(64 + l); });
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_STREQ(findings[0].detail, "write after read");
  EXPECT_EQ(findings[0].first.thread_index, 0u);
  EXPECT_EQ(findings[0].second.thread_index, 64u);
}

// The course's unrolled last warp.
void UnrolledWarp(EventSource& events, const Options& load, const Options& store, bool sync) {
  for (const uint32_t s : {16u, 8u, 4u, 2u, 1u}) {
    events.At(0, 0).Access(10, load, [&](uint32_t l) { return 4 * (l + s); });
    events.At(0, 0).Access(11, load, [&](uint32_t l) { return 4 * l; });
    if (sync) events.SyncWarp();
    events.At(0, 0).Access(12, store, [&](uint32_t l) { return 4 * l; });
    if (sync) events.SyncWarp();
  }
}

TEST_F(SharedRaceTest, VolatileWithoutSyncwarpIsARace) {
  UnrolledWarp(events_, kVolatileLoad, kVolatileStore, false);
  const auto findings = Findings();
  ASSERT_FALSE(findings.empty());
  EXPECT_EQ(findings[0].kind, FindingKind::kRace);
}

TEST_F(SharedRaceTest, PlainAccessesWithoutSyncwarpAreARace) {
  UnrolledWarp(events_, kLoad, kStore, false);
  EXPECT_FALSE(Findings().empty());
}

TEST_F(SharedRaceTest, SyncwarpOrdersAWarp) {
  UnrolledWarp(events_, kLoad, kStore, true);
  EXPECT_TRUE(Findings().empty());
}

TEST_F(SharedRaceTest, SyncwarpOfHalfAWarpOrdersThatHalfOnly) {
  events_.At(0, 0, 0xffff).Access(1, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(0, 0, 0xffff).SyncWarp();
  events_.At(0, 0, 0xffff).Access(2, kLoad, [&](uint32_t l) { return Word(l ^ 1); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 0, 0xffff0000).Access(3, kLoad, [&](uint32_t l) { return Word(l - 16); });
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(SharedRaceTest, SyncwarpOrdersThroughAThirdLane) {
  events_.At(0, 0, 1).Access(1, kStore, [&](uint32_t) { return Word(0); });
  events_.At(0, 0, 3).SyncWarp();
  events_.At(0, 0, 6).SyncWarp();
  events_.At(0, 0, 4).Access(2, kLoad, [&](uint32_t) { return Word(0); });
  EXPECT_TRUE(Findings().empty());
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

TEST_F(SharedRaceTest, AtomicsDoNotRaceWithAtomicsButWithPlainAccesses) {
  for (uint32_t w = 0; w < 4; ++w) events_.At(0, w).Access(1, kAtomic, [&](uint32_t l) { return Word(l % 8); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 0, 1).Access(2, kLoad, [&](uint32_t) { return Word(0); });
  EXPECT_EQ(checker_->TakeFindings().size(), 1u);
  events_.SyncBlock(0);
  events_.At(0, 0, 1).Access(3, kLoad, [&](uint32_t) { return Word(0); });
  EXPECT_TRUE(Findings().empty());
}

TEST_F(SharedRaceTest, BytesOfOneWordAreApart) {
  Options byte = kStore;
  byte.bytes = 1;
  events_.At(0, 0).Access(1, kStore, [&](uint32_t l) { return Word(128 + l); });
  for (uint32_t w = 0; w < 4; ++w) {
    for (uint32_t turn = 0; turn < 2; ++turn) {
      events_.At(0, w).Access(1, byte, [&](uint32_t l) { return 4 * l + w; });
    }
  }
  EXPECT_TRUE(checker_->TakeFindings().empty());
  Options load = kLoad;
  load.bytes = 2;
  events_.At(0, 1, 1).Access(2, load, [&](uint32_t) { return uint64_t{0}; });  // bytes 0 and 1, of warps 0 and 1
  EXPECT_EQ(checker_->TakeFindings().size(), 1u);
  events_.At(0, 1).Access(3, kLoad, [&](uint32_t l) { return Word(128 + l); });  // written before the bytes came
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(SharedRaceTest, NamedBarriersOrderTheirWarpsOnly) {
  events_.At(0, 0).Access(1, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(0, 0).Arrive(1);
  events_.At(0, 1).Arrive(1);
  events_.Complete(0b11, 1);
  events_.At(0, 1).Access(2, kLoad, [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 2).Access(3, kLoad, [&](uint32_t l) { return Word(l); });
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(SharedRaceTest, ProducerThatOnlyArrivesMayGoOnWriting) {
  events_.At(0, 0).Access(1, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(0, 0).Arrive(1);  // bar.arrive
  events_.At(0, 0).Access(2, kStore, [&](uint32_t l) { return Word(64 + l); });
  events_.At(0, 1).Arrive(1);
  events_.Complete(0b11, 1);
  events_.At(0, 1).Access(3, kLoad, [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 1).Access(4, kLoad, [&](uint32_t l) { return Word(64 + l); });  // written after the arrival
  EXPECT_EQ(Findings().size(), 1u);
}

TEST_F(SharedRaceTest, BarrierCountsThreadsThatHaveNotExited) {
  events_.At(0, 3).Access(1, kStore, [&](uint32_t l) { return Word(l); });
  events_.At(0, 3).Exit();
  for (uint32_t w = 0; w < 3; ++w) events_.At(0, w).Arrive();
  events_.Complete(0b111);
  events_.At(0, 0).Access(2, kLoad, [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(Findings().empty());
}

TEST_F(SharedRaceTest, SpinLockWithFencesIsClean) {
  for (uint32_t turn = 0; turn < 3; ++turn) {
    for (const LaneMask lane : {1u, 2u, 4u}) {
      const uint32_t w = turn % 2;
      events_.At(0, w, lane).Access(1, kAtomic, [&](uint32_t) { return Word(0); });
      events_.At(0, w, lane).Fence();
      events_.At(0, w, lane).Access(2, kLoad, [&](uint32_t) { return Word(1); });
      events_.At(0, w, lane).Access(3, kStore, [&](uint32_t) { return Word(1); });
      events_.At(0, w, lane).Fence();
      events_.At(0, w, lane).Access(4, kAtomic, [&](uint32_t) { return Word(0); });
    }
  }
  EXPECT_TRUE(Findings().empty());
}

TEST_F(SharedRaceTest, VolatileFlagBehindAFenceIsClean) {
  events_.At(0, 1, 1).Access(1, kVolatileLoad, [&](uint32_t) { return Word(9); });  // spins
  events_.At(0, 0).Access(2, kStore, [&](uint32_t l) { return Word(32 + l); });
  events_.At(0, 0).SyncWarp();
  events_.At(0, 0, 1).Fence();
  events_.At(0, 0, 1).Access(3, kVolatileStore, [&](uint32_t) { return Word(9); });
  events_.At(0, 1, 1).Access(1, kVolatileLoad, [&](uint32_t) { return Word(9); });
  events_.At(0, 1, 1).Fence();
  events_.At(0, 1, 1).Access(4, kLoad, [&](uint32_t) { return Word(40); });
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
  apart.same_value = true;  // as of all stores by which no two lanes share a word
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

// Loads are entered before some threads synchronise, lest one that comes to be ordered should stand for another.
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

TEST_F(SharedRaceTest, ManyReadersOfATileThenAWriter) {
  for (uint32_t w = 0; w < 4; ++w) {
    events_.At(0, w).Access(1, kLoad, [&](uint32_t l) { return Word(l / 16); });
    events_.At(0, w).Access(2, kLoad, [&](uint32_t l) { return Word(64 + l); });
  }
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(0, 3, 1u << 31).Access(3, kStore, [&](uint32_t) { return Word(1); });
  EXPECT_EQ(checker_->TakeFindings().size(), 1u);
  events_.At(0, 0).Access(4, kStore, [&](uint32_t l) { return Word(64 + l); });
  EXPECT_EQ(Findings().size(), 1u);
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

TEST_F(GlobalRaceTest, BlocksThatWriteTheirOwnPartsAreClean) {
  for (uint32_t b = 0; b < 2; ++b) {
    for (uint32_t w = 0; w < 4; ++w) {
      events_.At(b, w).Access(1, Global(kLoad), [&](uint32_t l) { return Word(2000 + 128 * b + 32 * w + l); });
      events_.At(b, w).Access(2, Global(kStore), [&](uint32_t l) { return Word(128 * b + 32 * w + l); });
    }
  }
  EXPECT_TRUE(Findings().empty());
}

TEST_F(GlobalRaceTest, BlocksAreNotOrdered) {
  events_.At(0, 0).Access(1, Global(kStore), [&](uint32_t l) { return Word(l); });
  events_.SyncBlock(0);
  events_.SyncBlock(1);
  events_.At(1, 0).Access(2, Global(kLoad), [&](uint32_t l) { return Word(l); });
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].first.block_index, 0u);
  EXPECT_EQ(findings[0].second.block_index, 1u);
  EXPECT_EQ(findings[0].space, MemorySpace::kGlobal);
  EXPECT_EQ(findings[0].count, 32u);
}

TEST_F(GlobalRaceTest, LaunchesAreOrdered) {
  events_.At(0, 0).Access(1, Global(kStore), [&](uint32_t l) { return Word(l); });
  events_.Launch();
  events_.At(1, 0).Access(2, Global(kLoad), [&](uint32_t l) { return Word(l); });
  EXPECT_TRUE(Findings().empty());
}

TEST_F(GlobalRaceTest, BarriersOrderABlockOnGlobalMemoryToo) {
  events_.At(0, 0).Access(1, Global(kStore), [&](uint32_t l) { return Word(l); });
  events_.SyncBlock(0);
  events_.At(0, 1).Access(2, Global(kLoad), [&](uint32_t l) { return Word(l + 1); });
  EXPECT_EQ(checker_->TakeFindings().size(), 0u);
  events_.At(0, 2).Access(3, Global(kStore), [&](uint32_t l) { return Word(l); });
  EXPECT_EQ(Findings().size(), 1u);
}

// The last block to finish adds up what the others left.
void LastBlock(EventSource& events, bool fence, uint64_t base) {
  for (uint32_t b = 0; b < 2; ++b) {
    events.At(b, 0, 1).Access(1, Global(kStore), [&](uint32_t) { return base + 4 * b; });
    if (fence) events.At(b, 0, 1).Fence();
    events.At(b, 0, 1).Access(2, Global(kAtomic), [&](uint32_t) { return base + 4096; });
    events.SyncBlock(b);
  }
  events.At(1, 1, 3).Access(3, Global(kLoad), [&](uint32_t l) { return base + 4 * l; });
  events.At(1, 0, 1).Access(4, Global(kStore),
                            [&](uint32_t) { return base + 4096; });  // the ticket, for the next launch
}

TEST_F(GlobalRaceTest, LastBlockPatternWithAFenceIsClean) {
  LastBlock(events_, true, kHeap);
  EXPECT_TRUE(Findings().empty());
}

TEST_F(GlobalRaceTest, LastBlockPatternWithoutAFenceIsARace) {
  LastBlock(events_, false, kHeap);
  const auto findings = Findings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].first.pc, 1u);
  EXPECT_EQ(findings[0].second.pc, 3u);
}

TEST_F(GlobalRaceTest, LookBackThroughStrongStoresIsCleanAndTransitive) {
  Options release = Global(kStore), acquire = Global(kLoad);
  release.order = MemoryOrder::kRelease;
  acquire.order = MemoryOrder::kAcquire;
  std::unique_ptr<Checker> checker = MakeRaceChecker(true, true);
  EventSource events(*checker, 3, 32, 0);
  for (uint32_t b = 0; b < 3; ++b) {
    if (b > 0) {
      events.At(b, 0, 1).Access(1, acquire, [&](uint32_t) { return Word(b - 1); });
      events.At(b, 0).SyncWarp();
      events.At(b, 0).Access(2, Global(kLoad), [&](uint32_t l) { return Word(100 + l); });  // block 0's
    } else {
      events.At(b, 0).Access(3, Global(kStore), [&](uint32_t l) { return Word(100 + l); });
      events.At(b, 0).SyncWarp();
    }
    events.At(b, 0, 1).Access(4, release, [&](uint32_t) { return Word(b); });
  }
  events.Finish();
  EXPECT_TRUE(checker->TakeFindings().empty());
}

TEST_F(GlobalRaceTest, VolatileFlagsDoNotRaceButPlainReadsOfThemDo) {
  events_.At(0, 0, 1).Access(1, Global(kVolatileStore), [&](uint32_t) { return Word(0); });
  events_.At(1, 0, 1).Access(2, Global(kVolatileWait), [&](uint32_t) { return Word(0); });
  EXPECT_TRUE(checker_->TakeFindings().empty());
  events_.At(1, 0, 1).Access(3, Global(kLoad), [&](uint32_t) { return Word(0); });
  EXPECT_EQ(Findings().size(), 1u);
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

TEST_F(GlobalRaceTest, VolatileDataRacesWhereNothingWaitsForIt) {
  events_.At(0, 0, 1).Access(1, Global(kVolatileStore), [&](uint32_t) { return Word(0); });
  events_.At(1, 0, 1).Access(2, Global(kVolatileLoad), [&](uint32_t) { return Word(0); });
  EXPECT_EQ(checker_->TakeFindings().size(), 1u);
  events_.At(1, 1, 1).Access(3, Global(kVolatileStore), [&](uint32_t) { return Word(0); });
  EXPECT_EQ(Findings().size(), 2u);
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

// Two blocks have read all of a page: a third reader is passed over, but not once somebody has written.
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

}  // namespace
}  // namespace lockstep::vgpu
