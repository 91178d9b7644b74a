#include "vgpu/memory/locality.h"

#include <gtest/gtest.h>

#include <array>

namespace lockstep::vgpu {
namespace locality_test {

constexpr uint64_t kBase = uint64_t{1} << 33;

uint64_t Sector(uint64_t offset) { return (kBase + offset) >> kSectorShift; }

TEST(LocalityTest, BlockMissesWhatItHasNotLoaded) {
  Locality locality(1);
  EXPECT_EQ(locality.Touch(0, AccessKind::kLoad, Sector(0), Sector(127)), 4u);
  EXPECT_EQ(locality.Touch(0, AccessKind::kLoad, Sector(64), Sector(191)), 2u);
  EXPECT_EQ(locality.Touch(0, AccessKind::kStore, Sector(4096), Sector(4223)), 0u);
  EXPECT_EQ(locality.Touch(0, AccessKind::kLoad, Sector(4096), Sector(4223)), 4u);  // stores do not fill the cache
  EXPECT_EQ(locality.Touch(1, AccessKind::kLoad, Sector(0), Sector(127)), 4u);      // another block has its own
}

TEST(LocalityTest, LanesThatShareASectorMissItOnce) {
  Locality locality(1);
  std::array<uint64_t, kWarpSize> address;
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) address[lane] = kBase + lane / 2 * 1024;
  EXPECT_EQ(locality.TouchLanes(0, AccessKind::kLoad, address.data(), kFullMask), 16u);
  EXPECT_EQ(locality.TouchLanes(0, AccessKind::kLoad, address.data(), 0xff), 0u);
}

TEST(LocalityTest, CacheOfABlockIsLimited) {
  Locality locality(1);
  const uint64_t bytes = uint64_t{Locality::kBlockCacheSectors} << kSectorShift;
  uint32_t missed = 0;
  for (uint64_t at = 0; at < 2 * bytes; at += 128)
    missed += locality.Touch(0, AccessKind::kLoad, Sector(at), Sector(at + 127));
  EXPECT_EQ(missed, 2 * Locality::kBlockCacheSectors);
  EXPECT_EQ(locality.Touch(0, AccessKind::kLoad, Sector(0), Sector(127)), 4u);
}

TEST(LocalityTest, FootprintIsTheUnionOverEngines) {
  Locality a(1), b(1);
  a.Touch(0, AccessKind::kLoad, Sector(0), Sector(127));
  a.Touch(0, AccessKind::kLoad, Sector(0), Sector(127));
  b.Touch(1, AccessKind::kLoad, Sector(96), Sector(223));
  b.Touch(1, AccessKind::kStore, Sector(0), Sector(31));  // half of a piece counts as one
  b.Touch(1, AccessKind::kAtomic, Sector(uint64_t{1} << 20), Sector(uint64_t{1} << 20));
  for (const auto& engines : {std::vector<const Locality*>{&a, &b}, {&b, &a}}) {
    const Locality::Footprint footprint = Locality::FootprintOf(engines);
    EXPECT_EQ(footprint.loads, 256u);
    EXPECT_EQ(footprint.stores, 64u);
    EXPECT_EQ(footprint.atomics, 64u);
  }
}

TEST(LocalityTest, ShortRunsInPagesCount) {
  constexpr uint64_t kPage = uint64_t{1} << Locality::kPageShift;
  Locality locality(1);
  std::array<uint64_t, kWarpSize> column, row;
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) {
    column[lane] = kBase + lane * kPage;
    row[lane] = kBase + lane * 4;
  }
  locality.BeginRequest(0, 0, 0);
  EXPECT_EQ(locality.FollowLanes(0, column.data(), kFullMask, 4, kBase), 31u);
  locality.BeginRequest(0, 1, 0);  // another block
  EXPECT_EQ(locality.FollowLanes(0, row.data(), kFullMask, 4, kBase), 0u);
  locality.BeginRequest(0, 1, 1);  // another warp, in another page after 128 bytes
  EXPECT_EQ(locality.Follow(0, kPage, kPage + 128), 1u);
  locality.BeginRequest(0, 1, 1);  // the same warp in a loop
  EXPECT_EQ(locality.Follow(0, 5 * kPage, 5 * kPage + 128), 0u);
  locality.BeginRequest(0, 1, 2);
  EXPECT_EQ(locality.Follow(0, 5 * kPage + 128, 5 * kPage + 256), 0u);
  locality.BeginRequest(0, 1, 3);  // 256 bytes in a row hide the switch
  EXPECT_EQ(locality.Follow(0, 6 * kPage, 6 * kPage + 128), 0u);
}

}  // namespace locality_test
}  // namespace lockstep::vgpu
