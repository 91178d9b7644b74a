// Races that only other orders of warps and blocks show (DeviceOptions::orders). Trying the orders has no other effect.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace other_orders_test {

struct Result {
  size_t races = 0, others = 0;
  int sum = 0, launches = 0;
  bool left_out = false;
};

Result Try(const std::string& kernel, int orders) {
  DeviceOptions options;
  options.checkers = CheckerSet::All();
  options.orders = orders;
  options.instruction_budget = 10'000'000;
  TestDevice device(ReadPtx("other_orders"), options);
  const auto words = device.Make(std::vector<int>(2), "words");
  EXPECT_EQ(device.Launch(kernel, {{kernel.starts_with("warps") ? 1u : 2u}, {64}}, words).error, LaunchError::kNone)
      << kernel;
  Result result;
  for (const Finding& finding : device->findings().findings()) {
    ++(finding.kind == FindingKind::kRace ? result.races : result.others);
  }
  result.sum = device.Get(words)[1];
  result.launches = static_cast<int>(device->launches().size());
  result.left_out = !device->left_out().empty();
  return result;
}

constexpr int kMany = 8;  // orders

TEST(OtherOrdersTest, AMissingFenceIsFoundWhoeverLacksIt) {
  for (const std::string threads : {"blocks", "warps"}) {
    // In any one order, one of the two mistakes does not show.
    EXPECT_EQ((Try(threads + "_first_without", 1).races > 0) + (Try(threads + "_second_without", 1).races > 0), 1)
        << threads;
    EXPECT_GT(Try(threads + "_first_without", kMany).races, 0u) << threads;
    EXPECT_GT(Try(threads + "_second_without", kMany).races, 0u) << threads;
  }
}

TEST(OtherOrdersTest, RightProgramsAreCleanInAllOrdersAndRunOnce) {
  for (const std::string kernel : {"blocks_right", "warps_right"}) {
    const Result result = Try(kernel, 32);
    EXPECT_EQ(result.races, 0u) << kernel;
    EXPECT_EQ(result.others, 0u) << kernel;
    EXPECT_EQ(result.sum, 2) << kernel;
    EXPECT_EQ(result.launches, 1) << kernel;
    EXPECT_FALSE(result.left_out) << kernel;
  }
}

TEST(OtherOrdersTest, WhatCannotBeTakenBackRunsInOneOrderAndSaysSo) {
  EXPECT_TRUE(Try("allocates", kMany).left_out);
  EXPECT_EQ(Try("allocates", kMany).sum, 2);
  EXPECT_FALSE(Try("allocates", 1).left_out);
}

}  // namespace other_orders_test
}  // namespace lockstep::vgpu
