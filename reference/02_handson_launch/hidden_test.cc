// Assignment 02, launching kernels: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "suites/02_handson_launch_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenLaunchTest : public LaunchTest {};
class HiddenAnyLengthTest : public AnyLengthTest {};
class HiddenCopyBackTest : public CopyBackTest {};
class HiddenVerifyTest : public VerifyTest {};
class HiddenGrid2dTest : public Grid2dTest {};

// An earlier, longer call's values are still in memory that has been freed since.
TEST_P(HiddenLaunchTest, FillsFewAfterMany) {
  for (const uint32_t n : {65536, 256, 16384, 64}) ExpectFilled(n, 64);
}

TEST_P(HiddenAnyLengthTest, FillsOtherLengths) {
  for (const uint32_t block : {1, 31, 96, 384, 1000, 1024}) {
    for (const uint32_t n : {1, 53, 999, 1025, 7919}) ExpectFilled(n, block);
  }
}

// More blocks than 65,535, the last of them not full; values that a float holds no more. n ends at 2^24, up to which a
// float holds every index, so longer arrays would show nothing else.
TEST_P(HiddenAnyLengthTest, FillsLargeArraysOfOtherLengths) {
  ExpectFilled(1000, 256, Role::kPlain);
  ExpectFilled(65'600 * 32 - 7, 32, Role::kPlain);
}

TEST_P(HiddenAnyLengthTest, ReportsOtherImpossibleLaunches) {
  ExpectFilled(5000, 1024);
  for (const uint32_t block : {4096, 100000}) ExpectRefused(200000, block);
  ExpectFilled(77, 1024);
}

TEST_P(HiddenAnyLengthTest, ReportsAFailedLaunch) {
  ExpectFilled(1000, 128);
  judge::Random random(Seed(1));
  for (int bits = 2; bits <= 20; bits += 2) {
    ExpectFailure(static_cast<uint32_t>(random.Between(1 << (bits - 2), 1 << bits)), Failing::kLaunch);
  }
  ExpectFilled(5000, 128);
}

// Of every order of magnitude, up to the evidence's.
TEST_P(HiddenCopyBackTest, ReportsFailuresAtEveryLength) {
  ExpectFilled(1000, 128);
  for (const uint32_t n : {1, 5000}) ExpectRefused(n, 1500);
  judge::Random random(Seed(1));
  for (int bits = 2; bits <= 20; bits += 2) {
    for (const Failing failing : {Failing::kAllocation, Failing::kCopy}) {
      ExpectFailure(static_cast<uint32_t>(random.Between(1 << (bits - 2), 1 << bits)), failing);
    }
  }
  ExpectFilled(70001, 128);
}

TEST_P(HiddenVerifyTest, CountsWithBlocksOfAnySize) {
  for (const uint32_t block : {1, 33, 512, 1024}) {
    ExpectCounted(3001, block, {});
    ExpectCounted(3001, block, {0, 1, 1500, 2999, 3000});
  }
}

TEST_P(HiddenVerifyTest, ReportsAFailedLaunch) {
  judge::Random random(Seed(1));
  for (int bits = 4; bits <= 20; bits += 4) {
    ExpectFailure(static_cast<uint32_t>(random.Between(1 << (bits - 4), 1 << bits)), Failing::kLaunch);
  }
  ExpectCounted(5000, 128, {17});
}

TEST_P(HiddenVerifyTest, CountsAgain) {
  for (const uint32_t k : {5u, 50u, 500u}) {
    std::vector<uint32_t> wrong;
    for (uint32_t i = k; i < 10007; i += k) wrong.push_back(i);
    ExpectCounted(10007, 256, wrong);
  }
}

TEST_P(HiddenGrid2dTest, FillsOtherRectangles) {
  for (const auto& [width, height] : {std::pair{2, 1}, {31, 31}, {257, 5}, {5, 257}, {127, 129}}) {
    ExpectFilled2d(static_cast<uint32_t>(width), static_cast<uint32_t>(height));
  }
  ExpectFilled2d(2053, 1021, Role::kPlain);
  // Rows and columns past 32,767 and 65,535; a grid has no more than 65,535 blocks from top to bottom.
  ExpectFilled2d(3, 40'000, Role::kPlain);
  ExpectFilled2d(70'001, 3, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenLaunchTest, testing::ValuesIn(SelectedOf({1, 2, 3, 5})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenAnyLengthTest, testing::ValuesIn(SelectedOf({2, 3, 5})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenCopyBackTest, testing::ValuesIn(SelectedOf({3})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenVerifyTest, testing::ValuesIn(SelectedOf({4})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenGrid2dTest, testing::ValuesIn(SelectedOf({6})), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
