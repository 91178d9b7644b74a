// The judge against workers that go wrong: what each call comes to, and that the run goes on after it.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>

#include "judge/assignment.h"
#include "judge/buffer.h"
#include "judge/call.h"
#include "judge/suite.h"
#include "judge/text.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;

const fs::path kSource = fs::path(LOCKSTEP_SOURCE_DIR) / "harness/tests/judge_end_to_end";

bool IsNewer(const fs::path& made, const std::vector<fs::path>& sources) {
  return fs::exists(made) && std::all_of(sources.begin(), sources.end(), [&](const fs::path& source) {
           return fs::last_write_time(source) < fs::last_write_time(made);
         });
}

// Builds the worker of a submission here, unless an earlier test did.
fs::path Worker(const std::string& submission) {
  const fs::path folder = fs::path(LOCKSTEP_BUILD_DIR) / "tests/judge_end_to_end";
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
    runner_ = MakeRunnerFactory(options, LoadAssignment(kSource).limits)(role);
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

  // And the next call works again.
  void Expect(const std::string& launcher, const std::string& verdict) {
    EXPECT_EQ(VerdictOfCall(launcher), verdict) << message_;
    EXPECT_EQ(VerdictOfCall("add_one"), "PASS") << message_;
  }

  std::unique_ptr<Runner> runner_;
  CallReport report_;
  std::string message_;
};

TEST_F(EndToEndTest, RightResultPasses) {
  Use("submission");
  Expect("add_one", "PASS");
  ASSERT_EQ(report_.launches.size(), 1u);
  EXPECT_EQ(report_.launches[0].kernel, "add_one_kernel");
  EXPECT_EQ(report_.launches[0].grid.x, 8u);
  EXPECT_GT(report_.launches[0].counters.warp_instructions, 0u);
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
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
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

TEST_F(EndToEndTest, CrashBeforeMainIsToldAtOnceInEveryTest) {
  Use("crashes_at_start");
  for (int test = 0; test < 4; ++test) {
    EXPECT_EQ(VerdictOfCall("add_one"), "CRASH");
    EXPECT_TRUE(report_.at_start);
  }
}

TEST_F(EndToEndTest, WorkerThatIsNoProgramIsTheHarnesssFault) {
  Options options;
  options.worker = kSource / "absent";
  EXPECT_THROW(MakeRunnerFactory(options, Limits())(Role::kChecked), HarnessError);
  Use("submission");
  options.worker = fs::path("/etc/os-release");
  EXPECT_THROW(MakeRunnerFactory(options, Limits())(Role::kChecked), HarnessError);
}

}  // namespace
}  // namespace lockstep::judge
