// The timing loop on a made-up GPU, whose clock is the test's.
#include "judge/timing.h"

#include <gtest/gtest.h>

#include "tests/fake_runner.h"

namespace lockstep::judge {
namespace {

constexpr double kPeak = 1e9;  // bytes a second
constexpr uint64_t kBytes = 1000;
constexpr double kFloor = kBytes / kPeak;

class FakeGpu : public Gpu {
 public:
  uint64_t free_bytes() const override { return 1 << 30; }
  double peak_bytes_per_second() const override { return kPeak; }
  void ClearCache() override { ++clears; }
  double TimeCopy(uint64_t bytes, uint32_t) override { return 2.5 * static_cast<double>(bytes) / kPeak; }
  GpuState State() const override { return {{{"driver", "1"}}, false}; }
  void Fill(uint64_t, uint64_t, uint64_t, GpuValues) override {}
  uint64_t Run(const char*, uint64_t, uint64_t, uint64_t, GpuValues, uint64_t) override { return 0; }

  int clears = 0;
};

class GpuDevice : public FakeDevice {
 public:
  Gpu* gpu() override { return &gpu_; }
  FakeGpu gpu_;
};

// What the worker does in a batch, in place of launching: the test's word.
struct Behaviour {
  double seconds = 0;  // of a call
  bool wrong_in_last_call = false;
  int slow_every = 0;  // each so-manieth batch takes ten times as long
};

std::vector<int>* g_outputs = nullptr;  // of the batch's workloads

class BatchRunner : public Runner {
 public:
  explicit BatchRunner(Behaviour behaviour) : behaviour_(behaviour) {}
  JudgeDevice& device() override { return device_; }
  CallReport Call(const std::string&, std::span<const worker::Argument>) override { return {}; }
  CallReport PrepareBatch(const std::string&, std::span<const std::vector<worker::Argument>> calls) override {
    prepared_ = calls.size();
    return {};
  }
  CallReport RunBatch(uint32_t calls) override {
    EXPECT_LE(calls, prepared_);
    CallReport report;
    report.seconds = kRoundTrip + calls * behaviour_.seconds;
    if (calls == 0) return report;
    ++batches;
    if (behaviour_.slow_every > 0 && batches % behaviour_.slow_every == 0) report.seconds *= 10;
    for (uint32_t i = 0; i < calls; ++i) {
      (*g_outputs)[i] = behaviour_.wrong_in_last_call && i + 1 == calls ? -1 : 1;
    }
    return report;
  }

  static constexpr double kRoundTrip = 3e-5;
  int batches = 0;

 private:
  Behaviour behaviour_;
  GpuDevice device_;
  size_t prepared_ = 0;
};

class FakeWorkload : public Workload {
 public:
  explicit FakeWorkload(std::vector<int>& outputs) : outputs_(outputs), index_(outputs.size()) { outputs.push_back(0); }
  void Fill(Gpu&, uint64_t seed) override { seeds().push_back(seed); }
  void Poison() override { outputs_[index_] = 0; }
  std::vector<worker::Argument> Arguments() const override { return {}; }
  std::vector<Problem> Check(Gpu&, const CallContext& context) const override {
    if (outputs_[index_] == 1) return {};
    return {MakeProblem(Verdict::kWrong, context, {"call " + std::to_string(index_)})};
  }
  uint64_t LeastBytes() const override { return kBytes; }
  static std::vector<uint64_t>& seeds() {
    static std::vector<uint64_t> all;
    return all;
  }

 private:
  std::vector<int>& outputs_;
  size_t index_;
};

class TimingTest : public testing::Test {
 protected:
  Timing Time(Behaviour submission, Behaviour reference, const Budget& budget = {0.9, 0.5}) {
    FakeWorkload::seeds().clear();
    outputs_.clear();
    g_outputs = &outputs_;
    BatchRunner own(submission), other(reference);
    TimingLimits limits;
    limits.most_calls = 20;
    const auto enough = [&](const Timing& timing) {
      return Decides(timing.Figure(TimingBase::kReference), budget, limits.tolerance);
    };
    const auto make = [&](JudgeDevice&, const std::string&, uint64_t) {
      return std::make_unique<FakeWorkload>(outputs_);
    };
    return TimeRung(own, other, make, {"sum", "n = 8", "a.cu"}, 8, 1, limits, enough);
  }

  std::vector<int> outputs_;
};

TEST_F(TimingTest, FigureIsTheReferencesTimeOverTheSubmissions) {
  const Timing timing = Time({4 * kFloor}, {2 * kFloor});
  EXPECT_TRUE(timing.problems.empty());
  EXPECT_EQ(timing.submission.size(), 12u);
  EXPECT_EQ(timing.calls, 20u);
  EXPECT_NEAR(timing.Figure(TimingBase::kReference).value, 0.5, 1e-9) << "the round trip is no part of it";
  EXPECT_NEAR(timing.Figure(TimingBase::kCopy).value, 2.5 / 2 / 4, 1e-9);
  EXPECT_EQ(timing.gpu.size(), 2u);
}

TEST_F(TimingTest, EveryRepeatHasInputsOfItsOwn) {
  const Timing timing = Time({4 * kFloor}, {2 * kFloor});
  std::vector<uint64_t> seeds = FakeWorkload::seeds();
  EXPECT_EQ(seeds.size(), (timing.submission.size() + 1) * timing.calls) << "the warm-up is a repeat too";
  std::sort(seeds.begin(), seeds.end());
  EXPECT_EQ(std::unique(seeds.begin(), seeds.end()), seeds.end());
}

TEST_F(TimingTest, OutliersDoNotDecide) {
  const Timing timing = Time({4 * kFloor, false, 7}, {2 * kFloor});
  EXPECT_NEAR(timing.Figure(TimingBase::kReference).value, 0.5, 1e-9);
}

TEST_F(TimingTest, RepeatsGoOnWhileTheyDoNotDecide) {
  // Every other batch is slow: the interval holds both, however long.
  const Timing timing = Time({3 * kFloor, false, 2}, {2 * kFloor});
  EXPECT_EQ(timing.submission.size(), 240u);
  EXPECT_FALSE(Decides(timing.Figure(TimingBase::kReference), {0.9, 0.5}, 0.02));
}

TEST_F(TimingTest, OneWrongOutputIsAProblemAndNoTime) {
  const Timing timing = Time({4 * kFloor, true}, {2 * kFloor});
  ASSERT_EQ(timing.problems.size(), 1u);
  EXPECT_EQ(timing.problems[0].verdict, Verdict::kWrong);
  EXPECT_EQ(timing.problems[0].evidence[0], "call 19");
  EXPECT_TRUE(timing.submission.empty());
}

TEST_F(TimingTest, TimeBelowWhatTheMemoryNeedsIsRejected) {
  const Timing timing = Time({0.5 * kFloor}, {2 * kFloor});
  ASSERT_EQ(timing.problems.size(), 1u);
  EXPECT_EQ(timing.problems[0].verdict, Verdict::kRejected);
  EXPECT_NE(timing.problems[0].evidence[0].find("0.50 µs"), std::string::npos) << timing.problems[0].evidence[0];
}

TEST_F(TimingTest, ReferenceThatFailsIsTheHarnesssFault) {
  EXPECT_THROW(Time({4 * kFloor}, {2 * kFloor, true}), HarnessError);
}

TEST_F(TimingTest, NoGpuNoTime) {
  FakeRunner runner([](const std::string&, std::span<const worker::Argument>) { return CallReport(); });
  EXPECT_THROW(TimeRung(runner, runner, nullptr, {}, 8, 1, {}, nullptr), HarnessError);
}

TEST(DecidesTest, IntervalHasToBeWorthLittle) {
  const Budget budget{0.9, 0.5};
  EXPECT_TRUE(Decides({0.7, 0.697, 0.704}, budget, 0.02));
  EXPECT_FALSE(Decides({0.7, 0.69, 0.71}, budget, 0.02));
  EXPECT_TRUE(Decides({1.1, 0.9, 1.5}, budget, 0.02)) << "full marks at either end";
  EXPECT_TRUE(Decides({0.3, 0.1, 0.5}, budget, 0.02)) << "none at either end";
}

}  // namespace
}  // namespace lockstep::judge
