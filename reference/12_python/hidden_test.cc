// Assignment 12, the host side in PyCUDA: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/12_python_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenRoundTripTest : public RoundTripTest {};
class HiddenPreparedShiftTest : public PreparedShiftTest {};
class HiddenPreparedSumTest : public PreparedSumTest {};
class HiddenStreamedTest : public StreamedTest {};

// Results remembered by length are wrong here, and so are those that an earlier, longer copy left behind.
TEST_P(HiddenRoundTripTest, CopiesAgain) {
  for (const uint64_t n : {3000, 3000, 20'011, 0, 17, 3000}) Expect(n, Pattern::kSmall);
}

TEST_P(HiddenPreparedShiftTest, ShiftsRandomLengths) {
  judge::Random random(Seed(1000));
  for (int k = 0; k < 30; ++k) {
    const int64_t n = random.Between(1, 3000);
    Expect(static_cast<uint64_t>(n), random.Between(-3 * n, 3 * n));
  }
}

TEST_P(HiddenPreparedShiftTest, ShiftsTheShortestArraysAllWays) {
  for (uint64_t n = 1; n <= 6; ++n) {
    for (int64_t shift = -static_cast<int64_t>(n); shift <= static_cast<int64_t>(n); ++shift) Expect(n, shift);
  }
}

TEST_P(HiddenPreparedSumTest, SumsRandomLengths) {
  judge::Random random(Seed(1000));
  for (int k = 0; k < 20; ++k) Expect(static_cast<uint64_t>(random.Between(1, 100'000)), Pattern::kExtremes);
}

TEST_P(HiddenPreparedSumTest, SumsFewAfterMany) {
  for (const uint64_t n : {100'000, 100'000, 3, 0, 300, 1}) Expect(n, Pattern::kSmall);
}

TEST_P(HiddenPreparedSumTest, SumsVeryLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  // More than 65,535 blocks of 64.
  Expect((uint64_t{1} << 22) + 77, Pattern::kSmall, Role::kPlain);
  // Three levels of blocks of 1024: where sums overwrite sums, only checkers see that blocks read and write one place.
  Expect((uint64_t{1} << 20) + 77, Pattern::kSmall);
}

TEST_P(HiddenStreamedTest, SubtractsRandomLengths) {
  judge::Random random(Seed(1000));
  for (int k = 0; k < 15; ++k) Expect(static_cast<uint64_t>(random.Between(1, 20'000)));
}

TEST_P(HiddenStreamedTest, PutsOtherLengthsIntoStreams) {
  for (const uint64_t n : {4096, 50'021}) ExpectOverlap(n);
  ExpectOverlap(static_cast<uint64_t>(judge::Random(Seed(1000)).Between(100'000, 1'000'000)));
}

INSTANTIATE_TEST_SUITE_P(, HiddenRoundTripTest, testing::ValuesIn(Rung12(1)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenPreparedShiftTest, testing::ValuesIn(Rung12(2)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenPreparedSumTest, testing::ValuesIn(Rung12(3)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenStreamedTest, testing::ValuesIn(Rung12(4)), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
