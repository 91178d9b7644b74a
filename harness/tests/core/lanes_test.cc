// Comparisons of 32 elements at once, against loops.
#include "vgpu/core/lanes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

namespace lockstep::vgpu {
namespace {

template <int kCount, typename Word>
bool Plain(const Word* a, Word start, Word stride, LaneMask mask) {
  for (int k = 0; k < kCount; ++k) {
    if ((mask >> k & 1) != 0 && a[k] != static_cast<Word>(start + static_cast<Word>(k) * stride)) return false;
  }
  return true;
}

template <int kCount, typename Word>
void CompareProgressions(uint32_t seed) {
  std::mt19937_64 random(seed);
  int held = 0, failed = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const Word start = static_cast<Word>(random());
    const Word strides[] = {0, 1, 4, 16, static_cast<Word>(-4), static_cast<Word>(random())};
    const Word stride = strides[random() % 6];
    Word a[kWarpSize];
    for (int k = 0; k < kWarpSize; ++k) a[k] = static_cast<Word>(start + static_cast<Word>(k) * stride);
    // One lane in another place, by one bit; sometimes one that the mask leaves out.
    if (random() % 4 != 0) a[random() % kCount] ^= Word{1} << random() % (8 * sizeof(Word));
    const LaneMask mask = kCount < kWarpSize || random() % 2 == 0 ? kFullMask : static_cast<LaneMask>(random());
    const bool expected = Plain<kCount>(a, start, stride, mask);
    ASSERT_EQ((IsProgression<kCount>(a, start, stride, mask)), expected) << "trial " << trial << ", mask " << mask;
    (expected ? held : failed) += 1;
  }
  EXPECT_GT(held, 500);
  EXPECT_GT(failed, 500);
}

TEST(LanesTest, FindsProgressionsOf32Bits) { CompareProgressions<kWarpSize, uint32_t>(1); }
TEST(LanesTest, FindsProgressionsOf64Bits) { CompareProgressions<kWarpSize, uint64_t>(2); }
TEST(LanesTest, FindsProgressionsOfHalfWarps) {
  CompareProgressions<kWarpSize / 2, uint32_t>(3);
  CompareProgressions<kWarpSize / 2, uint64_t>(4);
}

TEST(LanesTest, ComparesShiftedLanes) {
  std::mt19937 random(5);
  int held = 0, failed = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const uint32_t shift = random();
    const LaneMask mask = random() % 2 == 0 ? kFullMask : random();
    uint32_t a[kWarpSize], b[kWarpSize], care[kWarpSize];
    for (int k = 0; k < kWarpSize; ++k) {
      care[k] = 0 - (mask >> k & 1);
      b[k] = random() & care[k];
      a[k] = b[k] + shift;
    }
    if (random() % 4 != 0) a[random() % kWarpSize] ^= 1u << random() % 32;
    bool expected = true;
    for (int k = 0; k < kWarpSize; ++k) expected &= (mask >> k & 1) == 0 || a[k] == b[k] + shift;
    ASSERT_EQ(LanesEqual(a, b, shift, mask, care), expected) << "trial " << trial << ", mask " << mask;
    (expected ? held : failed) += 1;
  }
  EXPECT_GT(held, 500);
  EXPECT_GT(failed, 500);
}

}  // namespace
}  // namespace lockstep::vgpu
