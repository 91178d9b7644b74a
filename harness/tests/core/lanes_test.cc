// Comparisons of 32 elements at once, against loops.
#include "vgpu/core/lanes.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

#include "vgpu/isa/compare_lanes.h"

namespace lockstep::vgpu {
namespace lanes_test {

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
    // Mostly one lane, which may be inactive, has another address: one bit differs.
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

template <typename T>
void Blend() {
  std::mt19937 random(6);
  for (int trial = 0; trial < 100; ++trial) {
    const LaneMask mask = random();
    T d[kWarpSize], r[kWarpSize], expected[kWarpSize];
    for (int k = 0; k < kWarpSize; ++k) {
      d[k] = static_cast<T>(random());
      r[k] = static_cast<T>(random());
      expected[k] = (mask >> k & 1) != 0 ? r[k] : d[k];
    }
    BlendLanes(d, r, mask);
    for (int k = 0; k < kWarpSize; ++k) ASSERT_TRUE(d[k] == expected[k]) << "mask " << mask << ", lane " << k;
  }
}

TEST(LanesTest, BlendsElementsOfEachSize) {
  Blend<uint8_t>();
  Blend<uint16_t>();
  Blend<uint32_t>();
  Blend<uint64_t>();
  Blend<unsigned __int128>();
}

template <CompareOp kOp, typename T>
void CompareAll() {
  using Limits = std::numeric_limits<T>;
  const T values[] = {
      0, 1, static_cast<T>(-1), Limits::lowest(), Limits::max(), Limits::quiet_NaN(), Limits::infinity()};
  std::mt19937 random(7);
  for (int trial = 0; trial < 50; ++trial) {
    T a[kWarpSize], b[kWarpSize];
    for (int k = 0; k < kWarpSize; ++k) {
      a[k] = values[random() % 7];
      b[k] = values[random() % 7];
    }
    ASSERT_EQ((CompareLanes<kOp>(a, b)), (TestLanes<kCompare<kOp>>(a, b))) << "operation " << static_cast<int>(kOp);
  }
}

template <typename T>
void CompareInAllWays() {
  CompareAll<CompareOp::kEq, T>();
  CompareAll<CompareOp::kNe, T>();
  CompareAll<CompareOp::kLt, T>();
  CompareAll<CompareOp::kLe, T>();
  CompareAll<CompareOp::kGt, T>();
  CompareAll<CompareOp::kGe, T>();
  if constexpr (!std::numeric_limits<T>::is_integer) {
    CompareAll<CompareOp::kEqu, T>();
    CompareAll<CompareOp::kNeu, T>();
    CompareAll<CompareOp::kLtu, T>();
    CompareAll<CompareOp::kLeu, T>();
    CompareAll<CompareOp::kGtu, T>();
    CompareAll<CompareOp::kGeu, T>();
    CompareAll<CompareOp::kNum, T>();
    CompareAll<CompareOp::kNan, T>();
  }
}

TEST(LanesTest, ComparesAsTheDefinitionDoes) {
  CompareInAllWays<int16_t>();
  CompareInAllWays<uint16_t>();
  CompareInAllWays<int32_t>();
  CompareInAllWays<uint32_t>();
  CompareInAllWays<int64_t>();
  CompareInAllWays<uint64_t>();
  CompareInAllWays<float>();
  CompareInAllWays<double>();
}

}  // namespace lanes_test
}  // namespace lockstep::vgpu
