#include "judge/run/wall_budget.h"

#include <gtest/gtest.h>

namespace lockstep::judge {
namespace wall_budget_test {

TEST(WallBudgetTest, ATestsCallsAreAddedUp) {
  WallBudget budget(10, 100);
  budget.BeginTest();
  budget.Spend(10, 0);
  EXPECT_EQ(budget.Exceeded(), "");
  budget.Spend(1, 0);
  EXPECT_EQ(budget.Exceeded(),
            "not called: the calls before it took 11 of the 10 seconds that the calls of one test may take");
  budget.BeginTest();
  EXPECT_EQ(budget.Exceeded(), "") << "the next test has its own";
}

TEST(WallBudgetTest, ASubmissionsTestsAreAddedUp) {
  WallBudget budget(10, 25);
  for (int test = 0; test < 3; ++test) {
    EXPECT_EQ(budget.Exceeded(), "");
    budget.BeginTest();
    budget.Spend(9, 0);
  }
  budget.BeginTest();
  EXPECT_EQ(budget.Exceeded(),
            "not called: the calls before it took 27 of the 25 seconds that all calls of a submission may take");
}

TEST(WallBudgetTest, KernelsCountByTheirShare) {
  WallBudget budget(10, 100);
  budget.Spend(0, 10 * kDeviceShare);
  EXPECT_EQ(budget.Exceeded(), "");
  budget.Spend(0, 1);
  EXPECT_NE(budget.Exceeded(), "");
}

TEST(WallBudgetTest, WithoutLimitsThereIsNoEnd) {
  WallBudget budget;
  budget.Spend(1e9, 1e9);
  EXPECT_EQ(budget.Exceeded(), "");
}

}  // namespace wall_budget_test
}  // namespace lockstep::judge
