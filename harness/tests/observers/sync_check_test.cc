#include <gtest/gtest.h>

#include "tests/observers/observer_events.h"
#include "vgpu/observers/checkers.h"

namespace lockstep::vgpu {
namespace sync_check_test {

class SyncCheckTest : public ::testing::Test {
 protected:
  std::unique_ptr<Checker> checker_ = MakeSyncChecker();
  EventSource events_{*checker_, 2, 64, 0};
};

TEST_F(SyncCheckTest, WarpsThatMeetAtTwoBarriersAreNamed) {
  events_.At(1, 0).Arrive(0, 3);
  events_.At(1, 1).Arrive(0, 8);
  events_.Complete(0b11);
  const auto findings = checker_->TakeFindings();
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].kind, FindingKind::kBarrierDivergence);
  EXPECT_EQ(findings[0].first.pc, 3u);
  EXPECT_EQ(findings[0].second.pc, 8u);
  EXPECT_EQ(findings[0].second.thread_index, 32u);
  EXPECT_EQ(findings[0].second.block_index, 1u);
}

TEST_F(SyncCheckTest, OfAWarpTheFirstArrivalCounts) {
  events_.At(0, 0, 0xffff).Arrive(0, 3);
  events_.At(0, 0, 0xffff0000).Arrive(0, 8);
  events_.At(0, 1).Arrive(0, 3);
  events_.Complete(0b11);
  EXPECT_TRUE(checker_->TakeFindings().empty());
}

TEST_F(SyncCheckTest, ForkReportsWhatItFound) {
  const auto fork = checker_->Fork();
  EventSource events(*fork, 1, 64, 0);
  events.At(0, 0).Arrive(0, 3);
  events.At(0, 1).Arrive(0, 8);
  events.Complete(0b11);
  checker_->Absorb(*fork);
  EXPECT_EQ(checker_->TakeFindings().size(), 1u);
}

}  // namespace sync_check_test
}  // namespace lockstep::vgpu
