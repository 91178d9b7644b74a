#include "judge/input/inputs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <set>

#include "judge/input/oracle.h"

namespace lockstep::judge {
namespace inputs_test {

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

TEST(RandomTest, DrawsAreTheKeysAndNotItsWords) {
  Random one(3), same(3), other(4);
  std::set<uint64_t> drawn;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = one.Next();
    EXPECT_EQ(value, same.Next());
    drawn.insert({value, other.Next()});
  }
  EXPECT_EQ(drawn.size(), 2000u);
  // A test may draw lengths and make an input with the same key: they share no numbers.
  for (const uint32_t word : MakeWords(4096, 3)) {
    for (const uint64_t value : {Random(3).Next() >> 32, Random(3).Next() & 0xFFFFFFFF}) ASSERT_NE(word, value);
  }
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

TEST(PatternTest, RandomIntegersAreUniform) {
  constexpr uint64_t kN = 201'000;
  std::map<int32_t, int> counts;
  for (const int32_t value : MakeInts(Pattern::kSmall, kN, 9)) ++counts[value];
  EXPECT_EQ(counts.size(), 201u) << "-100 to 100, ends included";
  double chi_squared = 0;
  for (const auto& [value, count] : counts) chi_squared += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_NEAR(chi_squared, 200, 100);  // five standard deviations
  const std::vector<int32_t> alternating = MakeInts(Pattern::kAlternating, 10'000, 9);
  for (size_t i = 0; i < alternating.size(); ++i) {
    const int32_t size = i % 2 == 0 ? alternating[i] : -alternating[i];
    ASSERT_TRUE(size >= 1 && size <= 1000 + (i + 1 == alternating.size())) << i;
  }
}

TEST(PatternTest, AnElementDoesNotDependOnTheLength) {
  for (const Pattern pattern : {Pattern::kSmall, Pattern::kAlternating, Pattern::kExtremes}) {
    const std::vector<int32_t> few = MakeInts(pattern, 700, 2), many = MakeInts(pattern, 5000, 2);
    EXPECT_TRUE(std::equal(few.begin(), few.end() - 1, many.begin()));  // the last may be one larger, for the sum
  }
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

TEST(DistinctTest, WordsOfAnyLengthAreDistinct) {
  for (uint64_t n = 1; n < 600; ++n) {
    const std::vector<uint32_t> words = MakeDistinct(n, n);
    ASSERT_EQ(std::set<uint32_t>(words.begin(), words.end()).size(), n);
  }
}

// The bits above those that make words distinct are the generator's, so that no word reveals another.
TEST(DistinctTest, UpperBitsAreTheGenerators) {
  for (const uint64_t n : {1, 2, 3, 1000, 4096, 4097}) {
    const std::vector<uint32_t> words = MakeDistinct(n, 5), drawn = MakeWords(n, 5);
    const int bits = static_cast<int>(std::bit_width(n - 1));
    for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(words[i] >> bits, drawn[i] & (~uint32_t{0} >> bits)) << n << ", " << i;
  }
}

}  // namespace inputs_test
}  // namespace lockstep::judge
