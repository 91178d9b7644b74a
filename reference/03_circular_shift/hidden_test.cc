// Assignment 03, the circular shift: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/03_circular_shift_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenShiftTest : public ShiftTest {};
class HiddenAnyShiftTest : public ShiftTest {};

TEST_P(HiddenShiftTest, ShiftsRandomLengths) {
  judge::Random random(Seed());
  for (int k = 0; k < 60; ++k) {
    const int64_t n = random.Between(1, 3000);
    Expect(static_cast<uint64_t>(n), random.Between(0, n - 1));
  }
}

// Every alignment of the source, on both sides of where the array wraps around.
TEST_P(HiddenShiftTest, ShiftsByEveryPhase) {
  for (const uint64_t n : {256, 257, 258, 259, 1021}) {
    for (int64_t shift = 100; shift < 109; ++shift) Expect(n, shift);
  }
}

TEST_P(HiddenShiftTest, ShiftsTheShortestArraysAllWays) {
  for (uint64_t n = 1; n <= 12; ++n) {
    for (int64_t shift = 0; shift < static_cast<int64_t>(n); ++shift) Expect(n, shift);
  }
}

// A result that was remembered by address and length is wrong here.
TEST_P(HiddenShiftTest, ShiftsAgainAtTheSameAddresses) {
  ShiftBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), rung(), 3000);
  for (uint64_t call = 0; call < 4; ++call) {
    ExpectIn(buffers, MakeArray(Values::kDistinct, 3000, Seed(call)), 17,
             "new values at the same address, call " + std::to_string(call + 1));
  }
}

// Buffers still hold what the longer arrays before left.
TEST_P(HiddenShiftTest, ShiftsShortAfterLong) {
  ShiftBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), rung(), 100000);
  for (const uint64_t n : {100000, 257, 99999, 2, 129}) {
    ExpectIn(buffers, MakeArray(Values::kDistinct, n, Seed(n)), 1, "in buffers that held other values before");
  }
}

// Lengths at which a bounded grid of 1024 blocks of 256 threads goes round, with one element a thread and with four.
TEST_P(HiddenShiftTest, ShiftsVeryLargeArrays) {
  Expect(1000, 3, Role::kPlain);
  // A grid of 1024 blocks, and what a float holds as an index: one length past each.
  constexpr uint64_t kGrid = uint64_t{1024} * 256;
  for (const uint64_t n : {kGrid - 1, kGrid + 1, (uint64_t{1} << 24) + 43}) {
    Expect(n, 123'457, Role::kPlain, Values::kDistinct);
  }
}

TEST_P(HiddenAnyShiftTest, ShiftsRandomly) {
  judge::Random random(Seed());
  for (int k = 0; k < 60; ++k) {
    const int64_t n = random.Between(1, 3000);
    Expect(static_cast<uint64_t>(n), random.Between(-3 * n, 3 * n));
  }
  for (int k = 0; k < 20; ++k) {
    Expect(static_cast<uint64_t>(random.Between(1, 3000)), random.Between(INT32_MIN, INT32_MAX));
  }
}

TEST_P(HiddenAnyShiftTest, ShiftsLargeArraysTowardTheEnd) {
  Expect(1000, -3, Role::kPlain);
  constexpr uint64_t kLarge = uint64_t{1} << 19;
  Expect(kLarge + 1, -1, Role::kPlain, Values::kDistinct);
  Expect(kLarge - 1, INT32_MIN, Role::kPlain, Values::kDistinct);
}

INSTANTIATE_TEST_SUITE_P(, HiddenShiftTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenAnyShiftTest, testing::ValuesIn(RungsOfAnyShift()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
