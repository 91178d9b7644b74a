#include "judge/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "judge/oracle.h"

namespace lockstep::judge {
namespace {

TEST(RandomTest, StaysInItsRange) {
  Random random(1);
  bool low = false, high = false;
  for (int i = 0; i < 1000; ++i) {
    const int64_t value = random.Between(-2, 2);
    ASSERT_GE(value, -2);
    ASSERT_LE(value, 2);
    low |= value == -2;
    high |= value == 2;
  }
  EXPECT_TRUE(low && high);
}

TEST(RandomTest, CoversTheWholeRange) {
  Random random(2);
  const int64_t first = random.Between(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  EXPECT_NE(first, random.Between(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
}

TEST(SeedTest, DependsOnRunAndName) {
  EXPECT_EQ(SeedFor(7, "A.B"), SeedFor(7, "A.B"));
  EXPECT_NE(SeedFor(7, "A.B"), SeedFor(8, "A.B"));
  EXPECT_NE(SeedFor(7, "A.B"), SeedFor(7, "A.C"));
}

class PatternTest : public testing::TestWithParam<Pattern> {};

TEST_P(PatternTest, IsReproducible) { EXPECT_EQ(MakeInts(GetParam(), 1000, 5), MakeInts(GetParam(), 1000, 5)); }

TEST_P(PatternTest, MakesTrivialAnswersWrong) {
  for (uint64_t n = 2; n < 300; ++n) {
    const std::vector<int32_t> values = MakeInts(GetParam(), n, n);
    ASSERT_EQ(values.size(), n);
    const int32_t sum = WrappingSum(values);
    ASSERT_NE(sum, 0) << "n = " << n;
    if (GetParam() != Pattern::kSpikeFirst) {
      ASSERT_NE(sum, values[0]) << "n = " << n;
    }
  }
}

TEST_P(PatternTest, AllowsNoValues) { EXPECT_TRUE(MakeInts(GetParam(), 0, 1).empty()); }

INSTANTIATE_TEST_SUITE_P(All, PatternTest, testing::ValuesIn(AllPatterns()),
                         [](const auto& info) { return "Pattern" + std::to_string(static_cast<int>(info.param)); });

TEST(PatternTest, ExtremesWrapAround) {
  const std::vector<int32_t> values = MakeInts(Pattern::kLargest, 3, 1);
  EXPECT_NE(ExactSum(values), WrappingSum(values));
  const std::vector<int32_t> random = MakeInts(Pattern::kExtremes, 1000, 1);
  EXPECT_LT(*std::min_element(random.begin(), random.end()), -2'000'000'000);
  EXPECT_GT(*std::max_element(random.begin(), random.end()), 2'000'000'000);
}

TEST(AroundTest, GivesEachBoundaryAndItsNeighbours) {
  EXPECT_EQ(Around({0, 32, 33}), (std::vector<uint64_t>{0, 1, 31, 32, 33, 34}));
}

TEST(DistinctTest, WordsAreDistinctSeededAndInNoOrder) {
  for (const uint64_t seed : {0, 1, 12345}) {
    std::vector<uint32_t> words = MakeDistinct(100'003, seed);
    EXPECT_EQ(words, MakeDistinct(100'003, seed));
    EXPECT_NE(words, MakeDistinct(100'003, seed + 1));
    // In no order: about half of the neighbours ascend.
    int ascents = 0;
    for (size_t i = 1; i < words.size(); ++i) ascents += words[i] > words[i - 1] ? 1 : 0;
    EXPECT_NEAR(ascents, 50'000, 1'000);
    std::sort(words.begin(), words.end());
    EXPECT_EQ(std::adjacent_find(words.begin(), words.end()), words.end());
  }
  EXPECT_TRUE(MakeDistinct(0, 1).empty());
}

}  // namespace
}  // namespace lockstep::judge
