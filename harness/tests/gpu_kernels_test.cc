// The judge's own kernels, on the virtual GPU, against the host's doing the same.
#include "judge/gpu_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "judge/gpu.h"
#include "tests/device_support.h"

namespace lockstep::judge {
namespace {

constexpr uint32_t kInts = static_cast<uint32_t>(GpuValues::kInts);
constexpr uint32_t kSmallFloats = static_cast<uint32_t>(GpuValues::kSmallFloats);

class GpuKernelsTest : public testing::Test {
 protected:
  std::vector<uint32_t> Fill(uint64_t n, uint64_t seed, uint32_t values) {
    const auto buffer = device_.Make(std::vector<uint32_t>(n, 0xa5a5a5a5));
    device_.Run("lockstep_fill", kShape, buffer, n, seed, values);
    return device_.Get(buffer);
  }
  std::vector<float> FillFloats(uint64_t n, uint64_t seed) {
    std::vector<float> floats(n);
    const std::vector<uint32_t> bits = Fill(n, seed, kSmallFloats);
    std::memcpy(floats.data(), bits.data(), n * sizeof(float));
    return floats;
  }
  template <class T>
  uint64_t Result(const std::string& kernel, const std::vector<T>& out, uint64_t seed, uint32_t values,
                  uint64_t extra) {
    static_assert(sizeof(T) == sizeof(uint32_t));
    const auto result = device_.Make(std::vector<uint64_t>{0});
    device_.Run(kernel, kShape, result, device_.Make(out), uint64_t{out.size()}, seed, values, extra);
    return device_.Get(result)[0];
  }

  const vgpu::TestDevice::Shape kShape{{3, 1, 1}, {64, 1, 1}};
  vgpu::TestDevice device_{GpuKernelsPtx()};
};

TEST_F(GpuKernelsTest, InputsDependOnSeedAndIndex) {
  const std::vector<uint32_t> one = Fill(1000, 7, kInts), again = Fill(1000, 7, kInts), other = Fill(1000, 8, kInts);
  EXPECT_EQ(one, again);
  EXPECT_GT(std::set<uint32_t>(one.begin(), one.end()).size(), 995u);
  size_t same = 0;
  for (size_t i = 0; i < one.size(); ++i) same += one[i] == other[i];
  EXPECT_LE(same, 1u);
}

TEST_F(GpuKernelsTest, SmallFloatsAreWholeNumbersFromMinus8To8) {
  const std::vector<float> values = FillFloats(2000, 3);
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), 17u);
  for (const float value : values) ASSERT_TRUE(value == std::floor(value) && std::abs(value) <= 8) << value;
}

TEST_F(GpuKernelsTest, SumIsTheInputs) {
  const std::vector<uint32_t> values = Fill(777, 5, kInts);
  const uint32_t expected = std::accumulate(values.begin(), values.end(), uint32_t{0});
  EXPECT_EQ(static_cast<uint32_t>(Result("lockstep_sum", values, 5, kInts, 0)), expected);
}

TEST_F(GpuKernelsTest, ShiftIsChecked) {
  const std::vector<uint32_t> values = Fill(501, 9, kInts);
  for (const uint64_t shift : {0, 1, 500}) {
    std::vector<uint32_t> out = values;
    std::rotate(out.begin(), out.begin() + static_cast<ptrdiff_t>(shift), out.end());
    EXPECT_EQ(Result("lockstep_check_shift", out, 9, kInts, shift), 0u);
    out[17] ^= 1;
    out[500] ^= 0x80000000;
    EXPECT_EQ(Result("lockstep_check_shift", out, 9, kInts, shift), 2u);
  }
}

TEST_F(GpuKernelsTest, TransposeIsChecked) {
  constexpr uint64_t kWidth = 37, kHeight = 11;
  const std::vector<uint32_t> values = Fill(kWidth * kHeight, 4, kInts);
  std::vector<uint32_t> out(values.size());
  for (uint64_t y = 0; y < kHeight; ++y) {
    for (uint64_t x = 0; x < kWidth; ++x) out[x * kHeight + y] = values[y * kWidth + x];
  }
  EXPECT_EQ(Result("lockstep_check_transpose", out, 4, kInts, kWidth), 0u);
  out[3] ^= 4;
  EXPECT_EQ(Result("lockstep_check_transpose", out, 4, kInts, kWidth), 1u);
}

TEST_F(GpuKernelsTest, ScanIsChecked) {
  const std::vector<float> values = FillFloats(600, 6);
  std::vector<float> out(values.size());
  std::exclusive_scan(values.begin(), values.end(), out.begin(), 0.0f);
  EXPECT_EQ(Result("lockstep_check_scan", out, 6, kSmallFloats, 0), 0u);
  std::vector<float> shifted = out;
  for (float& value : shifted) value += 1;
  EXPECT_EQ(Result("lockstep_check_scan", shifted, 6, kSmallFloats, 0), 1u) << "the first has to be 0";
  out[599] = std::nanf("");
  EXPECT_EQ(Result("lockstep_check_scan", out, 6, kSmallFloats, 0), 1u);
  out[300] = std::nanf("");
  EXPECT_EQ(Result("lockstep_check_scan", out, 6, kSmallFloats, 0), 3u);
}

}  // namespace
}  // namespace lockstep::judge
