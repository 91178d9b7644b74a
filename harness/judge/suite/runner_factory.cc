// Chooses the device and the worker of each role in a real run.
#include <unistd.h>

#include <fstream>
#include <thread>
#include <utility>

#include "judge/run/made_image.h"
#include "judge/suite/suite.h"
#include "vgpu/exec/block_replay.h"
#include "vgpu/exec/debugger.h"

namespace lockstep::judge {
namespace {

std::vector<std::string> ReadPrefix(const std::filesystem::path& path) {
  std::vector<std::string> arguments;
  if (path.empty()) return arguments;
  std::ifstream file(path);
  if (!file) throw HarnessError("can't read " + path.string() + ", the file that --prefix names");
  for (std::string line; std::getline(file, line);) arguments.push_back(line);
  return arguments;
}

}  // namespace

std::shared_ptr<SubmissionMemory> MakeSubmissionMemory(const Limits& limits) {
  return std::make_shared<SubmissionMemory>(
      SubmissionMemory{.timed_out = {},
                       .failed_start = std::nullopt,
                       .budget = WallBudget(limits.test_seconds, limits.submission_seconds)});
}

namespace {

RunnerOptions RunnerOptionsOf(const Options& options, const Limits& limits, const std::filesystem::path& worker,
                              bool is_reference, const std::shared_ptr<SubmissionMemory>& memory) {
  if (access(worker.c_str(), X_OK) != 0) {
    throw HarnessError(worker.string() + " is no program; harness/worker/build.sh makes a worker");
  }
  RunnerOptions runner;
  // A reference is trusted, and files outside the sandbox can't be seen from inside.
  if (!is_reference) runner.command.prefix = ReadPrefix(options.prefix);
  runner.command.worker = std::filesystem::absolute(worker).string();
  if (!is_reference && !options.witness.empty()) runner.witness = std::filesystem::absolute(options.witness).string();
  if (!is_reference) runner.memory = memory;
  runner.limits.call_seconds = limits.call_seconds;
  runner.limits.device_seconds = kMostDeviceSeconds * limits.call_seconds;
  // On a real GPU the host waits by spinning.
  if (options.device == DeviceKind::kVgpu) runner.limits.busy_seconds = limits.busy_seconds;
  runner.limits.output_bytes = limits.output_bytes;
  runner.judge_bytes = limits.judge_mb << 20;
  runner.devices = static_cast<int>(limits.devices);
  if (runner.devices > 1) runner.command.environment = {"LOCKSTEP_DEVICES=" + std::to_string(runner.devices)};
  runner.image = MadeImageOf(runner.command.worker);
  runner.cublas = limits.cublas;
  runner.cufft = limits.cufft;
  return runner;
}

vgpu::DeviceOptions DeviceOptionsOf(const Options& options, const Limits& limits) {
  vgpu::DeviceOptions device;
  device.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
  if (device.threads < 1) device.threads = 1;
  device.instruction_budget = limits.instruction_budget;
  device.launch_seconds = kMostDeviceSeconds * limits.call_seconds;
  device.memory_bytes = limits.memory_mb << 20;
  if (!options.page.empty())
    device.replay = std::make_shared<vgpu::ReplayLog>(vgpu::ReplayLog{0, options.replayed, {}});
  if (options.debug) device.debugger = vgpu::Debugger::OfProcess(*options.debug);
  return device;
}

}  // namespace

RunnerFactory MakeRunnerFactory(const Options& options, const Limits& limits,
                                std::shared_ptr<SubmissionMemory> memory) {
  if (memory == nullptr) memory = MakeSubmissionMemory(limits);
  return [options, limits, memory](Role role) -> std::unique_ptr<Runner> {
    const bool reference = role == Role::kReference || role == Role::kTimedReference;
    const std::filesystem::path& worker = reference ? options.reference : options.worker;
    if (worker.empty()) return nullptr;
    RunnerOptions runner = RunnerOptionsOf(options, limits, worker, reference, memory);
    const bool evidence = role == Role::kMeasured || role == Role::kReference;
    if (options.device == DeviceKind::kCuda && !evidence) {
      runner.command.environment = ChosenGpu();
      runner.command.environment.push_back("LD_LIBRARY_PATH=" + CudaLibraryFolder());
      return MakeWorkerRunner(MakeCudaJudgeDevice(), std::move(runner));
    }
    runner.limits.device_is_processor = true;
    vgpu::DeviceOptions device = DeviceOptionsOf(options, limits);
    const bool measured = role == Role::kMeasured && options.device == DeviceKind::kVgpu;
    if (options.checks && (role == Role::kChecked || measured)) device.checkers = vgpu::CheckerSet::All();
    device.strong_is_data = true;
    // Large inputs take long enough without counters. If nothing is checked, evidence is measured on the same device.
    device.counters = role != Role::kPlain || !options.checks;
    // Evidence is measured on the device that the tests run on, so that a program that queries its properties gets the
    // same answers. Only times may be modelled for another device. Measured runs are checked too: a program can't skip
    // its barriers only when it is measured.
    if (evidence) device.timed_as = &ProfileNamed(options.evidence_profile);
    device.usual_turns = evidence;
    return MakeWorkerRunner(MakeVgpuJudgeDevice(options.profile, device, limits.output_bytes), std::move(runner));
  };
}

ElsewhereFactory MakeElsewhereFactory(const Options& options, const Limits& limits,
                                      const std::shared_ptr<SubmissionMemory>& memory) {
  return [options, limits, memory](const std::string& profile,
                                   const vgpu::DeviceProfile& clock) -> std::unique_ptr<Runner> {
    RunnerOptions runner = RunnerOptionsOf(options, limits, options.worker, /*is_reference=*/false, memory);
    runner.limits.device_is_processor = true;
    vgpu::DeviceOptions device = DeviceOptionsOf(options, limits);
    device.timed_as = &clock;
    device.usual_turns = true;
    return MakeWorkerRunner(MakeVgpuJudgeDevice(profile, device, limits.output_bytes), std::move(runner));
  };
}

}  // namespace lockstep::judge
