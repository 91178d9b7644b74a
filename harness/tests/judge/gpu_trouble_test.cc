// The runner when a real GPU fails. No GPU is needed: the workers are this executable, started with --as-worker instead
// of a sandbox's command, and return what CUDA's runtime would return.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "judge/device/device.h"
#include "judge/run/call.h"
#include "judge/run/runner.h"
#include "protocol/wire.h"

namespace lockstep::judge {
namespace {

namespace fs = std::filesystem;
using worker::MessageType;

// ---- The workers ----

constexpr int kSocket = worker::kSocketDescriptor;

// How many calls have been made before this one, by workers of the same test.
int CallsBefore() {
  const std::string path = std::getenv("CALLS");
  const uintmax_t calls = fs::exists(path) ? fs::file_size(path) : 0;
  std::ofstream(path, std::ios::app) << '.';
  return static_cast<int>(calls);
}

void Answer(const std::string& error) {
  worker::Returned returned;
  returned.result = {worker::ValueKind::kInteger, 7};
  returned.cuda_error = error.empty() ? 0 : 46;
  returned.cuda_error_name = error;
  worker::Send(kSocket, MessageType::kReturned, 0, worker::Encode(returned));
}

// BEHAVIOUR is the name of the error that a call leaves; with ":2", in the first two calls only; "cannot" is a worker
// that can't open its buffers.
int RunAsWorker(const std::string& behaviour) {
  worker::Send(kSocket, MessageType::kStarted, 0, {});
  worker::Hello hello;
  hello.launchers = {{"f", worker::ValueKind::kInteger, {{worker::ParameterKind::kInteger, 4, false}}}};
  worker::Send(kSocket, MessageType::kHello, 0, worker::Encode(hello));
  const size_t colon = behaviour.find(':');
  const int times = colon == std::string::npos ? 1 << 30 : std::stoi(behaviour.substr(colon + 1));
  for (;;) {
    const worker::Message message = worker::Receive(kSocket);
    if (message.type == MessageType::kPrepare) {
      worker::Returned prepared;
      if (behaviour == "cannot") prepared.refused = "cudaIpcOpenMemHandle: cudaErrorDevicesUnavailable";
      worker::Send(kSocket, MessageType::kReturned, 0, worker::Encode(prepared));
    } else {
      Answer(CallsBefore() < times ? behaviour.substr(0, colon) : "");
    }
  }
}

// ---- The judge ----

// A GPU that the test never accesses.
class NoDevice : public JudgeDevice {
 public:
  DeviceDescription Describe() const override { return {}; }
  uint64_t Allocate(uint64_t, const std::string&) override { return 1; }
  void Free(uint64_t) override {}
  bool Write(uint64_t, const void*, uint64_t) override { return true; }
  bool Read(void*, uint64_t, uint64_t) override { return true; }
  bool Poison(uint64_t, uint64_t) override { return true; }
  bool ChecksBounds() const override { return true; }
  worker::Argument PointerArgument(uint64_t, uint64_t) override { return {}; }
  void Reset() override {}
  bool faulted() const override { return false; }
};

class GpuTroubleTest : public testing::Test {
 protected:
  // The verdict on a call of f when worker and witness ("": no witness) behave like this.
  std::string VerdictOf(const std::string& behaviour, const std::string& witness) {
    fs::remove(calls_);
    RunnerOptions options;
    options.command.prefix = {"/proc/self/exe", "--as-worker"};
    options.command.worker = behaviour;
    options.command.environment = {"CALLS=" + calls_.string()};
    options.witness = witness;
    runner_ = MakeWorkerRunner(std::make_unique<NoDevice>(), options);
    return Call();
  }
  std::string Call() {
    const std::vector<worker::Argument> arguments = {worker::Argument::Integer(5u)};
    const std::vector<Problem> problems = ProblemsOf(runner_->Call("f", arguments), {"f", "", "f.cu"});
    if (problems.empty()) return "PASS";
    message_ = FormatProblem(problems[0], "Gpu.Trouble");
    return std::string(NameOf(problems[0].verdict));
  }
  int calls() const { return fs::exists(calls_) ? static_cast<int>(fs::file_size(calls_)) : 0; }

  const fs::path calls_ = fs::path(testing::TempDir()) / ("gpu_trouble." + std::to_string(::getpid()));
  std::unique_ptr<Runner> runner_;
  std::string message_;

  ~GpuTroubleTest() override { fs::remove(calls_); }
};

TEST_F(GpuTroubleTest, ThatPassesCostsNothing) {
  EXPECT_EQ(VerdictOf("cudaErrorDevicesUnavailable:2", "serves"), "PASS") << message_;
  EXPECT_EQ(calls(), 3);
}

TEST_F(GpuTroubleTest, ThatStaysIsTheHarnesss) {
  EXPECT_EQ(VerdictOf("cudaErrorECCUncorrectable", "cannot"), "HARNESS");
  EXPECT_NE(message_.find("the GPU can't be used: cudaErrorECCUncorrectable"), std::string::npos) << message_;
}

TEST_F(GpuTroubleTest, ThatAWitnessDoesNotMeetIsTheSubmissions) {
  EXPECT_EQ(VerdictOf("cudaErrorDevicesUnavailable", "serves"), "API");
}

TEST_F(GpuTroubleTest, IsNotWaitedForWithoutEnd) {
  EXPECT_EQ(VerdictOf("cudaErrorNoDevice", "serves"), "API");
  for (int call = 0; call < 9; ++call) EXPECT_EQ(Call(), "API");
  EXPECT_EQ(calls(), 10 + 6);
}

TEST_F(GpuTroubleTest, WithoutAWitnessHasTheErrorsName) {
  EXPECT_EQ(VerdictOf("cudaErrorDevicesUnavailable", ""), "API");
  EXPECT_NE(message_.find("cudaErrorDevicesUnavailable"), std::string::npos) << message_;
}

TEST_F(GpuTroubleTest, AProgramsOwnErrorIsNotTriedAgain) {
  EXPECT_EQ(VerdictOf("cudaErrorIllegalAddress:1", "serves"), "BOUNDS");
  EXPECT_EQ(calls(), 1);
  EXPECT_EQ(VerdictOf("cudaErrorInvalidValue:1", "serves"), "API");
  EXPECT_EQ(calls(), 1);
}

TEST(ChosenGpuTest, IsTheJudges) {
  ::unsetenv("CUDA_DEVICE_ORDER");
  ::setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  EXPECT_EQ(ChosenGpu(), std::vector<std::string>{"CUDA_VISIBLE_DEVICES=1"});
  ::unsetenv("CUDA_VISIBLE_DEVICES");
  EXPECT_TRUE(ChosenGpu().empty());
}

}  // namespace

int Worker(const std::string& behaviour) { return RunAsWorker(behaviour); }

}  // namespace lockstep::judge

int main(int argc, char** argv) {
  // A sandbox's command is followed by env, the variables and the worker.
  if (argc > 2 && std::string(argv[1]) == "--as-worker") {
    for (int i = 2; i < argc; ++i) {
      if (std::string(argv[i]).starts_with("CALLS=")) ::putenv(argv[i]);
    }
    return lockstep::judge::Worker(argv[argc - 1]);
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
