// The judge against workers that fail: the verdict on each call, and that the run continues after it.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>
#include <numeric>
#include <optional>

#include "judge/device/buffer.h"
#include "judge/device/gpu_kernels.h"
#include "judge/model/assignment.h"
#include "judge/model/text.h"
#include "judge/run/call.h"
#include "judge/run/memory_watch.h"
#include "judge/suite/suite.h"
#include "judge/suite/timing.h"

namespace lockstep::judge {
namespace judge_end_to_end_test {

namespace fs = std::filesystem;

const fs::path kSource = fs::path(LOCKSTEP_SOURCE_DIR) / "harness/tests/judge/end_to_end";

bool IsNewer(const fs::path& made, const std::vector<fs::path>& sources) {
  return fs::exists(made) && std::all_of(sources.begin(), sources.end(), [&](const fs::path& source) {
           return fs::last_write_time(source) < fs::last_write_time(made);
         });
}

// Builds the worker of a submission here, unless an earlier test did.
fs::path Worker(const std::string& submission) {
  const fs::path folder = fs::path(LOCKSTEP_BUILD_DIR) / "tests/judge/end_to_end";
  fs::create_directories(folder);
  const fs::path worker = folder / submission;
  const fs::path script = fs::path(LOCKSTEP_SOURCE_DIR) / "harness/worker/build.sh";
  const fs::path library = fs::path(LOCKSTEP_BUILD_DIR) / "lib/liblockstep_worker.a";
  const fs::path source = kSource / (submission + ".cu");
  if (IsNewer(worker,
              {source, kSource / "submission.cu", kSource / "launchers.h", kSource / "glue.cc", script, library})) {
    return worker;
  }
  const std::string command = "'" + script.string() + "' --build '" LOCKSTEP_BUILD_DIR "' --assignment '" +
                              kSource.string() + "' --source '" + source.string() + "' --glue '" +
                              (kSource / "glue.cc").string() + "' --out '" + worker.string() + "'";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  return worker;
}

class EndToEndTest : public testing::Test {
 protected:
  void Use(const std::string& submission, Role role = Role::kChecked) {
    Options options;
    options.worker = Worker(submission);
    options.threads = 1;
    options.witness = witness_;
    runner_ = MakeRunnerFactory(options, limits_, memory_)(role);
  }

  // Calls a launcher with n = 1000, and returns what is wrong; "" for a right result.
  std::string VerdictOfCall(const std::string& launcher) {
    DeviceArray<int32_t> other(runner_->device(), 1000, "d_other");
    DeviceArray<int32_t> data(runner_->device(), 1000, "d_data");
    std::vector<int32_t> values(1000);
    std::iota(values.begin(), values.end(), 0);
    EXPECT_TRUE(data.Set(values));
    const std::vector<worker::Argument> arguments = {data.argument(), worker::Argument::Integer(1000u)};
    report_ = runner_->Call(launcher, arguments);
    std::vector<Problem> problems = ProblemsOf(report_, {launcher, "n = 1,000", "submission.cu"});
    if (const Problem* worst = Worst(problems)) {
      message_ = FormatProblem(*worst, "EndToEnd." + launcher);
      return std::string(NameOf(worst->verdict));
    }
    for (int32_t& value : values) ++value;
    return data.Get() == values ? "PASS" : "WRONG";
  }

  // Expects this verdict on a call, and that the next call works again.
  void Expect(const std::string& launcher, const std::string& verdict) {
    EXPECT_EQ(VerdictOfCall(launcher), verdict) << message_;
    EXPECT_EQ(VerdictOfCall("add_one"), "PASS") << message_;
  }

  Limits limits_ = LoadAssignment(kSource).limits;
  std::shared_ptr<SubmissionMemory> memory_ = MakeSubmissionMemory(limits_);
  fs::path witness_;
  std::unique_ptr<Runner> runner_;
  CallReport report_;
  std::string message_;
};

// Any worker that starts can serve as the witness.
class ControlWorkerTest : public EndToEndTest {
 protected:
  ControlWorkerTest() { witness_ = Worker("submission"); }
};

TEST_F(ControlWorkerTest, AProgramThatCannotBeLoadedIsItsAuthorsFault) {  // in turn
  Use("fails_to_load");
  EXPECT_EQ(VerdictOfCall("add_one"), "CRASH") << message_;
  EXPECT_TRUE(report_.at_start);
  EXPECT_FALSE(report_.loaded);
  // All of the submission's runners share this answer.
  EXPECT_TRUE(memory_->failed_start);
}

TEST_F(ControlWorkerTest, WithoutAWitnessThatStartsItIsTheHarnesss) {  // in turn
  witness_ = "/bin/false";
  Use("fails_to_load");
  EXPECT_EQ(VerdictOfCall("add_one"), "HARNESS") << message_;
  witness_ = "";
  memory_ = MakeSubmissionMemory(limits_);
  Use("fails_to_load");
  EXPECT_EQ(VerdictOfCall("add_one"), "HARNESS") << message_;
}

TEST_F(ControlWorkerTest, ABoxInWhichNothingStartsIsTheHarnesssFaultWhateverTheProgramDoes) {  // in turn
  witness_ = "/bin/false";
  Use("crashes_at_start");
  EXPECT_EQ(VerdictOfCall("add_one"), "HARNESS") << message_;
}

TEST_F(ControlWorkerTest, ALauncherThatOnlyTheProgramLacksIsRejected) {  // in turn
  Use("forges_its_hello");
  EXPECT_EQ(VerdictOfCall("add_one"), "REJECTED") << message_;
}

TEST_F(ControlWorkerTest, ALauncherThatNobodyHasIsTheHarnesssFault) {
  Use("submission");
  EXPECT_EQ(VerdictOfCall("no_such_launcher"), "HARNESS") << message_;
}

TEST_F(EndToEndTest, CallsThatAreTooLongTogetherAreTimedOut) {
  memory_->budget = WallBudget(2, 1000);
  Use("submission");
  EXPECT_EQ(VerdictOfCall("sleeps"), "PASS") << message_;
  std::string verdict;
  for (int call = 1; call < 9 && verdict != "TIMEOUT"; ++call) verdict = VerdictOfCall("sleeps");
  EXPECT_EQ(verdict, "TIMEOUT") << "3.6 seconds and more";
  EXPECT_NE(message_.find("that the calls of one test may take"), std::string::npos) << message_;
  memory_->budget.BeginTest();
  EXPECT_EQ(VerdictOfCall("add_one"), "PASS") << message_;
}

TEST_F(EndToEndTest, ALauncherThatTimedOutTwiceIsNotCalledAgain) {
  Use("submission");
  EXPECT_EQ(VerdictOfCall("launches_forever"), "TIMEOUT");
  EXPECT_EQ(VerdictOfCall("launches_forever"), "TIMEOUT");
  EXPECT_EQ(message_.find("not called again"), std::string::npos) << message_;
  EXPECT_EQ(VerdictOfCall("launches_forever"), "TIMEOUT");
  EXPECT_NE(message_.find("not called again: launches_forever timed out 2 times"), std::string::npos) << message_;
  EXPECT_EQ(message_.find("<<<"), std::string::npos) << "a launch of another test: " << message_;
}

// The time of calls that are cut short within a request counts too.
TEST_F(EndToEndTest, CallsThatAreCutShortCount) {
  memory_->budget = WallBudget(0.01, 1000);
  Use("submission");
  EXPECT_EQ(VerdictOfCall("launches_forever"), "TIMEOUT");
  EXPECT_EQ(VerdictOfCall("add_one"), "TIMEOUT");
  EXPECT_NE(message_.find("that the calls of one test may take"), std::string::npos) << message_;
}

TEST_F(EndToEndTest, MemoryOfTheJudgesThatARequestTakesIsBounded) {
  limits_.judge_mb = ResidentBytes() / (1 << 20) + 200;
  Use("submission");
  EXPECT_EQ(VerdictOfCall("add_one"), "PASS") << message_;
  EXPECT_EQ(VerdictOfCall("fills_memory"), "REJECTED");
  EXPECT_NE(message_.find("of the judge's memory"), std::string::npos) << message_;
  EXPECT_EQ(VerdictOfCall("add_one"), "PASS") << message_;
}

// What a kernel's malloc took goes with the worker, so that the judge finds room for its own buffers.
TEST_F(EndToEndTest, AKernelsHeapGoesWithItsProgram) {
  limits_.memory_mb = 64;
  Use("submission");
  EXPECT_EQ(VerdictOfCall("keeps_heap"), "PASS") << message_;
  DeviceArray<int32_t> large(runner_->device(), 40 << 18, "d_large");
  EXPECT_EQ(VerdictOfCall("add_one"), "PASS") << message_;
}

TEST_F(EndToEndTest, RightResultPasses) {
  Use("submission");
  Expect("add_one", "PASS");
  ASSERT_EQ(report_.launches.size(), 1u);
  EXPECT_EQ(report_.launches[0].kernel, "add_one_kernel");
  EXPECT_EQ(report_.launches[0].grid.x, 8u);
  EXPECT_GT(report_.launches[0].counters.warp_instructions, 0u);
  // The worker waits for the device after each call. That wait is not a call of the program.
  ASSERT_EQ(report_.trace.size(), 1u);
  EXPECT_EQ(report_.trace[0].kind, worker::ApiKind::kLaunch);
}

TEST_F(EndToEndTest, LargeInputsAreNotCountedButWatched) {
  Use("submission", Role::kPlain);
  Expect("add_one", "PASS");
  EXPECT_EQ(report_.launches.at(0).counters.warp_instructions, 0u);
  ASSERT_EQ(report_.memory.buffers.size(), 1u);
  const vgpu::TouchedRange& data = report_.memory.buffers[0].by_kernels;
  uint64_t first = 0;
  EXPECT_EQ(vgpu::TouchedRange::Missing(data.loaded, 0, 4000, &first), 0u);
  EXPECT_EQ(vgpu::TouchedRange::Missing(data.stored, 0, 4000, &first), 0u);
}

// Calls functions that double a number, with the numbers 3 to 8.
class CallAllTest : public EndToEndTest {
 protected:
  CallAllTest() { Use("submission"); }

  std::vector<CallReport> ReportsOf(const std::string& launcher) {
    std::vector<std::vector<worker::Argument>> calls;
    for (int x = 3; x <= 8; ++x) calls.push_back({worker::Argument::Integer(x)});
    std::vector<CallReport> reports = runner_->CallAll(launcher, calls);
    EXPECT_EQ(reports.size(), calls.size());
    for (size_t k = 0; k < reports.size(); ++k) {
      if (reports[k].outcome != worker::Outcome::kReturned) continue;
      EXPECT_EQ(reports[k].value.AsInteger(), 2 * static_cast<int>(k + 3)) << launcher;
    }
    return reports;
  }
  static std::vector<size_t> Failed(const std::vector<CallReport>& reports) {
    std::vector<size_t> failed;
    for (size_t k = 0; k < reports.size(); ++k) {
      if (reports[k].outcome != worker::Outcome::kReturned) failed.push_back(k);
    }
    return failed;
  }
};

TEST_F(CallAllTest, ReturnsEachCallsValue) { EXPECT_EQ(Failed(ReportsOf("doubles")), std::vector<size_t>{}); }

TEST_F(CallAllTest, TheCallThatFailsIsFound) {
  const std::vector<CallReport> reports = ReportsOf("ends_at_seven");
  ASSERT_EQ(Failed(reports), std::vector<size_t>{4});
  EXPECT_EQ(reports[4].outcome, worker::Outcome::kExited);
}

// A new process repeats the calls one by one; there no call is the eighth, so none fails.
TEST_F(CallAllTest, AFailureThatDoesNotHappenAgainIsTheLastCalls) {
  EXPECT_EQ(Failed(ReportsOf("ends_at_the_eighth_call")), std::vector<size_t>{});
  const std::vector<CallReport> reports = ReportsOf("ends_at_the_eighth_call");
  ASSERT_EQ(Failed(reports), std::vector<size_t>{5});
  EXPECT_EQ(reports[5].outcome, worker::Outcome::kExited);
}

TEST_F(CallAllTest, WhatIsDoneOnTheDeviceBelongsToItsCall) {
  const std::vector<CallReport> reports = ReportsOf("launches_at_seven");
  EXPECT_EQ(Failed(reports), std::vector<size_t>{});
  for (size_t k = 0; k < reports.size(); ++k) EXPECT_EQ(reports[k].launches.size(), k == 4 ? 1u : 0u) << k;
}

TEST_F(EndToEndTest, LeavingWithStatusZeroIsACrash) {
  Use("submission");
  Expect("ends_program", "CRASH");
}

TEST_F(EndToEndTest, SignalIsACrash) {
  Use("submission");
  Expect("crashes_host", "CRASH");
}

TEST_F(EndToEndTest, ChildThatLivesOnDoesNotKeepTheRunWaiting) {
  Use("submission");
  Expect("leaves_child", "CRASH");
}

TEST_F(EndToEndTest, HangIsATimeoutAndIsNotWaitedForAThirdTime) {
  Use("submission");
  Expect("hangs_host", "TIMEOUT");
  Expect("hangs_host", "TIMEOUT");
  const auto start = std::chrono::steady_clock::now();
  Expect("hangs_host", "TIMEOUT");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::duration<double>(limits_.call_seconds));
}

TEST_F(EndToEndTest, KernelThatNeverEndsIsATimeout) {
  Use("submission");
  Expect("hangs_kernel", "TIMEOUT");
}

TEST_F(EndToEndTest, LaunchingForeverIsATimeout) {
  Use("submission", Role::kPlain);
  Expect("launches_forever", "TIMEOUT");
}

TEST_F(EndToEndTest, FloodOfOutputIsACrash) {
  Use("submission");
  EXPECT_EQ(VerdictOfCall("floods"), "CRASH");
  EXPECT_LE(report_.output.size(), 200'000u);
  Expect("add_one", "PASS");
}

TEST_F(EndToEndTest, OutputIsKeptAndMeansNothing) {
  Use("submission");
  EXPECT_EQ(VerdictOfCall("prints_fake_results"), "WRONG");
  EXPECT_NE(report_.output.find("score: 100"), std::string::npos);
  EXPECT_EQ(Printable(report_.output).find('\033'), std::string::npos);
}

TEST_F(EndToEndTest, ClosedSocketIsACrash) {
  Use("submission");
  Expect("closes_socket", "CRASH");
}

TEST_F(EndToEndTest, WritingToTheSocketIsRejected) {
  Use("submission");
  Expect("writes_to_socket", "REJECTED");
}

TEST_F(EndToEndTest, FaultOfAKernelIsFoundAndTheDeviceComesBack) {
  Use("submission");
  Expect("writes_past_end", "BOUNDS");
  Expect("writes_past_end", "BOUNDS");
  ASSERT_FALSE(message_.empty());
  EXPECT_NE(message_.find("d_data"), std::string::npos) << message_;
  EXPECT_NE(message_.find("submission.cu:"), std::string::npos) << message_;
}

TEST_F(EndToEndTest, UncheckedLaunchErrorIsFound) {
  Use("submission");
  Expect("launches_too_many_threads", "API");
}

TEST_F(EndToEndTest, ComputingOnTheHostIsRejected) {
  Use("submission");
  Expect("copies_to_host", "REJECTED");
}

TEST_F(EndToEndTest, MemoryThatTheCallDidNotGetIsOutOfReach) {
  Use("submission");
  Expect("touches_other_memory", "REJECTED");
}

TEST_F(EndToEndTest, TheDriverApiIsRefusedByName) {
  Use("submission");
  Expect("uses_the_driver", "WRONG");
  EXPECT_EQ(VerdictOfCall("uses_the_driver"), "WRONG");
  EXPECT_NE(report_.output.find("cuInit: submissions can't use the driver API"), std::string::npos) << report_.output;
}

TEST_F(EndToEndTest, CrashBeforeMainIsToldAtOnceInEveryTest) {
  Use("crashes_at_start");
  for (int test = 0; test < 4; ++test) {
    EXPECT_EQ(VerdictOfCall("add_one"), "CRASH");
    EXPECT_TRUE(report_.at_start);
  }
}

// The device that a program sees and the device that its times are modelled for may differ.
TEST_F(EndToEndTest, ARunnerElsewhereHasTheProfileOfOneDeviceAndTheClockOfAnother) {
  Options options;
  options.worker = Worker("submission");
  options.threads = 1;
  const ElsewhereFactory factory = MakeElsewhereFactory(options, limits_, memory_);
  double microseconds[2] = {};
  for (const int which : {0, 1}) {
    runner_ = factory("t4", ProfileNamed(which == 0 ? "g80" : "h200"));
    EXPECT_EQ(runner_->device().Describe().profile, "t4");
    EXPECT_TRUE(runner_->device().virtual_device()->options().checkers.empty());
    Expect("add_one", "PASS");
    ASSERT_EQ(report_.launches.size(), 1u);
    microseconds[which] = report_.launches[0].microseconds;
  }
  EXPECT_GT(microseconds[0], 2 * microseconds[1]);
}

TEST_F(EndToEndTest, WorkerThatIsNoProgramIsTheHarnesssFault) {
  Options options;
  options.worker = kSource / "absent";
  EXPECT_THROW(MakeRunnerFactory(options, Limits())(Role::kChecked), HarnessError);
  Use("submission");
  options.worker = fs::path("/etc/os-release");
  EXPECT_THROW(MakeRunnerFactory(options, Limits())(Role::kChecked), HarnessError);
}

// The virtual GPU in the role of a GPU that can be timed: it runs the judge's kernels and the worker's. The times mean
// nothing here; the test is that batches are prepared, held, filled and checked.
class TimedDevice : public JudgeDevice, public Gpu {
 public:
  explicit TimedDevice(std::unique_ptr<JudgeDevice> device) : device_(std::move(device)) {}

  DeviceDescription Describe() const override { return device_->Describe(); }
  uint64_t Allocate(uint64_t bytes, const std::string& label) override { return device_->Allocate(bytes, label); }
  void Free(uint64_t address) override { device_->Free(address); }
  bool Write(uint64_t to, const void* from, uint64_t bytes) override { return device_->Write(to, from, bytes); }
  bool Read(void* to, uint64_t from, uint64_t bytes) override { return device_->Read(to, from, bytes); }
  bool Poison(uint64_t address, uint64_t bytes) override { return device_->Poison(address, bytes); }
  bool ChecksBounds() const override { return device_->ChecksBounds(); }
  worker::Argument PointerArgument(uint64_t base, uint64_t address) override {
    return device_->PointerArgument(base, address);
  }
  void Reset() override {
    device_->Reset();
    ++generation_;
  }
  bool faulted() const override { return device_->faulted(); }
  vgpu::Device* virtual_device() override { return device_->virtual_device(); }
  Gpu* gpu() override { return this; }

  uint64_t free_bytes() const override { return uint64_t{1} << 30; }
  double peak_bytes_per_second() const override { return std::numeric_limits<double>::infinity(); }
  void ClearCache() override {}
  double TimeCopy(uint64_t, uint32_t) override { return 1; }
  GpuState State() const override { return {}; }
  double SecondsToAnswer() override { return 0; }

  void Fill(std::span<const GpuJob> jobs) override {
    jobs_.emplace(*this, jobs.size() * sizeof(GpuJob), "jobs");
    wrong_.emplace(*this, jobs.size() * sizeof(GpuWrong), "counts");
    const auto* bytes = reinterpret_cast<const uint8_t*>(jobs.data());
    EXPECT_TRUE(jobs_->Set({bytes, jobs.size_bytes()}));
    count_ = static_cast<uint32_t>(jobs.size());
    Launch("lockstep_fill", {2, count_, 1}, {jobs_->address()});
  }
  GlanceResult Glance(const SeedKey& seed) override {
    ClearCounts();
    const auto key = std::bit_cast<std::array<uint64_t, 4>>(seed);
    Launch("lockstep_glance", {count_, 1, 1}, {jobs_->address(), wrong_->address(), key[0], key[1], key[2], key[3]});
    return {Counts()[0].output, 0};
  }
  std::vector<GpuWrong> Check() override {
    ClearCounts();
    Launch("lockstep_check", {2, count_, 1}, {jobs_->address(), wrong_->address()});
    return Counts();
  }

 private:
  void ClearCounts() { EXPECT_TRUE(wrong_->Set(std::vector<uint8_t>(wrong_->size()))); }
  std::vector<GpuWrong> Counts() const {
    std::vector<GpuWrong> counts(count_);
    const std::vector<uint8_t> bytes = wrong_->Get();
    std::memcpy(counts.data(), bytes.data(), bytes.size());
    return counts;
  }
  void Launch(const char* kernel, vgpu::Dim3 grid, std::vector<uint64_t> parameters) {
    vgpu::Device& device = *virtual_device();
    if (!module_) module_ = device.LoadModule(GpuKernelsPtx());
    std::vector<uint8_t> bytes(parameters.size() * sizeof(uint64_t));
    std::memcpy(bytes.data(), parameters.data(), bytes.size());
    vgpu::LaunchSpec spec;
    spec.module = *module_;
    spec.kernel = kernel;
    spec.grid = grid;
    spec.block = {256, 1, 1};
    spec.parameters = bytes;
    EXPECT_EQ(device.Launch(spec).error, vgpu::LaunchError::kNone) << kernel;
  }

  std::unique_ptr<JudgeDevice> device_;
  std::optional<DeviceArray<uint8_t>> jobs_, wrong_;
  std::optional<vgpu::ModuleHandle> module_;
  uint32_t count_ = 0;
};

class CopyWorkload : public Workload {
 public:
  explicit CopyWorkload(JudgeDevice& device) : in_(device, kElements, "d_in"), out_(device, kElements, "d_out") {}
  GpuJob Job() const override {
    return {.in = in_.address(), .out = out_.address(), .n = kElements, .task = GpuTask::kShift};
  }
  void Poison() override { out_.Poison(); }
  std::vector<worker::Argument> Arguments() const override {
    return {in_.argument(), out_.argument(), worker::Argument::Integer(static_cast<unsigned>(kElements))};
  }
  uint64_t LeastBytes() const override { return 2 * kElements * sizeof(int32_t); }

 private:
  static constexpr uint64_t kElements = 1000;
  DeviceArray<int32_t> in_, out_;
};

// A submission that keeps all memory must not make the judge fail.
TEST(JudgeDeviceTest, AsksForMemoryBackBeforeItGivesUp) {
  vgpu::DeviceOptions options;
  options.memory_bytes = 1 << 20;
  const std::unique_ptr<JudgeDevice> device = MakeVgpuJudgeDevice("h200", options, 1000);
  const uint64_t taken = device->Allocate(900 << 10, "taken by a worker");
  int asked = 0;
  device->set_reclaim([&] {
    if (++asked == 1) device->Free(taken);
  });
  EXPECT_NE(device->Allocate(800 << 10, "d_in"), 0U);
  EXPECT_EQ(asked, 1);
  EXPECT_THROW(device->Allocate(800 << 10, "d_out"), HarnessError);
  EXPECT_EQ(asked, 2);
}

class TimedEndToEndTest : public testing::Test {
 protected:
  void SetUp() override {
    RunnerOptions options;
    options.command.worker = Worker("submission").string();
    options.limits.call_seconds = 20;
    vgpu::DeviceOptions device;
    device.threads = 1;
    runner_ = MakeWorkerRunner(std::make_unique<TimedDevice>(MakeVgpuJudgeDevice("h200", device, 1000)), options);
  }
  Timing Time(const std::string& launcher) {
    TimingLimits limits;
    limits.least_calls = limits.most_calls = 6;
    limits.first_repeats = limits.most_repeats = 2;
    limits.batch_seconds = 1e6;
    const auto make = [](JudgeDevice& device, const std::string&, uint64_t, uint32_t) {
      return std::make_unique<CopyWorkload>(device);
    };
    return TimeRung(*runner_, nullptr, make, {launcher, "", "submission.cu"}, 1000, 1, limits,
                    [](const Timing&) { return true; });
  }
  std::string ProblemOf(const std::string& launcher) {
    const Timing timing = Time(launcher);
    if (timing.problems.empty()) return "";
    return std::string(NameOf(timing.problems[0].verdict)) + " " + timing.problems[0].evidence.at(0).text;
  }

  std::unique_ptr<Runner> runner_;
};

TEST_F(TimedEndToEndTest, BatchesOfARightLauncherAreTimed) {
  const Timing timing = Time("copies");
  EXPECT_TRUE(timing.problems.empty()) << FormatProblem(timing.problems.at(0), "");
  EXPECT_EQ(timing.submission.size(), 2u);
  EXPECT_EQ(timing.calls, 6u);
  EXPECT_EQ(timing.least_bytes, 8000u);
}

TEST_F(TimedEndToEndTest, WhatGoesWrongInABatchIsFoundAndTheNextIsTimed) {
  // Ten calls are right: two single ones, six that warm up, and the first two of a batch.
  EXPECT_EQ(ProblemOf("copies_ten_times"),
            "WRONG call 3 of a batch has a wrong result: 1,000 of 1,000 elements are wrong");
  EXPECT_EQ(ProblemOf("copies_over_its_input"),
            "WRONG call 1 of a batch changed its input: 1 of 1,000 elements is wrong");
  EXPECT_EQ(ProblemOf("copies_until_it_ends"), "CRASH the program exited with status 0 during the call");
  EXPECT_EQ(ProblemOf("copies"), "");
}

}  // namespace judge_end_to_end_test
}  // namespace lockstep::judge
