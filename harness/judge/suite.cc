#include "judge/suite.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <thread>
#include <utility>

namespace lockstep::judge {
namespace {

std::unique_ptr<Suite>& Current() {
  static std::unique_ptr<Suite> suite;
  return suite;
}

std::vector<std::string> ReadPrefix(const std::filesystem::path& path) {
  std::vector<std::string> arguments;
  if (path.empty()) return arguments;
  std::ifstream file(path);
  if (!file) throw HarnessError("can't read " + path.string() + ", the file that --prefix names");
  for (std::string line; std::getline(file, line);) arguments.push_back(line);
  return arguments;
}

}  // namespace

RunnerFactory MakeRunnerFactory(const Options& options, const Limits& limits) {
  return [options, limits](Role role) -> std::unique_ptr<Runner> {
    const std::filesystem::path& worker = role == Role::kReference ? options.reference : options.worker;
    if (worker.empty()) return nullptr;
    if (access(worker.c_str(), X_OK) != 0) {
      throw HarnessError(worker.string() + " is no program; harness/worker/build.sh makes a worker");
    }
    RunnerOptions runner;
    // A reference is trusted, and what is outside of the sandbox can't be seen from inside.
    if (role != Role::kReference) runner.command.prefix = ReadPrefix(options.prefix);
    runner.command.worker = std::filesystem::absolute(worker).string();
    runner.limits.call_seconds = limits.call_seconds;
    runner.limits.output_bytes = limits.output_bytes;
    const bool correctness = role == Role::kChecked || role == Role::kPlain;
    if (options.device == DeviceKind::kCuda && correctness) {
      return MakeWorkerRunner(MakeCudaJudgeDevice(), std::move(runner));
    }
    vgpu::DeviceOptions device;
    const bool checks = role == Role::kChecked && options.checks;
    device.threads = options.threads > 0 ? options.threads : static_cast<int>(std::thread::hardware_concurrency());
    if (device.threads < 1) device.threads = 1;
    device.check_races = device.check_uninitialized = device.check_sync = checks;
    device.instruction_budget = limits.instruction_budget;
    device.memory_bytes = limits.memory_mb << 20;
    return MakeWorkerRunner(MakeVgpuJudgeDevice(options.profile, device, limits.output_bytes), std::move(runner));
  };
}

Suite::Suite(Options options, Assignment assignment, std::string name, uint64_t seed, RunnerFactory factory)
    : options_(std::move(options)), assignment_(std::move(assignment)), factory_(std::move(factory)) {
  results_.assignment = assignment_.id;
  results_.suite = std::move(name);
  results_.seed = seed;
}

Suite& Suite::Get() { return *Current(); }

void Suite::Set(std::unique_ptr<Suite> suite) { Current() = std::move(suite); }

Role Suite::Shared(Role role) const {
  const bool cuda = options_.device == DeviceKind::kCuda;
  if (role == Role::kPlain && cuda) return Role::kChecked;
  if (role == Role::kMeasured && !cuda) return Role::kPlain;
  return role;
}

bool Suite::has_runner(Role role) {
  role = Shared(role);
  auto& runner = runners_[role];
  if (runner == nullptr) runner = factory_(role);
  return runner != nullptr;
}

Runner& Suite::runner(Role role) {
  if (!has_runner(role)) throw HarnessError("no worker was given: --worker=PATH");
  return *runners_.at(Shared(role));
}

std::vector<std::string> Suite::SelectedRungs() const {
  std::vector<std::string> rungs;
  for (const Rung& rung : assignment_.rungs) {
    if (RungMatches(rung.id, options_.rung)) rungs.push_back(rung.id);
  }
  return rungs;
}

std::string Suite::ReproduceLine(const std::string& test) const {
  const std::string flags = "--seed=" + std::to_string(seed()) + " --gtest_filter=" + test;
  if (results_.suite == "public") return "make test FLAGS='" + flags + "'";
  return assignment_.id + "_full_suite --assignment=assignments/" + assignment_.id + " --worker=WORKER " + flags;
}

bool Suite::IsBonus(const std::string& rung) const {
  const Rung* found = assignment_.FindRung(rung);
  return found != nullptr && found->bonus;
}

void Suite::Save() const {
  if (!options_.result.empty()) WriteAtomically(options_.result, ResultJson(results_));
  if (!options_.record.empty() && results_.finished) WriteAtomically(options_.record, FiguresJson(results_));
}

}  // namespace lockstep::judge
