// Assignment 17, compaction and radix sort: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/17_sort_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenSortTest : public SortTest {};

TEST_P(HiddenSortTest, MovesRandomLengths) {
  judge::Random random(Seed());
  for (size_t k = 0; k < 14; ++k) {
    const int64_t most = k % 2 == 0 ? kBlockKeys : 9000;
    Expect({static_cast<uint64_t>(random.Between(1, most))}, kAllKeys[k % std::size(kAllKeys)]);
  }
}

TEST_P(HiddenSortTest, MovesFewKeysAnywhere) {
  for (uint64_t n = 1; n < 70; n += 4) Expect({n}, kAllKeys[n % std::size(kAllKeys)], {(n * 7 + 3) % 4, n % 3});
}

TEST_P(HiddenSortTest, KeepsAnyShare) {
  judge::Random random(Seed());
  Expect({2});
  for (const uint64_t n : {1024, 5000}) {
    for (int k = 0; k < 4; ++k) ExpectLimit(n, static_cast<uint32_t>(random.Next()) >> 3 * k);
    ExpectLimit(n, ~0U);
  }
}

// A result that was remembered by address and length is wrong here.
TEST_P(HiddenSortTest, MovesAgainAtTheSameAddresses) { Expect({900, 900, 5000, 1000, 1, 900, 5000, 5000}); }

TEST_P(HiddenSortTest, MovesManyEqualKeys) {
  Expect({1}, Keys::kFew, {}, Role::kPlain);
  for (const Keys keys : {Keys::kOne, Keys::kHighBits, Keys::kReversed}) Expect({70001}, keys, {}, Role::kPlain);
  // With checkers, many tiles run side by side: a look-back has to continue after its first window of 32.
  Expect({140001}, Keys::kRandom);
}

INSTANTIATE_TEST_SUITE_P(, HiddenSortTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
