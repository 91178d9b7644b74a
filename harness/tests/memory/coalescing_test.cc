// Optimised: its definition takes 1 s then, and 5 s unoptimised.
#include "vgpu/memory/coalescing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

namespace lockstep::vgpu {
namespace coalescing_test {

using Addresses = std::array<uint64_t, kWarpSize>;

Addresses Strided(uint64_t base, int64_t stride) {
  Addresses a;
  for (int lane = 0; lane < kWarpSize; ++lane) a[lane] = base + static_cast<uint64_t>(lane * stride);
  return a;
}

// The definitions, word for word, with containers.
uint32_t SlowSectors(const Addresses& a, LaneMask mask, int bytes) {
  std::set<uint64_t> sectors;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!((mask >> lane) & 1)) continue;
    for (int b = 0; b < bytes; ++b) sectors.insert((a[lane] + b) / 32);
  }
  return static_cast<uint32_t>(sectors.size());
}

// Whether every active lane has the address of its partner, where that one is active.
bool SlowShare(const Addresses& a, LaneMask mask, int bit) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool both = ((mask >> lane) & 1) && ((mask >> (lane ^ bit)) & 1);
    if (both && a[lane] != a[lane ^ bit]) return false;
  }
  return true;
}

uint32_t SlowBankLoad(const Addresses& a, LaneMask mask, int bytes) {
  std::map<uint64_t, std::set<uint64_t>> banks;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (!((mask >> lane) & 1)) continue;
    for (int b = 0; b < bytes; ++b) banks[(a[lane] + b) / 4 % 32].insert((a[lane] + b) / 4);
  }
  size_t largest = 0;
  for (const auto& [bank, words] : banks) largest = std::max(largest, words.size());
  return static_cast<uint32_t>(largest);
}

Wavefronts SlowWavefronts(const Addresses& a, LaneMask mask, int bytes, AccessKind access) {
  Wavefronts result;
  const int phases = std::max(1, bytes / 4);
  const int lanes = kWarpSize / phases;
  const auto part = [&](int first, int count) {
    LaneMask some = 0;
    for (int lane = first; lane < first + count; ++lane) some |= mask & (LaneMask{1} << lane);
    return some;
  };
  for (int phase = 0; phase < phases; phase += 2) {
    const LaneMask both = phases == 1 ? mask : part(phase * lanes, 2 * lanes);
    const bool one = phases == 1 || (access == AccessKind::kLoad && (SlowShare(a, both, 1) || SlowShare(a, both, 2)));
    result.actual += one ? SlowBankLoad(a, both, bytes)
                         : SlowBankLoad(a, part(phase * lanes, lanes), bytes) +
                               SlowBankLoad(a, part((phase + 1) * lanes, lanes), bytes);
  }
  int active_bytes = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) active_bytes += (mask >> lane) & 1 ? bytes : 0;
  result.ideal = std::min(result.actual, static_cast<uint32_t>((active_bytes + 127) / 128));
  return result;
}

TEST(CoalescingTest, ContiguousAccessesTakeFourSectorsAFourByteStep) {
  for (const int bytes : {4, 8, 16, 32}) {
    EXPECT_EQ(CountSectors(Strided(1 << 20, bytes).data(), kFullMask, bytes), static_cast<uint32_t>(bytes)) << bytes;
  }
  EXPECT_EQ(CountSectors(Strided(1 << 20, 1).data(), kFullMask, 1), 1u);
}

TEST(CoalescingTest, MisalignedContiguousAccessTakesOneSectorMore) {
  const uint32_t sectors = CountSectors(Strided((1 << 20) + 4, 4).data(), kFullMask, 4);
  EXPECT_EQ(sectors, 5u);
  EXPECT_EQ(IdealSectors(kFullMask, 4, sectors), 4u);
}

TEST(CoalescingTest, ScatteredBroadcastSingleAndNoLanes) {
  EXPECT_EQ(CountSectors(Strided(1 << 20, 32).data(), kFullMask, 4), 32u);
  EXPECT_EQ(CountSectors(Strided(1 << 20, 0).data(), kFullMask, 4), 1u);
  EXPECT_EQ(IdealSectors(kFullMask, 4, 1), 1u);
  EXPECT_EQ(CountSectors(Strided(1 << 20, 4).data(), 1u << 7, 4), 1u);
  EXPECT_EQ(CountSectors(Strided(1 << 20, 4).data(), 0, 4), 0u);
  EXPECT_EQ(IdealSectors(0, 4, 0), 0u);
}

TEST(CoalescingTest, ConflictsOfTheReductionLaddersStridedRung) {
  // index = 2 * s * tid, 4-byte words: 2-way, 4-way … until few lanes are left.
  for (const auto& [s, lanes, expected] :
       {std::tuple{1, 32, 2}, std::tuple{2, 32, 4}, std::tuple{4, 16, 4}, std::tuple{8, 8, 4}, std::tuple{16, 4, 4}}) {
    const LaneMask mask = lanes == 32 ? kFullMask : (1u << lanes) - 1;
    const Wavefronts w = CountWavefronts(Strided(0, 8 * s).data(), mask, 4);
    EXPECT_EQ(w.actual, static_cast<uint32_t>(expected)) << s;
    EXPECT_EQ(w.ideal, 1u);
  }
}

TEST(CoalescingTest, WideAccessesGoInPhases) {
  EXPECT_EQ(CountWavefronts(Strided(0, 8).data(), kFullMask, 8).actual, 2u);
  const Wavefronts quad = CountWavefronts(Strided(0, 16).data(), kFullMask, 16);
  EXPECT_EQ(quad.actual, 4u);
  EXPECT_EQ(quad.ideal, 4u);
  EXPECT_EQ(CountWavefronts(Strided(0, 16).data(), 0xffu, 16).ideal, 1u);
  // A column of doubles in a 32-wide tile: all 16 lanes of a half-warp in one pair of banks.
  EXPECT_EQ(CountWavefronts(Strided(0, 256).data(), kFullMask, 8).actual, 32u);
  EXPECT_EQ(CountWavefronts(Strided(0, 264).data(), kFullMask, 8).actual, 2u);
}

TEST(CoalescingTest, AgreesWithTheDefinitionOnManyShapes) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 60000; ++round) {
    const int bytes = 1 << (random() % 6);
    Addresses a;
    const int kind = static_cast<int>(random() % 5);
    const uint64_t span = uint64_t{1} << (random() % 12);
    const int64_t stride = (static_cast<int64_t>(random() % 80) - 40) * (random() % 2 ? 1 : 8);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (kind == 0) a[lane] = (1 << 16) + random() % span * bytes;               // random
      if (kind == 1) a[lane] = (1 << 20) + lane * stride * bytes;                 // affine
      if (kind == 2) a[lane] = (1 << 16) + (lane / 8 * span + lane % 8) * bytes;  // rows of a tile
      if (kind == 3) a[lane] = (1 << 16) + (lane ^ (round & 31)) * bytes;         // permuted
      if (kind == 4) a[lane] = random() & ~uint64_t{31} & 0xffffffffffULL;        // anywhere
    }
    LaneMask mask = static_cast<LaneMask>(random());
    if (round % 3 == 0) mask = kFullMask;
    if (round % 3 == 1) mask &= static_cast<LaneMask>(random()) & static_cast<LaneMask>(random());
    if (round % 7 == 0) mask = (1u << (random() % 32)) - 1;
    ASSERT_EQ(CountSectors(a.data(), mask, bytes), SlowSectors(a, mask, bytes))
        << "round " << round << " kind " << kind;
    for (const AccessKind access : {AccessKind::kLoad, AccessKind::kStore}) {
      const Wavefronts fast = CountWavefronts(a.data(), mask, bytes, access);
      const Wavefronts slow = SlowWavefronts(a, mask, bytes, access);
      ASSERT_EQ(fast.actual, slow.actual) << "round " << round << " kind " << kind << " bytes " << bytes;
      ASSERT_EQ(fast.ideal, slow.ideal) << "round " << round;
    }
  }
}

TEST(CoalescingTest, WideLoadsOfNeighboursThatShareGoInFewerPhases) {
  Addresses pairs, alternate, quads;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    pairs[lane] = lane / 2 * 8;
    alternate[lane] = lane % 2 * 8;
    quads[lane] = lane % 4 * 8;
  }
  EXPECT_EQ(CountWavefronts(pairs.data(), kFullMask, 8).actual, 1u);
  EXPECT_EQ(CountWavefronts(alternate.data(), kFullMask, 8).actual, 1u);
  EXPECT_EQ(CountWavefronts(quads.data(), kFullMask, 8).actual, 2u);
  EXPECT_EQ(CountWavefronts(pairs.data(), kFullMask, 8, AccessKind::kStore).actual, 2u);
  EXPECT_EQ(CountWavefronts(Strided(0, 0).data(), kFullMask, 16).actual, 2u);
  EXPECT_EQ(CountWavefronts(Strided(0, 0).data(), kFullMask, 16, AccessKind::kStore).actual, 4u);
}

TEST(CoalescingTest, AtomicsOnOneWordGoOneAfterTheOther) {
  EXPECT_EQ(CountWavefronts(Strided(0, 4).data(), kFullMask, 4, AccessKind::kAtomic).actual, 1u);
  EXPECT_EQ(CountWavefronts(Strided(0, 0).data(), kFullMask, 4, AccessKind::kAtomic).actual, 32u);
  EXPECT_EQ(CountWavefronts(Strided(0, 0).data(), kFullMask, 4, AccessKind::kAtomic).ideal, 1u);
  EXPECT_EQ(CountWavefronts(Strided(0, 8).data(), kFullMask, 4, AccessKind::kAtomic).actual, 2u);
  EXPECT_EQ(CountAtomicSectors(Strided(1 << 20, 4).data(), kFullMask), 4u);
  EXPECT_EQ(CountAtomicSectors(Strided(1 << 20, 0).data(), kFullMask), 32u);
  EXPECT_EQ(CountAtomicSectors(Strided(1 << 20, 64).data(), 0xffu), 8u);
}

TEST(CoalescingTest, StrictRuleMovesSegmentsOrATransactionALane) {
  EXPECT_EQ(StrictCoalescingBytes(Strided(4096, 4).data(), kFullMask, 4), 128u);
  EXPECT_EQ(StrictCoalescingBytes(Strided(4096, 4).data(), 0x0000fff7u, 4), 64u);      // idle lanes do not matter
  EXPECT_EQ(StrictCoalescingBytes(Strided(4100, 4).data(), kFullMask, 4), 32u * 32);   // misaligned
  EXPECT_EQ(StrictCoalescingBytes(Strided(4096, 12).data(), kFullMask, 4), 32u * 32);  // float3
  EXPECT_EQ(StrictCoalescingBytes(Strided(4096, 16).data(), kFullMask, 16), 512u);
  EXPECT_EQ(StrictCoalescingBytes(Strided(4096, 1).data(), kFullMask, 1), 32u * 32);
  Addresses swapped = Strided(4096, 4);
  std::swap(swapped[0], swapped[1]);
  EXPECT_EQ(StrictCoalescingBytes(swapped.data(), kFullMask, 4), 16u * 32 + 64);  // permuted in one half
}

}  // namespace coalescing_test
}  // namespace lockstep::vgpu
