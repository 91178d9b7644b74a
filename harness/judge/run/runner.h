// A callable submission: its worker, and the device that it uses.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "judge/device/device.h"
#include "judge/run/call.h"
#include "judge/run/wall_budget.h"
#include "judge/session/launch_editor.h"
#include "judge/session/session.h"

namespace lockstep::judge {

class Runner {
 public:
  virtual ~Runner() = default;
  virtual JudgeDevice& device() = 0;
  // How many devices the submission has; `device` is the first.
  virtual int devices() const { return 1; }
  // Never fails because of the submission: the report describes failures, and the next call gets a running worker and a
  // working device. A fault destroys the device's memory. Throws HarnessError.
  virtual CallReport Call(const std::string& launcher, std::span<const worker::Argument> arguments) = 0;
  // Several calls, one after the other. If the launcher only computes on the host they are one exchange with the
  // worker, and the first report has the output of all.
  virtual std::vector<CallReport> CallAll(const std::string& launcher,
                                          std::span<const std::vector<worker::Argument>> calls) {
    std::vector<CallReport> reports;
    for (const std::vector<worker::Argument>& arguments : calls) reports.push_back(Call(launcher, arguments));
    return reports;
  }
  // Limits later calls to what inputs of this size need, in instructions per launch and in launches: a hang with a
  // small input is found quickly. No effect on a real GPU.
  virtual void LimitInstructions(uint64_t /*elements*/) {}
  // Makes the nth device allocation (from 1) in the next call fail with out of memory. No effect on a real GPU.
  virtual void FailAllocation(uint64_t /*nth*/) {}
  // Makes the nth copy, or launch, fail: it returns an error.
  virtual void FailCopy(uint64_t /*nth*/) {}
  virtual void FailLaunch(uint64_t /*nth*/) {}
  // Rounds kernels' modelled times seen through events in later calls to steps of this many microseconds; 0: to a power
  // of two. No effect on a real GPU.
  virtual void QuantizeTimes(double /*step_us*/) {}

  // For timings on a real GPU: PrepareBatch sends the worker a batch of calls, and RunBatch runs the first `calls` of
  // them in sequence. RunBatch's CallReport::seconds is the time for all of them including the wait for the device.
  virtual CallReport PrepareBatch(const std::string& /*launcher*/,
                                  std::span<const std::vector<worker::Argument>> /*calls*/) {
    throw HarnessError("this runner makes no batches of calls");
  }
  virtual CallReport RunBatch(uint32_t /*calls*/) { throw HarnessError("this runner makes no batches of calls"); }
  // Stops the worker's processes (SIGSTOP) until the next call, batch or preparation; their queued GPU work continues.
  virtual void Hold() {}
  // Ends the worker: the next call starts a new one.
  virtual void Restart() {}
};

// Warp instructions allowed per launch: a constant, plus some per input element and per warp launched. The assignments'
// kernels need at most about 10 per element, and 250 if a block handles a single one; an idle warp needs about 30.
inline constexpr uint64_t kInstructions = 1'000'000;
inline constexpr uint64_t kInstructionsPerElement = 250;
inline constexpr uint64_t kInstructionsPerWarp = 1'000;

// Kernels that one call may launch for an input of this size. Multi-pass designs need tens. One launch per matrix row
// exceeds it if rows are many and short. The limit bounds a side channel: each launch's time can tell the host some
// bits found by the kernel. For the smallest evidence, 512 elements of 7.65 bits, 204 launches at 16 bits each would
// reveal less than everything.
inline constexpr uint64_t LaunchesFor(uint64_t elements) { return std::min<uint64_t>(200 + elements / 128, 10'000); }

// State about a submission, shared by its runners.
struct SubmissionMemory {
  std::map<std::string, int> timed_out;    // by launcher, how often
  std::optional<CallReport> failed_start;  // why its worker is not started again
  int gpu_pauses = 0;                      // how often the runner waited for a real GPU to recover
  WallBudget budget;
  worker::LaunchEditor* editor = nullptr;  // intercepts launches; nullptr: none
  bool forgets = false;                    // each call gets a new worker
};

struct RunnerOptions {
  worker::WorkerCommand command;
  worker::Limits limits;
  uint64_t judge_bytes = ~uint64_t{0};  // memory limit of this process, above which requests are refused
  int devices = 1;                      // devices of the program, if there are so many
  bool cublas = false, cufft = false;   // the program may use the library
  std::vector<uint8_t> image;           // what nvcc made of the submission (made_image.h); empty: any code will do
  std::string witness;                  // path of a worker without a submission (witness.h); "": there is none
  std::shared_ptr<SubmissionMemory> memory = std::make_shared<SubmissionMemory>();
};

// Runs a worker process. It is started at the first call, and again whenever it ended. Repeated failures are not waited
// for each time: a worker that fails to start twice in a row, or exceeds a call's time once while starting, is not
// started again, and later calls get the last report. A launcher that timed out twice is not called a third time, and
// none is once the budget is used up; the report says so (not_called).
std::unique_ptr<Runner> MakeWorkerRunner(std::unique_ptr<JudgeDevice> device, RunnerOptions options);

}  // namespace lockstep::judge
