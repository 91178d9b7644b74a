#include <gtest/gtest.h>

#include "tests/observers/observer_events.h"
#include "vgpu/core/hint.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace uninitialized_test {

using Options = EventSource::Options;
constexpr uint64_t kBuffer = 0x200000000f00;  // the buffer straddles shadow pages

Options Load(MemorySpace space, int bytes = 4) { return {.space = space, .bytes = bytes}; }
Options Store(MemorySpace space, int bytes = 4) { return {.kind = AccessKind::kStore, .space = space, .bytes = bytes}; }

class UninitializedTest : public ::testing::Test {
 protected:
  static uint64_t Word(uint32_t k) { return kBuffer + 4 * k; }
  bool Clean() { return checker_->TakeFindings().empty(); }

  std::unique_ptr<Checker> checker_ = MakeUninitializedChecker();
  EventSource events_{*checker_, 2, 64, 256};
};

TEST_F(UninitializedTest, ReadsOfFreshMemoryAreFoundWithTheirPlace) {
  checker_->OnAllocate(kBuffer, 4096);
  checker_->OnHostWrite(kBuffer, 4 * 40);
  events_.At(1, 1).Access(5, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(32 + l); });
  const auto findings = checker_->TakeFindings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::kUninitialized);
  EXPECT_EQ(findings[0].address, Word(40));
  EXPECT_EQ(findings[0].first.thread_index, 40u);
  EXPECT_EQ(findings[0].first.block_index, 1u);
  EXPECT_EQ(findings[0].first.pc, 5u);
  EXPECT_EQ(findings[0].count, 24u);
}

TEST_F(UninitializedTest, ASizeInElementsIsNamed) {
  for (const uint64_t written : {1024, 512, 1020, 4092}) {  // of 1,024 words, or 512 of 8 bytes
    checker_->OnAllocate(kBuffer, 4096);
    written == 512 ? checker_->OnHostCopy(kBuffer, kBuffer + 8192, written) : checker_->OnHostWrite(kBuffer, written);
    events_.At(0, 0, 1).Access(5, Load(MemorySpace::kGlobal), [](uint32_t) { return Word(1023); });
    const auto findings = checker_->TakeFindings();
    ASSERT_EQ(findings.size(), 1u) << written;
    EXPECT_EQ(findings[0].hint == Hint::kCountsBytes, written % 512 == 0) << written;
    checker_->OnFree(kBuffer, 4096);
    events_.Launch();
  }
}

TEST_F(UninitializedTest, KernelStoresInitialise) {
  checker_->OnAllocate(kBuffer, 4096);
  events_.At(0, 0).Access(1, Store(MemorySpace::kGlobal), [](uint32_t l) { return Word(64 + l); });
  events_.At(0, 0, 0x0f0f0f0f).Access(2, Store(MemorySpace::kGlobal), [](uint32_t l) { return Word(200 + 3 * l); });
  events_.Launch();
  events_.At(0, 0).Access(3, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(64 + 31 - l); });
  events_.At(0, 0, 0x0f0f0f0f).Access(4, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(200 + 3 * l); });
  EXPECT_TRUE(Clean());
  events_.At(0, 0, 1u << 4).Access(4, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(200 + 3 * l); });
  EXPECT_FALSE(Clean());
}

TEST_F(UninitializedTest, DeviceCopiesPassTheStateOn) {
  checker_->OnAllocate(kBuffer, 8192);
  checker_->OnHostWrite(kBuffer + 4, 4096);
  checker_->OnHostCopy(kBuffer + 4096, kBuffer, 4096);
  events_.At(0, 0, 1).Access(1, Load(MemorySpace::kGlobal), [](uint32_t) { return kBuffer + 4096 + 4; });
  EXPECT_TRUE(Clean());
  events_.At(0, 0, 1).Access(1, Load(MemorySpace::kGlobal), [](uint32_t) { return kBuffer + 4096; });
  EXPECT_FALSE(Clean());
}

TEST_F(UninitializedTest, MemoryThatWasNeverAllocatedOrFreedIsNotWatched) {
  events_.At(0, 0).Access(1, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(l); });
  checker_->OnAllocate(kBuffer, 512);
  checker_->OnFree(kBuffer, 512);
  events_.At(0, 0).Access(1, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(l); });
  EXPECT_TRUE(Clean());
  checker_->OnAllocate(kBuffer, 512);
  events_.At(0, 0).Access(1, Load(MemorySpace::kGlobal), [](uint32_t l) { return Word(l); });
  EXPECT_FALSE(Clean());
}

TEST_F(UninitializedTest, OfAVectorTheElementIsNamed) {
  checker_->OnAllocate(kBuffer, 512);
  checker_->OnHostWrite(kBuffer, 12);
  events_.At(0, 0, 1).Access(1, Load(MemorySpace::kGlobal, 16), [](uint32_t) { return Word(0); });
  const auto findings = checker_->TakeFindings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].address, Word(3));
  EXPECT_EQ(findings[0].bytes, 4u);
}

}  // namespace uninitialized_test
}  // namespace lockstep::vgpu
