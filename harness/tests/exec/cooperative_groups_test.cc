// Cooperative groups: whole grids, tiles of warps and of several warps, coalesced and labelled groups of lanes.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/device_support.h"

namespace lockstep::vgpu {
namespace cooperative_groups_test {

TEST(CooperativeGroupsTest, BlocksOfACooperativeLaunchMeet) {
  TestDevice device(ReadPtx("cooperative_groups"));
  std::vector<int> cells(24);
  std::iota(cells.begin(), cells.end(), 1);
  const auto d_cells = device.Make(cells);
  TestDevice::Shape shape{{24}, {64}};
  shape.cooperative = true;
  device.Run("grid_rounds", shape, d_cells, 5);
  for (int r = 0; r < 5; ++r) {
    std::vector<int> next = cells;
    for (size_t b = 0; b < 24; ++b) next[b] += cells[(b + 1) % 24];
    cells = next;
  }
  EXPECT_EQ(device.Get(d_cells), cells);
}

TEST(CooperativeGroupsTest, PartitionsWarps) {
  TestDevice device(ReadPtx("cooperative_groups"));
  const std::vector<int> in = RandomInts(64, 0, 60);
  const auto d_in = device.Make(in);
  const auto d_out = device.Make(std::vector<int>(6 * 64));
  device.Run("tiles", {{1}, {64}}, d_in, d_out);
  const std::vector<int> out = device.Get(d_out);
  for (size_t t = 0; t < 64; ++t) {
    const size_t warp = t / 32 * 32, tile = t / 8 * 8;
    int sum = 0, largest = in[tile], scan = 0, multiples = 0, rank = 0, rest = 0, any = 0;
    for (size_t k = warp; k < warp + 32; ++k) {
      sum += in[k];
      any |= in[k] == 40;
      if (in[k] % 3 == 0) {
        rank += k < t;
        ++multiples;
      } else {
        rest += in[k];
      }
    }
    for (size_t k = tile; k < tile + 8; ++k) {
      largest = std::max(largest, in[k]);
      scan += k <= t ? in[k] : 0;
    }
    EXPECT_EQ(out[6 * t], sum) << t;
    EXPECT_EQ(out[6 * t + 1], largest) << t;
    EXPECT_EQ(out[6 * t + 2], scan) << t;
    EXPECT_EQ(out[6 * t + 3], in[t ^ 1]) << t;
    EXPECT_EQ(out[6 * t + 4], in[t] % 3 == 0 ? multiples * 100 + rank : rest) << t;
    EXPECT_EQ(out[6 * t + 5], any * 2 + 1) << t;
  }
}

TEST(CooperativeGroupsTest, PartitionsByLabel) {
  TestDevice device(ReadPtx("cooperative_groups"));
  const std::vector<int> in = RandomInts(32, 0, 60);
  const auto d_in = device.Make(in), d_out = device.Make(std::vector<int>(32));
  device.Run("labeled", {{1}, {32}}, d_in, d_out);
  const std::vector<int> out = device.Get(d_out);
  for (size_t t = 0; t < 32; ++t) {
    int sum = 0;
    for (size_t k = 0; k < 32; ++k) sum += (in[k] & 3) == (in[t] & 3) ? in[k] : 0;
    EXPECT_EQ(out[t], sum) << t;
  }
}

TEST(CooperativeGroupsTest, ReservesSharedMemoryForWideTiles) {
  TestDevice device(ReadPtx("cooperative_groups"));
  const std::vector<int> in = RandomInts(128, 0, 60);
  const auto d_in = device.Make(in), d_out = device.Make(std::vector<int>(128));
  device.Run("wide_tiles", {{2}, {128}}, d_in, d_out);
  const std::vector<int> out = device.Get(d_out);
  for (size_t t = 0; t < 128; ++t) {
    const auto tile = in.begin() + static_cast<long>(t / 64 * 64);
    EXPECT_EQ(out[t], std::accumulate(tile, tile + 64, 0)) << t;
  }
}

TEST(CooperativeGroupsTest, ItsCostsAreOfTheLinesThatUseIt) {
  TestDevice device(ReadPtx("cooperative_groups"));
  const auto d_in = device.Make(RandomInts(64, 0, 60));
  const auto d_out = device.Make(std::vector<int>(6 * 64));
  const LaunchRecord& record = device.Run("tiles", {{1}, {64}}, d_in, d_out);
  for (const LineCounters& line : record.lines) {
    EXPECT_TRUE(line.file.ends_with("cooperative_groups.cu")) << line.file << ":" << line.line;
  }
}

}  // namespace cooperative_groups_test
}  // namespace lockstep::vgpu
