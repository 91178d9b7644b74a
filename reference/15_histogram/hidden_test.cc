// Assignment 15, the histogram: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/15_histogram_fixture.h"

namespace lockstep::suites {
namespace {

constexpr Values kAll[] = {Values::kRandom, Values::kOne, Values::kFew, Values::kSkewed, Values::kSorted};

class HiddenHistogramTest : public HistogramTest {};

TEST_P(HiddenHistogramTest, CountsRandomLengths) {
  judge::Random random(Seed());
  for (int k = 0; k < 20; ++k) Expect({static_cast<uint64_t>(random.Between(1, 9000))}, kAll[k % 5]);
}

TEST_P(HiddenHistogramTest, CountsShortInputsAnywhere) {
  for (uint64_t n = 1; n < 50; n += 3) Expect({n}, kAll[n % 5], {(n * 7 + 3) % 16, n % 3});
}

TEST_P(HiddenHistogramTest, CountsLongInputsAnywhere) {
  judge::Random random(Seed());
  for (const Values values : kAll) {
    const auto drawn = [&](int64_t low, int64_t high) { return static_cast<uint64_t>(random.Between(low, high)); };
    Expect({drawn(20000, 40000)}, values, {drawn(1, 15), drawn(0, 9)});
  }
}

// As many as there may be: more than 2^16 for each of up to 128 blocks, and more than 255 for each of 2^15 threads.
TEST_P(HiddenHistogramTest, CountsMillionsOfEqualElements) {
  Expect({1}, Values::kOne, {}, Role::kPlain);
  Expect({uint64_t{1} << 23}, Values::kOne, {}, Role::kPlain);
}

// A result that was remembered by address and length is wrong here.
TEST_P(HiddenHistogramTest, CountsAgainAtTheSameAddresses) { Expect({5000, 5000, 8192, 100, 1, 5000}, Values::kFew); }

INSTANTIATE_TEST_SUITE_P(, HiddenHistogramTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()),
                         judge::RungName);

}  // namespace
}  // namespace lockstep::suites
