// A launch touches the same bytes of watched ranges with and without counters.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace touches_test {

constexpr int kForms = 12;  // as touches.cu
constexpr size_t kInts = 16384;

std::vector<TouchedRange> Touches(int form, bool counters, bool checks, int threads) {
  DeviceOptions options;
  options.counters = counters;
  options.threads = threads;
  if (checks) options.checkers = CheckerSet::All();
  TestDevice device(ReadPtx("touches"), options);
  const auto in = device.Make(RandomInts(kInts, 0, 1 << 20)), out = device.Make(std::vector<int>(kInts));
  for (const auto& buffer : {in, out}) device->Watch(TouchedRange(buffer.address, buffer.count * sizeof(int)));
  device.Run("touches", {.grid = {3, 1, 1}, .block = {250, 1, 1}}, in, out, form);
  EXPECT_EQ(device->launches().back().counters.warp_instructions > 0, counters);
  return device->watched();
}

class TouchesTest : public testing::TestWithParam<int> {};

TEST_P(TouchesTest, AreTheSameWithoutCounters) {
  const std::vector<TouchedRange> counted = Touches(GetParam(), true, false, 1);
  const auto is_touched = [](uint64_t word) { return word != 0; };
  EXPECT_TRUE(std::ranges::any_of(counted[0].loaded, is_touched));
  EXPECT_TRUE(std::ranges::any_of(counted[1].stored, is_touched));
  for (const bool checks : {false, true}) {
    for (const int threads : {1, 2}) {
      const std::vector<TouchedRange> touched = Touches(GetParam(), false, checks, threads);
      for (size_t k = 0; k < counted.size(); ++k) {
        EXPECT_EQ(touched[k].loaded, counted[k].loaded) << "range " << k << ", checks " << checks;
        EXPECT_EQ(touched[k].stored, counted[k].stored) << "range " << k << ", checks " << checks;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, TouchesTest, testing::Range(0, kForms));

}  // namespace touches_test
}  // namespace lockstep::vgpu
