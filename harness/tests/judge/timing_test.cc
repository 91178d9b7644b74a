// The timing loop on a made-up GPU, whose clock is the test's.
#include "judge/suite/timing.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "tests/judge/fake_runner.h"

namespace lockstep::judge {
namespace timing_test {

constexpr double kPeak = 1e9;  // bytes a second
constexpr uint64_t kBytes = 1000;
constexpr double kFloor = kBytes / kPeak;

// What the test's workers did to the outputs, and what the judge's kernels would find.
struct World {
  enum Output { kPoisoned, kRight, kWrong, kLate };
  std::vector<Output> outputs;
  std::vector<uint64_t> input_changed;  // elements, by call
  std::vector<SeedKey> seeds;           // of all inputs that were filled
  std::vector<std::string> events;      // in order
  bool busy_until_restart = false, busy_for_ever = false;
  bool full_until_restart = false, full_for_ever = false;
  int looks_until_released = 0;  // how often the memory is looked at, after the restart, until it is free
};
World* g_world = nullptr;

class FakeGpu : public Gpu {
 public:
  uint64_t free_bytes() const override {
    const auto& events = g_world->events;
    const bool has_run = std::find(events.begin(), events.end(), "own run") != events.end();
    if (!g_world->full_until_restart && events.back() == "own restart" && g_world->looks_until_released > 0) {
      --g_world->looks_until_released;
      return 1 << 20;
    }
    return g_world->full_until_restart || (g_world->full_for_ever && has_run) ? 1 << 20 : 1 << 30;
  }
  double peak_bytes_per_second() const override { return kPeak; }
  void ClearCache() override { g_world->events.push_back("clear"); }
  double TimeCopy(uint64_t bytes, uint32_t) override { return 2.5 * static_cast<double>(bytes) / kPeak; }
  GpuState State() const override { return {{{"driver", "1"}}, false}; }
  void Fill(std::span<const GpuJob> jobs) override {
    g_world->events.push_back("fill");
    jobs_ = jobs.size();
    for (const GpuJob& job : jobs) g_world->seeds.push_back(job.seed);
  }
  GlanceResult Glance(const SeedKey&) override {
    g_world->events.push_back("glance");
    GlanceResult result{0, kGlance};
    for (size_t i = 0; i < jobs_; ++i) {
      World::Output& output = g_world->outputs[i];
      result.wrong += output != World::kRight;
      if (output == World::kLate) output = World::kRight;
    }
    return result;
  }
  std::vector<GpuWrong> Check() override {
    std::vector<GpuWrong> wrong;
    for (size_t i = 0; i < jobs_; ++i) {
      wrong.push_back({g_world->outputs[i] == World::kRight ? 0u : 5u, g_world->input_changed[i]});
    }
    return wrong;
  }
  double SecondsToAnswer() override { return g_world->busy_until_restart || g_world->busy_for_ever ? 1e-3 : 1e-5; }

  static constexpr double kGlance = 1e-5;

 private:
  size_t jobs_ = 0;
};

class GpuDevice : public FakeDevice {
 public:
  Gpu* gpu() override { return &gpu_; }
  FakeGpu gpu_;
};

// What the worker does in a batch instead of launching kernels, as the test specifies.
struct Behaviour {
  double seconds = 0;  // of a call
  World::Output last_call = World::kRight;
  int slow_every = 0;  // every slow_every-th batch takes ten times as long
  bool changes_input = false, goes_on = false, keeps_memory = false;
  double seconds_at_first = 0;  // of a call, in the first two batches
  worker::Outcome outcome = worker::Outcome::kReturned;
};

class BatchRunner : public Runner {
 public:
  BatchRunner(std::string name, Behaviour behaviour) : name_(std::move(name)), behaviour_(behaviour) {}
  JudgeDevice& device() override { return device_; }
  CallReport Call(const std::string&, std::span<const worker::Argument>) override { return {}; }
  CallReport PrepareBatch(const std::string&, std::span<const std::vector<worker::Argument>> calls) override {
    prepared_ = calls.size();
    g_world->events.push_back(name_ + " prepare");
    return {};
  }
  CallReport RunBatch(uint32_t calls) override {
    EXPECT_LE(calls, prepared_);
    CallReport report;
    report.seconds = kRoundTrip + calls * behaviour_.seconds;
    g_world->events.push_back(name_ + (calls == 0 ? " answer" : " run"));
    if (calls == 0) return report;
    ++batches;
    if (batches <= 2 && behaviour_.seconds_at_first > 0) report.seconds = calls * behaviour_.seconds_at_first;
    if (behaviour_.slow_every > 0 && batches % behaviour_.slow_every == 0) report.seconds *= 10;
    for (uint32_t i = 0; i < calls; ++i) {
      g_world->outputs[i] = calls > 1 && i + 1 == calls ? behaviour_.last_call : World::kRight;
      g_world->input_changed[i] = behaviour_.changes_input ? 3 : 0;
    }
    g_world->busy_until_restart |= behaviour_.goes_on;
    g_world->full_until_restart |= behaviour_.keeps_memory;
    report.outcome = behaviour_.outcome;
    return report;
  }
  void Hold() override { g_world->events.push_back(name_ + " hold"); }
  void Restart() override {
    g_world->events.push_back(name_ + " restart");
    g_world->busy_until_restart = g_world->full_until_restart = false;
  }

  static constexpr double kRoundTrip = 3e-5;
  int batches = 0;

 private:
  std::string name_;
  Behaviour behaviour_;
  GpuDevice device_;
  size_t prepared_ = 0;
};

class FakeWorkload : public Workload {
 public:
  explicit FakeWorkload(uint32_t call) : call_(call) {
    g_world->outputs.push_back(World::kPoisoned);
    g_world->input_changed.push_back(0);
  }
  GpuJob Job() const override { return {.n = 100, .task = GpuTask::kShift}; }
  void Poison() override { g_world->outputs[call_] = World::kPoisoned; }
  std::vector<worker::Argument> Arguments() const override { return {}; }
  uint64_t LeastBytes() const override { return kBytes; }

 private:
  uint32_t call_;
};

class TimingTest : public testing::Test {
 protected:
  Timing Time(Behaviour submission, Behaviour reference, const Budget& budget = {0.9, 0.5}) {
    BatchRunner own("own", submission), other("reference", reference);
    TimingLimits limits;
    limits.most_calls = 20;
    limits.release_seconds = 0.1;
    const auto enough = [&](const Timing& timing) {
      return Decides(timing.Figure(TimingBase::kReference), budget, limits.tolerance);
    };
    const auto make = [](JudgeDevice&, const std::string&, uint64_t, uint32_t call) {
      return std::make_unique<FakeWorkload>(call);
    };
    g_world = &world_;
    return TimeRung(own, has_reference_ ? &other : nullptr, make, {"sum", "n = 8", "a.cu"}, 8, 1, limits, enough);
  }

  // The only problem found when the submission behaves like this.
  Problem ProblemOfRun(Behaviour submission) {
    const Timing timing = Time(submission, {2 * kFloor});
    EXPECT_EQ(timing.problems.size(), 1u);
    EXPECT_TRUE(timing.submission.empty());
    return timing.problems.empty() ? Problem() : timing.problems[0];
  }

  World world_;
  bool has_reference_ = true;
};

TEST_F(TimingTest, FigureIsTheReferencesTimeOverTheSubmissions) {
  const Timing timing = Time({4 * kFloor}, {2 * kFloor});
  EXPECT_TRUE(timing.problems.empty());
  EXPECT_EQ(timing.submission.size(), 16u);
  EXPECT_EQ(timing.calls, 20u);
  EXPECT_NEAR(timing.Figure(TimingBase::kReference).value, 0.5, 1e-9) << "the round trip is no part of it";
  EXPECT_NEAR(timing.Figure(TimingBase::kCopy).value, 2.5 / 2 / 4, 1e-9);
  EXPECT_EQ(timing.gpu.size(), 2u);
}

TEST_F(TimingTest, WithoutAReferenceThereIsTheCopy) {
  has_reference_ = false;
  const Timing timing = Time({4 * kFloor}, {});
  EXPECT_TRUE(timing.problems.empty());
  EXPECT_TRUE(timing.reference.empty());
  EXPECT_NEAR(timing.Figure(TimingBase::kCopy).value, 2.5 / 2 / 4, 1e-9) << "its own round trips are left out";
}

TEST_F(TimingTest, EveryRepeatHasInputsOfItsOwn) {
  const Timing timing = Time({4 * kFloor}, {2 * kFloor});
  std::set<std::vector<uint32_t>> seeds;
  for (const SeedKey& seed : world_.seeds) seeds.emplace(std::begin(seed.words), std::end(seed.words));
  EXPECT_EQ(world_.seeds.size(), 2 * (timing.submission.size() + 1) * timing.calls + 2)
      << "the warm-up is a repeat too, and two calls say how long one takes";
  EXPECT_EQ(seeds.size(), world_.seeds.size());
}

TEST_F(TimingTest, OutliersDoNotDecide) {
  const Timing timing = Time({4 * kFloor, World::kRight, 7}, {2 * kFloor});
  EXPECT_NEAR(timing.Figure(TimingBase::kReference).value, 0.5, 1e-9);
}

TEST_F(TimingTest, RepeatsGoOnWhileTheyDoNotDecide) {
  // Every other batch is slow, so the interval covers both times, however many batches there are.
  const Timing timing = Time({3 * kFloor, World::kRight, 2}, {2 * kFloor});
  EXPECT_EQ(timing.submission.size(), 240u);
  EXPECT_FALSE(Decides(timing.Figure(TimingBase::kReference), {0.9, 0.5}, 0.02));
}

// The worker is held from the moment it knows its buffers until it is told to start, and again after its answer, so it
// can't affect how long the reference and the copy take.
TEST_F(TimingTest, WorkerIsHeldWhileInputsAreFilledAndOthersAreTimed) {
  Time({4 * kFloor}, {2 * kFloor});
  const std::vector<std::string> one_batch = {"own prepare", "own hold", "fill",    "clear",
                                              "own run",     "glance",   "own hold"};
  const auto found = std::search(world_.events.begin(), world_.events.end(), one_batch.begin(), one_batch.end());
  EXPECT_NE(found, world_.events.end()) << testing::PrintToString(world_.events);
  bool held = true;  // no worker runs yet
  for (const std::string& event : world_.events) {
    if (event == "own hold" || event == "own restart") held = true;
    if (event == "own prepare" || event == "own run") held = false;
    EXPECT_TRUE(held || !event.starts_with("reference")) << event;
  }
  EXPECT_EQ(world_.events[0], "own restart");
  EXPECT_EQ(world_.events.back(), "reference restart") << "what was timed is given back";
}

TEST_F(TimingTest, OneWrongOutputIsAProblemAndNoTime) {
  const Problem problem = ProblemOfRun({4 * kFloor, World::kWrong});
  EXPECT_EQ(problem.verdict, Verdict::kWrong);
  EXPECT_EQ(problem.evidence.at(0).text, "call 20 of a batch has a wrong result: 5 of 100 elements are wrong");
}

TEST_F(TimingTest, OutputThatComesLateIsWrong) {
  const Problem problem = ProblemOfRun({4 * kFloor, World::kLate});
  EXPECT_EQ(problem.verdict, Verdict::kWrong);
  EXPECT_NE(problem.evidence.at(0).text.find("not there after"), std::string::npos) << problem.evidence.at(0).text;
}

TEST_F(TimingTest, InputHasToStayAsItWas) {
  Behaviour behaviour{4 * kFloor};
  behaviour.changes_input = true;
  const Problem problem = ProblemOfRun(behaviour);
  EXPECT_EQ(problem.verdict, Verdict::kWrong);
  EXPECT_EQ(problem.evidence.at(0).text, "call 1 of a batch changed its input: 3 of 100 elements are wrong");
}

TEST_F(TimingTest, KernelsThatGoOnAreRejected) {
  Behaviour behaviour{4 * kFloor};
  behaviour.goes_on = true;
  const Problem problem = ProblemOfRun(behaviour);
  EXPECT_EQ(problem.verdict, Verdict::kRejected);
  EXPECT_NE(problem.evidence.at(0).text.find("still running"), std::string::npos) << problem.evidence.at(0).text;
}

TEST_F(TimingTest, MemoryThatIsKeptIsRejectedBeforeTheReferenceMissesIt) {
  Behaviour behaviour{4 * kFloor};
  behaviour.keeps_memory = true;
  const Problem problem = ProblemOfRun(behaviour);
  EXPECT_EQ(problem.verdict, Verdict::kRejected);
  EXPECT_NE(problem.evidence.at(0).text.find("memory was still in use"), std::string::npos)
      << problem.evidence.at(0).text;
  EXPECT_EQ(std::count(world_.events.begin(), world_.events.end(), "reference run"), 0);
}

TEST_F(TimingTest, MemoryMayTakeAWhileToComeBack) {
  Behaviour behaviour{4 * kFloor};
  behaviour.keeps_memory = true;
  world_.looks_until_released = 3;
  EXPECT_EQ(ProblemOfRun(behaviour).verdict, Verdict::kRejected);
  EXPECT_EQ(world_.looks_until_released, 0);
}

TEST_F(TimingTest, GpuThatOthersUseIsTheHarnesssFault) {
  world_.busy_for_ever = true;
  EXPECT_THROW(Time({4 * kFloor}, {2 * kFloor}), HarnessError);
  world_ = World();
  world_.full_for_ever = true;
  EXPECT_THROW(Time({4 * kFloor}, {2 * kFloor}), HarnessError);
}

TEST_F(TimingTest, WorkerThatEndsInABatchIsACrashAndOneThatDoesNotATimeout) {
  Behaviour behaviour{4 * kFloor};
  behaviour.outcome = worker::Outcome::kExited;
  EXPECT_EQ(ProblemOfRun(behaviour).verdict, Verdict::kCrash);
  world_ = World();
  behaviour.outcome = worker::Outcome::kTimeout;
  EXPECT_EQ(ProblemOfRun(behaviour).verdict, Verdict::kTimeout);
}

TEST_F(TimingTest, SlowSubmissionHasSmallerBatchesAndIsNoTimeout) {
  Timing timing = Time({0.2}, {2 * kFloor});
  EXPECT_TRUE(timing.problems.empty());
  EXPECT_EQ(timing.calls, 4u) << "in a second";
  EXPECT_EQ(timing.submission.size(), 16u);
  EXPECT_NEAR(timing.submission[0], 0.2, 1e-9);
  world_ = World();
  timing = Time({3}, {2 * kFloor});
  EXPECT_EQ(timing.calls, 1u);
  EXPECT_EQ(timing.submission.size(), 6u);
}

TEST_F(TimingTest, BeingSlowAtFirstToBeTimedInSmallBatchesIsRejected) {
  Behaviour behaviour{4 * kFloor};
  behaviour.seconds_at_first = 0.5;
  const Problem problem = ProblemOfRun(behaviour);
  EXPECT_EQ(problem.verdict, Verdict::kRejected);
  EXPECT_NE(problem.evidence.at(0).text.find("slow at first"), std::string::npos) << problem.evidence.at(0).text;
}

TEST_F(TimingTest, TimeBelowWhatTheMemoryNeedsIsRejected) {
  const Timing timing = Time({0.5 * kFloor}, {2 * kFloor});
  ASSERT_EQ(timing.problems.size(), 1u);
  EXPECT_EQ(timing.problems[0].verdict, Verdict::kRejected);
  EXPECT_NE(timing.problems[0].evidence[0].text.find("0.50 µs"), std::string::npos)
      << timing.problems[0].evidence[0].text;
}

TEST_F(TimingTest, ReferenceThatFailsIsTheHarnesssFault) {
  EXPECT_THROW(Time({4 * kFloor}, {2 * kFloor, World::kWrong}), HarnessError);
}

TEST_F(TimingTest, NoGpuNoTime) {
  FakeRunner runner([](const std::string&, std::span<const worker::Argument>) { return CallReport(); });
  EXPECT_THROW(TimeRung(runner, &runner, nullptr, {}, 8, 1, {}, nullptr), HarnessError);
}

TEST(DecidesTest, IntervalHasToBeWorthLittle) {
  const Budget budget{0.9, 0.5};
  EXPECT_TRUE(Decides({0.7, 0.697, 0.704}, budget, 0.02));
  EXPECT_FALSE(Decides({0.7, 0.69, 0.71}, budget, 0.02));
  EXPECT_TRUE(Decides({1.1, 0.9, 1.5}, budget, 0.02)) << "full marks at either end";
  EXPECT_TRUE(Decides({0.3, 0.1, 0.5}, budget, 0.02)) << "none at either end";
}

}  // namespace timing_test
}  // namespace lockstep::judge
