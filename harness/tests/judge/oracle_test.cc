#include "judge/input/oracle.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "judge/device/compare.h"

namespace lockstep::judge {
namespace oracle_test {

constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
constexpr int32_t kMin = std::numeric_limits<int32_t>::min();

TEST(OracleTest, SumWrapsAround) {
  EXPECT_EQ(WrappingSum(std::vector<int32_t>{kMax, 1}), kMin);
  EXPECT_EQ(ExactSum(std::vector<int32_t>{kMax, 1}), int64_t{kMax} + 1);
  EXPECT_EQ(WrappingSum({}), 0);
}

TEST(OracleTest, ExtremesOfNothingAreTheIdentities) {
  EXPECT_EQ(Largest({}), kMin);
  EXPECT_EQ(Smallest({}), kMax);
  const std::vector<int32_t> values = {3, -7, 5};
  EXPECT_EQ(Largest(values), 5);
  EXPECT_EQ(Smallest(values), -7);
}

TEST(CompareTest, IntegersBitForBit) {
  const std::vector<int32_t> right = {1, 2, 3, 4};
  EXPECT_FALSE(CompareExact<int32_t>(right, right));
  const auto mismatch = CompareExact<int32_t>(right, std::vector<int32_t>{1, 9, 3, 8});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(MismatchText(*mismatch, 4), "element 1 of 4 differs (2 in total): expected 2, found 9");
}

TEST(CompareTest, TooFewElementsDiffer) {
  const std::vector<int32_t> right = {1, 2};
  const auto mismatch = CompareExact<int32_t>(right, std::vector<int32_t>{1});
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(mismatch->index, 1u);
  EXPECT_EQ(mismatch->found, "nothing");
  EXPECT_TRUE(CompareExact<int32_t>(right, std::vector<int32_t>{1, 2, 3}));
}

TEST(CompareTest, NanNeverPasses) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  const std::vector<double> right = {1.0}, bound = {0.5}, unbounded = {infinity}, poisoned = {double{nan}};
  EXPECT_TRUE(CompareBounded<float>(right, std::vector<float>{nan}, bound));
  EXPECT_TRUE(CompareBounded<float>(right, std::vector<float>{1.0f}, unbounded));
  EXPECT_TRUE(CompareBounded<float>(poisoned, std::vector<float>{1.0f}, bound));
  EXPECT_TRUE(CompareBounded<float>(right, std::vector<float>{1.0f}, poisoned));
  EXPECT_FALSE(CompareBounded<float>(right, std::vector<float>{1.25f}, bound));
  EXPECT_TRUE(CompareBounded<float>(right, std::vector<float>{1.75f}, bound));
  EXPECT_TRUE(CompareBounded<float>(right, std::vector<float>{}, bound));
}

TEST(CompareTest, MessageNamesTheBound) {
  const std::vector<double> right = {2.0}, bound = {0.25};
  const auto mismatch = CompareBounded<float>(right, std::vector<float>{3.0f}, bound);
  ASSERT_TRUE(mismatch);
  EXPECT_EQ(MismatchText(*mismatch, 1), "element 0 of 1 differs: expected 2 ± 0.25, found 3");
}

}  // namespace oracle_test
}  // namespace lockstep::judge
