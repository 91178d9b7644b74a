// The orders in which a block's warps take turns when checkers are on.
#include "vgpu/exec/warp_turns.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>
#include <vector>

namespace lockstep::vgpu {
namespace warp_turns_test {

std::vector<uint32_t> Order(WarpSchedule turns, uint32_t warps) {
  std::vector<uint32_t> order;
  for (uint32_t k = 0; k < warps; ++k) order.push_back(turns.Next());
  return order;
}

TEST(WarpTurnsTest, WithoutCheckersTheyComeByTheirNumbers) {
  EXPECT_EQ(Order(WarpSchedule(5), 5), (std::vector<uint32_t>{0, 1, 2, 3, 4}));
}

TEST(WarpTurnsTest, EachHasItsTurnInEveryRound) {
  for (uint32_t warps = 1; warps <= 32; ++warps) {
    for (uint32_t block = 0; block < 200; ++block) {
      const std::vector<uint32_t> order = Order(WarpSchedule(warps, block, block % 7), warps);
      EXPECT_EQ(std::set<uint32_t>(order.begin(), order.end()).size(), warps);
      for (const uint32_t warp : order) EXPECT_LT(warp, warps);
    }
  }
}

// Within a block's rounds, and within the first rounds of blocks, any two warps come in either order, and any warp
// comes first and last.
TEST(WarpTurnsTest, AnyTwoComeInEitherOrder) {
  for (const bool rounds : {false, true}) {
    for (const uint32_t warps : {2u, 3u, 4u, 8u, 12u, 32u}) {
      std::set<std::pair<uint32_t, uint32_t>> pairs;
      std::set<uint32_t> first, last;
      for (uint32_t k = 0; k < 2000; ++k) {
        const std::vector<uint32_t> order = Order(WarpSchedule(warps, rounds ? 3 : k, rounds ? k : 0), warps);
        first.insert(order.front());
        last.insert(order.back());
        for (uint32_t a = 0; a < warps; ++a) {
          for (uint32_t b = a + 1; b < warps; ++b) pairs.insert({order[a], order[b]});
        }
      }
      EXPECT_EQ(first.size(), warps);
      EXPECT_EQ(last.size(), warps);
      EXPECT_EQ(pairs.size(), size_t{warps} * (warps - 1)) << warps << " warps, of " << (rounds ? "rounds" : "blocks");
    }
  }
}

// In a large grid most blocks run their warps in the usual order, which suits memory best.
TEST(WarpTurnsTest, AQuarterOfALargeGridIsOutOfOrder) {
  int moved = 0;
  for (uint32_t block = 1000; block < 2000; ++block)
    moved += Order(WarpSchedule(8, block, 0), 8) != Order(WarpSchedule(8), 8);
  EXPECT_GT(moved, 200);
  EXPECT_LT(moved, 300);
}

}  // namespace warp_turns_test
}  // namespace lockstep::vgpu
