#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <thread>
#include <utility>

#include "judge/model/text.h"
#include "judge/run/memory_watch.h"
#include "judge/run/runner.h"
#include "judge/run/witness.h"
#include "judge/session/processor_time.h"
#include "judge/session/session_device.h"
#include "vgpu/core/hint.h"
#include "vgpu/device/page_data.h"
#include "vgpu/exec/block_replay.h"

namespace lockstep::judge {
namespace {

// After this many equal failures there is no further attempt.
constexpr int kMaxFailures = 2;

// Pauses before a call that met trouble of the real GPU is repeated, and the number of retries in all runs of a
// submission.
constexpr std::chrono::milliseconds kGpuPauses[] = {std::chrono::milliseconds(100), std::chrono::milliseconds(1000)};
constexpr int kMaxGpuPauses = 6;

// Errors caused by the GPU, its driver or its other users, by CUDA's names. A program can cause some of them, and fake
// any.
constexpr std::array<std::string_view, 10> kGpuTroubles = {
    "cudaErrorDevicesUnavailable", "cudaErrorECCUncorrectable",     "cudaErrorNvlinkUncorrectable",
    "cudaErrorSystemNotReady",     "cudaErrorSystemDriverMismatch", "cudaErrorInsufficientDriver",
    "cudaErrorNoDevice",           "cudaErrorMpsConnectionFailed",  "cudaErrorMpsServerNotReady",
    "cudaErrorOperatingSystem"};

worker::WorkerCommand ControlWorkerOf(const RunnerOptions& options) {
  worker::WorkerCommand command = options.command;
  command.worker = options.witness;
  return command;
}

// The maximum CUDA calls of a launcher that will return: correct ones make less than a thousand, or a few per launch.
constexpr size_t kMostCalls = 5000;

// Serves on the virtual GPU, with limits on launches per call (each leaves a record), on all calls, and on this
// process's memory.
class BoundedServer : public worker::CudaServer {
 public:
  struct TooManyLaunches {};
  struct TooManyCalls {};
  struct TooMuchMemory {};

  BoundedServer(vgpu::Device& device, const RunnerOptions& options)
      : device_(device),
        server_(device, {.devices = options.devices,
                         .cublas = options.cublas,
                         .cufft = options.cufft,
                         .image = options.image,
                         .editor = options.memory->editor}),
        most_bytes_(options.judge_bytes) {}

  void BeginCall(std::span<const worker::Argument> arguments) override {
    server_.BeginCall(arguments);
    launches_ = calls_until_fault_ = 0;
  }
  worker::Message Serve(const worker::Message& request) override {
    const bool is_launch =
        request.type == worker::MessageType::kLaunch || request.type == worker::MessageType::kLibrary;
    if (is_launch && ++launches_ > most_launches_) throw TooManyLaunches();
    worker::Message reply = server_.Serve(request);
    const size_t calls = server_.trace().size();
    if (!device_.faulted()) calls_until_fault_ = calls;
    const size_t of_launches = device_.faulted() ? calls_until_fault_ : 8 * most_launches_;
    if (calls > std::max<size_t>(kMostCalls, of_launches)) throw TooManyCalls();
    const bool may_take_much = is_launch || request.type == worker::MessageType::kLoadModule ||
                               request.type == worker::MessageType::kLoadLinked;
    if ((may_take_much || ++served_ % kServedAtOnce == 0) && ResidentBytes() > most_bytes_) throw TooMuchMemory();
    return reply;
  }
  void EndSession() override { server_.EndSession(); }
  worker::DeviceServer& server() { return server_; }
  void set_most_launches(uint64_t launches) { most_launches_ = launches; }

 private:
  // Other requests bring at most a piece of a transfer, so memory is checked only after this many.
  static constexpr uint64_t kServedAtOnce = 16;

  const vgpu::Device& device_;
  worker::DeviceServer server_;
  const uint64_t most_bytes_;
  uint64_t launches_ = 0, served_ = 0, calls_until_fault_ = 0;
  uint64_t most_launches_ = LaunchesFor(~uint64_t{0});
};

class WorkerRunner : public Runner {
 public:
  WorkerRunner(std::unique_ptr<JudgeDevice> device, RunnerOptions options)
      : device_(std::move(device)),
        options_(std::move(options)),
        memory_(*options_.memory),
        session_(options_.command),
        witness_(ControlWorkerOf(options_), options_.limits) {
    if (vgpu::Device* virtual_device = device_->virtual_device()) {
      bounded_server_ = std::make_unique<BoundedServer>(*virtual_device, options_);
    }
    device_->set_reclaim([this] { Restart(); });
  }
  ~WorkerRunner() override { session_.Stop(); }

  JudgeDevice& device() override { return *device_; }
  int devices() const override { return std::min(options_.devices, device_->most_devices()); }

  void LimitInstructions(uint64_t elements) override {
    if (vgpu::Device* virtual_device = device_->virtual_device()) {
      virtual_device->set_instruction_budget(kInstructions + kInstructionsPerElement * elements, kInstructionsPerWarp);
      bounded_server_->set_most_launches(LaunchesFor(elements));
    }
  }

  void FailAllocation(uint64_t nth) override {
    if (bounded_server_ != nullptr) bounded_server_->server().FailAllocation(nth);
  }
  void FailCopy(uint64_t nth) override {
    if (bounded_server_ != nullptr) bounded_server_->server().FailCopy(nth);
  }
  void FailLaunch(uint64_t nth) override {
    if (bounded_server_ != nullptr) bounded_server_->server().FailLaunch(nth);
  }
  void QuantizeTimes(double step_us) override {
    if (bounded_server_ != nullptr) bounded_server_->server().QuantizeTimes(step_us);
  }

  // All calls in one exchange if that succeeds: an exchange takes longer than the computation. Otherwise one by one, to
  // find the failing call; if none fails alone, the last one reports the failure.
  std::vector<CallReport> CallAll(const std::string& launcher,
                                  std::span<const std::vector<worker::Argument>> calls) override {
    if (bounded_server_ == nullptr || calls.size() < 2 || memory_.timed_out.contains(launcher) || EnsureStarted()) {
      return Runner::CallAll(launcher, calls);
    }
    ClearRecords();
    std::vector<worker::CallResult> results;
    CallReport whole = Converse([&] {
      results = session_.CallAll(launcher, calls, options_.limits, server());
      return results.front();
    });
    AfterCall(whole);
    NoteTimeout(launcher, whole);
    const bool returned = whole.outcome == worker::Outcome::kReturned;
    if (!returned || !whole.trace.empty() || !whole.launches.empty() || !whole.findings.empty() ||
        !whole.refusals.empty()) {
      std::vector<CallReport> reports = Runner::CallAll(launcher, calls);
      const bool all_return = std::all_of(reports.begin(), reports.end(), [](const CallReport& report) {
        return report.outcome == worker::Outcome::kReturned;
      });
      if (!returned && all_return) reports.back() = std::move(whole);
      return reports;
    }
    std::vector<CallReport> reports(calls.size(), whole);
    for (size_t k = 1; k < calls.size(); ++k) {
      reports[k].output.clear();
      reports[k].seconds = 0;
      TakeReturned(results[k], reports[k]);
    }
    return reports;
  }

  CallReport Call(const std::string& launcher, std::span<const worker::Argument> arguments) override {
    const auto& timeouts = memory_.timed_out;
    if (const auto hung = timeouts.find(launcher); hung != timeouts.end() && hung->second >= kMaxFailures) {
      return NotCalled(
          "not called again: " + launcher + " timed out " + std::to_string(kMaxFailures) + " times before this test",
          Hint::kTimedOutBefore);
    }
    if (memory_.forgets) session_.Stop();
    if (auto failure = EnsureStarted()) return *failure;
    ClearRecords();
    CallReport report = CallOnce(launcher, arguments);
    if (IsLeftOver(report)) {
      session_.Stop();
      if (auto failure = EnsureStarted()) return *failure;
      report = CallOnce(launcher, arguments);
    }
    for (const std::chrono::milliseconds pause : kGpuPauses) {
      if (!IsGpuTrouble(report) || memory_.gpu_pauses == kMaxGpuPauses) break;
      ++memory_.gpu_pauses;
      session_.Stop();
      std::this_thread::sleep_for(pause);
      if (auto failure = EnsureStarted()) return *failure;
      report = CallOnce(launcher, arguments);
    }
    BlameForTrouble(report, launcher, arguments);
    BlameForAnswer(report, launcher, arguments);
    AfterCall(report);
    NoteTimeout(launcher, report);
    return report;
  }

  CallReport PrepareBatch(const std::string& launcher, std::span<const std::vector<worker::Argument>> calls) override {
    if (auto failure = EnsureStarted()) return *failure;
    CallReport report = Converse([&] { return session_.Prepare(launcher, calls, options_.limits, server()); });
    if (!calls.empty()) BlameForAnswer(report, launcher, calls[0]);
    AfterCall(report);
    return report;
  }

  CallReport RunBatch(uint32_t calls) override {
    CallReport report = Converse([&] { return session_.RunBatch(calls, options_.limits, server()); });
    AfterCall(report);
    return report;
  }

  void Hold() override { session_.Hold(); }
  void Restart() override { session_.Stop(); }

 private:
  CallReport CallOnce(const std::string& launcher, std::span<const worker::Argument> arguments) {
    return Converse([&] { return session_.Call(launcher, arguments, options_.limits, server()); });
  }

  void NoteTimeout(const std::string& launcher, const CallReport& report) {
    const bool kernel_timeout = std::any_of(report.findings.begin(), report.findings.end(), [](const auto& finding) {
      return finding.kind == vgpu::FindingKind::kTimeout;
    });
    if (!kernel_timeout && report.outcome != worker::Outcome::kTimeout &&
        report.outcome != worker::Outcome::kDeviceTimeout) {
      return;
    }
    ++memory_.timed_out[launcher];
  }

  CallReport NotCalled(const std::string& why, Hint hint) const {
    CallReport report;
    report.outcome = worker::Outcome::kTimeout;
    report.observed = bounded_server_ != nullptr;
    report.not_called = why;
    report.not_called_hint = hint;
    return report;
  }

  // Ensures a running worker, or returns a report of why there is none.
  std::optional<CallReport> EnsureStarted() {
    if (const std::string exceeded = memory_.budget.Exceeded(); !exceeded.empty()) {
      return NotCalled(exceeded, Hint::kCallsTooSlowTogether);
    }
    if (session_.alive()) return std::nullopt;
    if (memory_.failed_start) return memory_.failed_start;
    for (int failures = 1;; ++failures) {
      ClearRecords();
      CallReport report = Converse([&] { return session_.Start(options_.limits, server()); });
      if (report.outcome == worker::Outcome::kReturned) {
        before_main_ = WorkOf(report);
        return std::nullopt;
      }
      report.at_start = true;
      BlameForStart(report);
      Recover();
      if (failures < kMaxFailures && report.outcome != worker::Outcome::kTimeout) continue;
      memory_.failed_start = report;
      return report;
    }
  }

  // Decides whose fault it is that a worker did not start.
  void BlameForStart(CallReport& report) {
    report.loaded = report.outcome != worker::Outcome::kCouldNotStart;
    if (options_.witness.empty()) return;
    if (!witness_.Starts()) {
      report.outcome = worker::Outcome::kCouldNotStart;
    } else if (!report.loaded) {
      report.outcome = report.ended_by == worker::Outcome::kCouldNotStart ? worker::Outcome::kCrashed : report.ended_by;
    }
  }

  // A worker reports that it can't make a call: no launcher of that name, or another signature. Every properly built
  // worker has those of the glue.
  void BlameForAnswer(CallReport& report, const std::string& launcher, std::span<const worker::Argument> arguments) {
    if (report.outcome != worker::Outcome::kNoSuchLauncher && report.outcome != worker::Outcome::kBadSignature) return;
    if (!witness_.CouldCall(launcher, arguments)) return;
    report.outcome = worker::Outcome::kProtocolError;
    session_.Stop();
  }

  // Device work in start-up code that only a launcher may do. The first call's records begin after it.
  static std::string WorkOf(const CallReport& report) {
    const uint64_t copies = report.api.copies_to_device + report.api.copies_on_device + report.api.copies_to_host;
    if (!report.launches.empty()) return "launched " + Counted(report.launches.size(), "kernel");
    if (copies > 0) return "made " + Counted(copies, "copy", "copies") + " from or to the device";
    if (report.api.fills > 0) return "filled device memory by " + Counted(report.api.fills, "call");
    return "";
  }

  // A fault of work that an earlier call left on a real GPU appears when the next call opens its buffers. The next call
  // is not at fault: a new worker repeats it.
  bool IsLeftOver(const CallReport& report) const {
    return bounded_server_ == nullptr && report.outcome == worker::Outcome::kBadSignature;
  }

  bool IsGpuTrouble(const CallReport& report) const {
    return bounded_server_ == nullptr && std::ranges::find(kGpuTroubles, report.cuda_error) != kGpuTroubles.end();
  }

  // The call was repeated, and the GPU's error persists. If a control worker can use the GPU now, the submission caused
  // the error.
  void BlameForTrouble(CallReport& report, const std::string& launcher, std::span<const worker::Argument> arguments) {
    if (options_.witness.empty() || !IsGpuTrouble(report)) return;
    session_.Stop();
    if (ControlWorker(ControlWorkerOf(options_), options_.limits).CouldCall(launcher, arguments)) return;
    report.outcome = worker::Outcome::kCouldNotStart;
    report.detail = "the GPU can't be used: " + report.cuda_error;
    report.cuda_error.clear();
  }

  void AfterCall(const CallReport& report) {
    Recover();
    // On a real GPU most errors persist in the worker's context.
    if (!report.observed && !report.cuda_error.empty()) session_.Stop();
  }

  worker::CudaServer& server() {
    if (bounded_server_ != nullptr) return *bounded_server_;
    return no_server_;
  }

  template <class Exchange>
  CallReport Converse(Exchange exchange) {
    worker::CallResult result;
    bool too_many = false, endless = false, too_much = false;
    const double begin = worker::WallSeconds(), processor = worker::ProcessorSeconds();
    try {
      result = exchange();
    } catch (const BoundedServer::TooManyLaunches&) {
      too_many = true;
      result.outcome = worker::Outcome::kDeviceTimeout;
    } catch (const BoundedServer::TooManyCalls&) {
      too_many = endless = true;
      result.outcome = worker::Outcome::kDeviceTimeout;
    } catch (const BoundedServer::TooMuchMemory&) {
      too_much = true;
    }
    if (too_many || too_much) {
      // Interrupted during a request, so its time was not recorded.
      const double seconds = worker::WallSeconds() - begin;
      result.device_seconds = std::min(seconds, worker::ProcessorSeconds() - processor);
      result.seconds = seconds - result.device_seconds;
    }
    memory_.budget.Spend(result.seconds, result.device_seconds);
    CallReport report = Collect(std::move(result));
    report.endless = endless;
    if (too_many || too_much) session_.Stop();
    if (too_much) {
      report.refusals.push_back("the program's requests took more than " + std::to_string(options_.judge_bytes >> 20) +
                                " MiB of the judge's memory");
      ReturnFreeMemory();
    }
    return report;
  }

  void ClearRecords() {
    if (bounded_server_ == nullptr) return;
    bounded_server_->server().ClearTrace();
    device_->virtual_device()->ClearRecords();
    if (const auto& log = device_->virtual_device()->options().replay) log->replays.clear();
    device_->TakePrinted();
  }

  // The results of each single call.
  static void TakeReturned(worker::CallResult& result, CallReport& report) {
    report.cuda_error = result.cuda_error != 0 && result.cuda_error_name.empty()
                            ? "error " + std::to_string(result.cuda_error)
                            : result.cuda_error_name;
    report.value = result.result;
    report.arrays = std::move(result.arrays);
  }

  CallReport Collect(worker::CallResult result) {
    CallReport report;
    report.outcome = result.outcome;
    report.ended_by = result.ended_by;
    report.code = result.code;
    TakeReturned(result, report);
    report.detail = std::move(result.message);
    report.stopped = std::move(result.stopped);
    report.output = std::move(result.output) + device_->TakePrinted();
    report.limit_seconds = result.busy ? options_.limits.busy_seconds : options_.limits.call_seconds;
    report.seconds = result.seconds;
    report.observed = bounded_server_ != nullptr;
    report.before_main = before_main_;
    if (report.observed) {
      const vgpu::Device& virtual_device = *device_->virtual_device();
      if (virtual_device.options().replay != nullptr) {
        report.page = std::make_shared<const vgpu::PageData>(vgpu::PageDataOf(virtual_device));
      }
      report.findings = virtual_device.findings().findings();
      report.launches = virtual_device.launches();
      report.trace = bounded_server_->server().trace();
      report.operations = bounded_server_->server().operations();
      report.memory = bounded_server_->server().memory_use();
      report.api = CountApi(report.trace, report.memory);
      report.variable_bytes = virtual_device.variable_bytes();
      report.held_bytes = bounded_server_->server().held_before();
      report.heap_bytes = virtual_device.heap_bytes();
      report.refusals = bounded_server_->server().violations();
    }
    return report;
  }

  // The worker of a faulted device is useless: both start over.
  void Recover() {
    if (!device_->faulted()) return;
    session_.Stop();
    device_->Reset();
  }

  std::unique_ptr<JudgeDevice> device_;
  RunnerOptions options_;
  SubmissionMemory& memory_;
  std::unique_ptr<BoundedServer> bounded_server_;
  NoServer no_server_;
  worker::WorkerSession session_;
  std::string before_main_;
  ControlWorker witness_;
};

}  // namespace

std::unique_ptr<Runner> MakeWorkerRunner(std::unique_ptr<JudgeDevice> device, RunnerOptions options) {
  return std::make_unique<WorkerRunner>(std::move(device), std::move(options));
}

}  // namespace lockstep::judge
