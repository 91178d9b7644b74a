// Compares clocks, which share parts of each other, with maps, which do not.
#include "vgpu/observers/race/order_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <utility>
#include <vector>

namespace lockstep::vgpu {
namespace order_clock_test {

using Plain = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;  // (block, warp): time

TEST(OrderClockTest, KnowsWhatHasBeenJoined) {
  std::mt19937 random(7);
  const auto pick = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
  for (int round = 0; round < 40; ++round) {
    const uint32_t blocks = std::array{1u, 5u, 17u, 300u, 70'000u, 0xffff'ffffu}[pick(6)];
    std::vector<uint32_t> used(12);
    for (uint32_t& block : used) block = pick(blocks);
    std::vector<OrderClock> clocks(6);
    std::vector<Plain> plain(6);
    for (int step = 0; step < 300; ++step) {
      const uint32_t into = pick(6), from = pick(6);
      switch (pick(4)) {
        case 0: {
          const uint32_t block = used[pick(12)], warps = 1 + pick(OrderClock::kWarps);
          std::array<uint32_t, OrderClock::kWarps> times{};
          for (uint32_t w = 0; w < warps; ++w) {
            times[w] = pick(50);
            plain[into][{block, w}] = std::max(plain[into][{block, w}], times[w]);
          }
          clocks[into].Join(block, times.data(), warps);
          break;
        }
        case 1: {
          Plain joined = plain[into];
          for (const auto& [key, time] : plain[from]) joined[key] = std::max(joined[key], time);
          EXPECT_LE(joined != plain[into], clocks[into].Join(clocks[from]));
          plain[into] = joined;
          EXPECT_FALSE(clocks[into].Join(clocks[from]));
          break;
        }
        case 2:
          if (pick(3) == 0) {
            clocks[into] = clocks[from];
            plain[into] = plain[from];
          }
          break;
        default: {
          const uint32_t block = used[pick(12)], warp = pick(OrderClock::kWarps), time = pick(50);
          const auto known = plain[into].find({block, warp});
          EXPECT_EQ(clocks[into].Covers(block, warp, time), known != plain[into].end() && time < known->second);
        }
      }
    }
  }
}

}  // namespace order_clock_test
}  // namespace lockstep::vgpu
