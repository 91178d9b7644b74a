#include "judge/model/statistics.h"

#include <gtest/gtest.h>

#include "judge/input/inputs.h"

namespace lockstep::judge {
namespace statistics_test {

TEST(StatisticsTest, MedianIsTheMiddle) {
  EXPECT_EQ(Median({}), 0);
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 2}), 2);
  EXPECT_EQ(Median({4, 1, 2, 9}), 3);
}

// The ranks are those of tables of the sign test.
TEST(StatisticsTest, IntervalIsOfOrderStatistics) {
  std::vector<double> values;
  for (int i = 1; i <= 12; ++i) values.push_back(i);
  Estimate estimate = EstimateMedian(values);
  EXPECT_EQ(estimate.value, 6.5);
  EXPECT_EQ(estimate.low, 3);
  EXPECT_EQ(estimate.high, 10);
  for (int i = 13; i <= 25; ++i) values.push_back(i);
  estimate = EstimateMedian(values);
  EXPECT_EQ(estimate.low, 8);
  EXPECT_EQ(estimate.high, 18);
}

TEST(StatisticsTest, FewValuesBoundNothing) {
  const Estimate estimate = EstimateMedian(std::vector<double>{2, 1, 5});
  EXPECT_EQ(estimate.low, 1);
  EXPECT_EQ(estimate.high, 5);
}

TEST(StatisticsTest, OneOutlierMovesTheIntervalLittle) {
  std::vector<double> values(20, 1.0);
  values[7] = 1e9;
  const Estimate estimate = EstimateMedian(values);
  EXPECT_EQ(estimate.low, 1);
  EXPECT_EQ(estimate.high, 1);
}

TEST(StatisticsTest, IntervalHoldsTheMedianAsOftenAsItSays) {
  Random random(1);
  int held = 0;
  constexpr int kTrials = 4000;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    // Skewed: squares of uniform numbers, whose median is 250 000.
    for (int i = 0; i < 15; ++i) {
      const auto uniform = static_cast<double>(random.Between(0, 1000));
      values.push_back(uniform * uniform);
    }
    const Estimate estimate = EstimateMedian(values);
    held += estimate.low <= 250'000 && 250'000 <= estimate.high;
  }
  EXPECT_GT(held, 0.95 * kTrials);
}

}  // namespace statistics_test
}  // namespace lockstep::judge
