// Assignment 13, find the bug: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/13_find_the_bug_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenBugTest : public BugTest {
 protected:
  // Here two shorter products in place of program 7's overflow, too.
  void ExpectLong() {
    judge::Random random(Seed(~uint64_t{2}));
    const uint64_t n = 9'000'001 + 2 * static_cast<uint64_t>(random.Between(0, 500'000));
    if (rung().starts_with("bug7_")) Expect({n}, judge::Role::kPlain);
  }
};

// Short ones, and some that are longer than 2^32 / 1,000,003.
TEST_P(HiddenBugTest, HoldsForDrawnLengths) {
  judge::Random random(Seed(~uint64_t{0}));
  const auto drawn = [&](int64_t low, int64_t high) { return static_cast<uint64_t>(random.Between(low, high)); };
  for (int k = 0; k < 12; ++k) {
    const uint64_t n = k % 3 == 0 ? 4 * drawn(1200, 2500) + drawn(1, 3) : drawn(2, 1023);
    Expect({n, drawn(0, 7), drawn(0, 7)});
  }
  ExpectLong();
}

// Every block's places are taken, and every warp's.
TEST_P(HiddenBugTest, HoldsForWholeBlocksAndOneMore) {
  for (const uint64_t n : judge::Around({32, 64, 128, 256, 512, 6400, 8192})) Expect({n, n % 3, n % 5});
  for (const Values order : {Values::kAscending, Values::kDescending}) Expect({1003}, judge::Role::kChecked, order);
  ExpectLong();
}

// More elements than a grid of old had blocks, and than 16 bits count; about half of them lie between elements that are
// 1,000,003 apart.
TEST_P(HiddenBugTest, HoldsForManyElements) {
  Expect({1003});  // quick to tell of a mistake
  judge::Random random(Seed(~uint64_t{1}));
  Expect({400'001 + 2 * static_cast<uint64_t>(random.Between(0, 9)), 1, 3}, judge::Role::kPlain);
  ExpectLong();
}

INSTANTIATE_TEST_SUITE_P(, HiddenBugTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
