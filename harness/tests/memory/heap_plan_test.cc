// How much a kernel's malloc() gives: counts until nullptr, read from an H100 by harness/dev/conformance's programs.
#include "vgpu/memory/heap_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace lockstep::vgpu {
namespace heap_plan_test {

constexpr int kMost = 1200;  // at which those programs stop
constexpr uint64_t kLimits[] = {4194304, 5046272, 8388608, 33554432, 134217728};
struct Row {
  uint64_t bytes;
  int counts[5];  // by limit
};
constexpr Row kRows[] = {
    {16384, {236, 284, 472, 1200, 1200}}, {20000, {157, 189, 314, 1200, 1200}}, {32768, {79, 95, 157, 629, 1200}},
    {49152, {78, 94, 157, 629, 1200}},    {65536, {39, 47, 78, 314, 1200}},     {131072, {26, 31, 52, 209, 839}},
    {196608, {19, 23, 39, 157, 629}},     {262144, {13, 16, 26, 105, 420}},     {393216, {9, 11, 19, 78, 314}},
    {524288, {6, 8, 13, 52, 210}},        {917504, {3, 4, 6, 26, 105}},         {1048576, {3, 4, 6, 26, 105}},
    {1200000, {3, 3, 6, 26, 104}},        {1572864, {1, 1, 3, 13, 52}},         {2097152, {1, 1, 3, 13, 52}},
    {3145728, {1, 1, 2, 8, 34}},          {4194304, {0, 0, 1, 6, 26}},          {5000000, {0, 0, 1, 6, 26}},
    {6291456, {0, 0, 1, 4, 17}},          {7340032, {0, 0, 1, 4, 17}},
};

int CountIn(HeapPlan& plan, uint64_t bytes, std::vector<uint64_t>* given = nullptr) {
  int count = 0;
  while (count < kMost && plan.Take(1000000 + static_cast<uint64_t>(count), bytes)) {
    if (given != nullptr) given->push_back(1000000 + static_cast<uint64_t>(count));
    ++count;
  }
  return count;
}

TEST(HeapPlanTest, GivesAsMuchAsAnH100) {
  for (const Row& row : kRows) {
    for (size_t k = 0; k < std::size(kLimits); ++k) {
      HeapPlan plan(kLimits[k]);
      EXPECT_EQ(CountIn(plan, row.bytes), row.counts[k]) << row.bytes << " bytes of " << kLimits[k];
    }
  }
}

TEST(HeapPlanTest, MixedSizesShareAsOnAnH100) {
  HeapPlan plan(8388608);
  int alternating = 0;
  while (plan.Take(static_cast<uint64_t>(alternating), alternating % 2 != 0 ? 16384 : 1048576)) ++alternating;
  EXPECT_EQ(alternating, 12);
  EXPECT_EQ(CountIn(plan, 16384), 106);
}

TEST(HeapPlanTest, WhatIsFreedCanBeHadAgain) {
  std::mt19937 random(7);
  constexpr uint64_t kSizes[] = {0, 1, 64, 100, 1000, 1904, 1905, 5000, 20000, 60000, 300000, 1270000, 2000000};
  for (int round = 0; round < 20; ++round) {
    HeapPlan plan(8388608);
    std::vector<uint64_t> given;
    for (uint64_t at = 1; at < 400; ++at) {
      if (random() % 3 != 0 || given.empty()) {
        if (plan.Take(at, kSizes[random() % std::size(kSizes)])) given.push_back(at);
      } else {
        const size_t k = random() % given.size();
        plan.Give(given[k]);
        given.erase(given.begin() + static_cast<std::ptrdiff_t>(k));
      }
    }
    for (const uint64_t at : given) plan.Give(at);
    EXPECT_EQ(CountIn(plan, 1048576), 6);
  }
}

}  // namespace heap_plan_test
}  // namespace lockstep::vgpu
