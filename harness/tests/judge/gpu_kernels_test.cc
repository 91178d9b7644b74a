// The judge's own kernels, on the virtual GPU, compared with the same computations on the host.
#include "judge/device/gpu_kernels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "judge/device/gpu.h"
#include "judge/input/inputs.h"
#include "tests/support/device_support.h"

namespace lockstep::judge {
namespace gpu_kernels_test {

class GpuKernelsTest : public testing::Test {
 protected:
  // A job with its input filled and an output of `outputs` elements of zero.
  GpuJob Make(GpuTask task, GpuValues values, uint64_t n, uint64_t seed, uint64_t parameter = 0) {
    GpuJob job{.n = n, .seed = seed, .parameter = parameter, .values = values, .task = task};
    job.in = device_.Make(std::vector<uint32_t>(n, 0xa5a5a5a5)).address;
    job.out = device_.Make(std::vector<uint32_t>(IsReduction(task) ? 1 : n)).address;
    const auto jobs = device_.Make(std::vector<GpuJob>{job});
    device_.Run("lockstep_fill", kShape, jobs);
    return device_.Get(jobs)[0];
  }
  template <class T = uint32_t>
  std::vector<T> Input(const GpuJob& job) {
    return device_.Get(vgpu::Buffer<T>{job.in, job.n});
  }
  template <class T>
  void SetOutput(const GpuJob& job, const std::vector<T>& values) {
    EXPECT_TRUE(device_->Write(job.out, values.data(), values.size() * sizeof(T)));
  }
  std::vector<GpuWrong> Check(const std::vector<GpuJob>& jobs) {
    const auto wrong = device_.Make(std::vector<GpuWrong>(jobs.size()));
    auto shape = kShape;
    shape.grid.y = static_cast<uint32_t>(jobs.size());
    device_.Run("lockstep_check", shape, device_.Make(jobs), wrong);
    return device_.Get(wrong);
  }
  uint64_t WrongOutputs(const GpuJob& job) { return Check({job})[0].output; }
  uint64_t Glance(const std::vector<GpuJob>& jobs, const SeedKey& seed) {
    const auto wrong = device_.Make(std::vector<uint64_t>{0});
    device_.Run("lockstep_glance", {{static_cast<uint32_t>(jobs.size()), 1, 1}, {256, 1, 1}}, device_.Make(jobs), wrong,
                seed);
    return device_.Get(wrong)[0];
  }

  const vgpu::TestDevice::Shape kShape{{3, 1, 1}, {64, 1, 1}};
  vgpu::TestDevice device_{GpuKernelsPtx()};
};

TEST_F(GpuKernelsTest, InputsDependOnSeedAndIndex) {
  const auto fill = [&](uint64_t seed) { return Input(Make(GpuTask::kShift, GpuValues::kInts, 1000, seed)); };
  const std::vector<uint32_t> one = fill(7), again = fill(7), other = fill(8);
  EXPECT_EQ(one, again);
  EXPECT_GT(std::set<uint32_t>(one.begin(), one.end()).size(), 995u);
  size_t same = 0;
  for (size_t i = 0; i < one.size(); ++i) same += one[i] == other[i];
  EXPECT_LE(same, 1u);
}

// A key gives the same input on GPU and host, also for lengths just below and just above a group's.
TEST_F(GpuKernelsTest, InputsAreTheHosts) {
  for (const uint64_t n : {1, 31, 511, 512, 513, 5000}) {
    EXPECT_EQ(Input(Make(GpuTask::kShift, GpuValues::kInts, n, n)), MakeWords(n, n)) << n;
  }
}

TEST_F(GpuKernelsTest, SmallFloatsAreWholeNumbersFromMinus8To8) {
  const std::vector<float> values = Input<float>(Make(GpuTask::kScan, GpuValues::kSmallFloats, 2000, 3));
  EXPECT_EQ(std::set<float>(values.begin(), values.end()).size(), 17u);
  for (const float value : values) ASSERT_TRUE(value == std::floor(value) && std::abs(value) <= 8) << value;
}

TEST_F(GpuKernelsTest, SumIsTheInputs) {
  const GpuJob job = Make(GpuTask::kSum, GpuValues::kInts, 777, 5);
  const std::vector<uint32_t> values = Input(job);
  const uint32_t expected = std::accumulate(values.begin(), values.end(), uint32_t{0});
  EXPECT_EQ(static_cast<uint32_t>(job.parameter), expected);
  EXPECT_EQ(WrongOutputs(job), 1u) << "there is a 0";
  EXPECT_EQ(Glance({job}, 1), 1024u) << "every look is at the one element";
  SetOutput<uint32_t>(job, {expected});
  EXPECT_EQ(WrongOutputs(job), 0u);
  EXPECT_EQ(Glance({job}, 1), 0u);
}

TEST_F(GpuKernelsTest, MaximumAndMinimumAreTheInputs) {
  for (const GpuTask task : {GpuTask::kMax, GpuTask::kMin}) {
    const GpuJob job = Make(task, GpuValues::kInts, 777, 5);
    const std::vector<int32_t> values = Input<int32_t>(job);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    EXPECT_LT(*least, 0);
    EXPECT_GT(*most, 0);
    SetOutput<int32_t>(job, {task == GpuTask::kMax ? *most : *least});
    EXPECT_EQ(WrongOutputs(job), 0u);
    SetOutput<int32_t>(job, {task == GpuTask::kMax ? *least : *most});
    EXPECT_EQ(WrongOutputs(job), 1u);
  }
}

TEST_F(GpuKernelsTest, RunningMaximumIsChecked) {
  const GpuJob job = Make(GpuTask::kMaxScan, GpuValues::kRisingFloats, 3000, 6);
  const std::vector<float> values = Input<float>(job);
  std::vector<float> out(values.size());
  std::inclusive_scan(values.begin(), values.end(), out.begin(), [](float a, float b) { return std::max(a, b); });
  EXPECT_GT(std::set<float>(out.begin(), out.end()).size(), 40u) << "it rises";
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 0u);
  out[2999] -= 1;
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 1u);
  std::vector<float> constant(values.size(), 1000);
  SetOutput(job, constant);
  EXPECT_EQ(WrongOutputs(job), 1u) << "the first says where it begins";
}

TEST_F(GpuKernelsTest, ShiftIsChecked) {
  for (const uint64_t shift : {0, 1, 500}) {
    const GpuJob job = Make(GpuTask::kShift, GpuValues::kInts, 501, 9, shift);
    std::vector<uint32_t> out = Input(job);
    std::rotate(out.begin(), out.begin() + static_cast<ptrdiff_t>(shift), out.end());
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 0u);
    out[17] ^= 1;
    out[500] ^= 0x80000000;
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 2u);
  }
}

TEST_F(GpuKernelsTest, TransposeIsChecked) {
  constexpr uint64_t kWidth = 37, kHeight = 11;
  const GpuJob job = Make(GpuTask::kTranspose, GpuValues::kInts, kWidth * kHeight, 4, kWidth);
  const std::vector<uint32_t> values = Input(job);
  std::vector<uint32_t> out(values.size());
  for (uint64_t y = 0; y < kHeight; ++y) {
    for (uint64_t x = 0; x < kWidth; ++x) out[x * kHeight + y] = values[y * kWidth + x];
  }
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 0u);
  out[3] ^= 4;
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 1u);
}

TEST_F(GpuKernelsTest, IncrementIsChecked) {
  const GpuJob job = Make(GpuTask::kIncrement, GpuValues::kSmallFloats, 700, 5);
  std::vector<float> out = Input<float>(job);
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 700u) << "a copy";
  for (float& value : out) value += 1;
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 0u);
  out[699] = std::nanf("");
  SetOutput(job, out);
  EXPECT_EQ(WrongOutputs(job), 1u);
}

TEST_F(GpuKernelsTest, SumsOfComponentsAreChecked) {
  constexpr uint64_t kStructures = 200;
  for (const uint64_t apart : {uint64_t{1}, kStructures}) {
    const GpuJob job = Make(GpuTask::kNextComponent, GpuValues::kSmallFloats, 3 * kStructures, 5, apart);
    const std::vector<float> values = Input<float>(job);
    std::vector<float> out(values.size());
    for (uint64_t s = 0; s < kStructures; ++s) {
      const uint64_t first = apart == 1 ? 3 * s : s;
      for (uint64_t c = 0; c < 3; ++c) {
        out[first + c * apart] = values[first + c * apart] + values[first + (c + 1) % 3 * apart];
      }
    }
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 0u) << apart;
    EXPECT_EQ(Glance({job}, 3), 0u) << apart;
    out[599] += 1;
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 1u) << apart;
  }
}

TEST_F(GpuKernelsTest, ScanIsChecked) {
  for (const GpuTask task : {GpuTask::kScan, GpuTask::kInclusiveScan}) {
    const GpuJob job = Make(task, GpuValues::kSmallFloats, 600, 6);
    const std::vector<float> values = Input<float>(job);
    std::vector<float> out(values.size()), other(values.size());
    std::exclusive_scan(values.begin(), values.end(), out.begin(), 0.0f);
    std::inclusive_scan(values.begin(), values.end(), other.begin());
    if (task == GpuTask::kInclusiveScan) std::swap(out, other);
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 0u);
    SetOutput(job, other);
    EXPECT_GT(WrongOutputs(job), 400u) << "the other kind of scan";
    std::vector<float> shifted = out;
    for (float& value : shifted) value += 1;
    SetOutput(job, shifted);
    EXPECT_EQ(WrongOutputs(job), 1u) << "the first says where it begins";
    out[599] = std::nanf("");
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 1u);
    out[300] = std::nanf("");
    SetOutput(job, out);
    EXPECT_EQ(WrongOutputs(job), 3u);
  }
}

TEST_F(GpuKernelsTest, ChangedInputIsFoundAndCountedByJob) {
  const GpuJob one = Make(GpuTask::kShift, GpuValues::kInts, 300, 1),
               two = Make(GpuTask::kShift, GpuValues::kInts, 200, 2);
  SetOutput(one, Input(one));
  std::vector<uint32_t> changed = Input(two);
  SetOutput(two, changed);
  changed[199] += 1;
  ASSERT_TRUE(device_->Write(two.in, changed.data(), changed.size() * sizeof(uint32_t)));
  const std::vector<GpuWrong> wrong = Check({one, two});
  EXPECT_EQ(wrong[0].output + wrong[0].input, 0u);
  EXPECT_EQ(wrong[1].output, 0u);
  EXPECT_EQ(wrong[1].input, 1u);
  GpuJob in_place = two;
  in_place.in = in_place.out;
  EXPECT_EQ(Check({in_place})[0].input, 0u) << "what is worked on in place is no input any more";
}

TEST_F(GpuKernelsTest, GlanceFindsWhatIsMissingAnywhereInTheBatch) {
  const GpuJob done = Make(GpuTask::kShift, GpuValues::kInts, 5000, 1),
               part = Make(GpuTask::kShift, GpuValues::kInts, 5000, 2);
  SetOutput(done, Input(done));
  std::vector<uint32_t> out = Input(part);
  SetOutput(part, out);
  EXPECT_EQ(Glance({done, part}, 3), 0u);
  std::fill(out.begin() + 4900, out.end(), 0xa5a5a5a5);  // 2 %
  SetOutput(part, out);
  for (const uint64_t salt : {1, 2, 3, 4, 5}) EXPECT_GT(Glance({done, part}, salt), 0u) << salt;
  out = Input(part);
  out.back() ^= 1;
  SetOutput(part, out);
  EXPECT_GT(Glance({done, part}, 6), 0u) << "the last element is always looked at";
}

}  // namespace gpu_kernels_test
}  // namespace lockstep::judge
