// A submission that can be called: its worker, and the device that it works on.
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
  // Never fails for what the submission does: the report says it, and the next call finds a worker that runs and a
  // device that works. A fault takes the memory on the device with it. Throws HarnessError.
  virtual CallReport Call(const std::string& launcher, std::span<const worker::Argument> arguments) = 0;
  // The same of several calls, one after the other. Where the launcher only computes on the host they are one exchange
  // with the worker, and what they printed is with the first.
  virtual std::vector<CallReport> CallAll(const std::string& launcher,
                                          std::span<const std::vector<worker::Argument>> calls) {
    std::vector<CallReport> reports;
    for (const std::vector<worker::Argument>& arguments : calls) reports.push_back(Call(launcher, arguments));
    return reports;
  }
  // Bounds each launch of the calls that follow, below the assignment's own limit, as for an input of so many elements:
  // a hang with a small input is found in a moment. Nothing on a real GPU.
  virtual void LimitInstructions(uint64_t /*elements*/) {}
  // The nth allocation of device memory (from 1) in the next call runs out of memory, as on a full device. Nothing on a
  // real GPU.
  virtual void FailAllocation(uint64_t /*nth*/) {}
  // The same of the nth copy: it moves nothing and returns an error.
  virtual void FailCopy(uint64_t /*nth*/) {}
  // In the calls that follow, what events say of a kernel's modelled time has steps of so many microseconds; 0: only
  // its power of two is told. Nothing on a real GPU.
  virtual void QuantizeTimes(double /*step_us*/) {}

  // For timings, on a real GPU: tells the worker of calls to be made later, then has the first `calls` of them made,
  // one after the other. The second's CallReport::seconds is the time of them all and of the wait for the device.
  virtual CallReport PrepareBatch(const std::string& /*launcher*/,
                                  std::span<const std::vector<worker::Argument>> /*calls*/) {
    throw HarnessError("this runner makes no batches of calls");
  }
  virtual CallReport RunBatch(uint32_t /*calls*/) { throw HarnessError("this runner makes no batches of calls"); }
  // Stops the worker's processes where they are, until the next call, batch or preparation; what they have the GPU do
  // goes on.
  virtual void Hold() {}
  // Ends the worker: the next call finds a new one.
  virtual void Restart() {}
};

// Warp instructions that a launch may take: so many, and so many more for each element of the input and for each warp
// launched. Kernels of the assignments need some 10 an element at most and 250 where a block of threads takes a single
// one; a warp that finds nothing to do needs some 30.
inline constexpr uint64_t kInstructions = 1'000'000;
inline constexpr uint64_t kInstructionsPerElement = 250;
inline constexpr uint64_t kInstructionsPerWarp = 1'000;

// Kernels that one call may launch for an input of so many elements. Designs in passes take tens. One for each row of a
// matrix is over it where rows are many and short. Each launch can tell the host some bits of what the kernel found, by
// the time that it takes: of the smallest evidence, 512 elements of 7.65 bits, 204 launches at 16 bits each would tell
// less than all.
inline constexpr uint64_t LaunchesFor(uint64_t elements) { return std::min<uint64_t>(200 + elements / 128, 10'000); }

// What is known of a submission. Its runners share it.
struct SubmissionMemory {
  std::map<std::string, int> timed_out;    // by launcher, how often
  std::optional<CallReport> failed_start;  // why its worker is not started again
  int gpu_pauses = 0;                      // times that a real GPU's trouble was waited out
  WallBudget budget;
  worker::LaunchEditor* editor = nullptr;  // that launches go through; nullptr: there is none
};

struct RunnerOptions {
  worker::WorkerCommand command;
  worker::Limits limits;
  uint64_t judge_bytes = ~uint64_t{0};  // of this process, from which on a request is refused
  bool cublas = false, cufft = false;   // the program may ask for the library's work
  std::vector<uint8_t> image;           // what nvcc made of the submission (made_image.h); empty: any code will do
  std::string witness;                  // path of a worker without a submission (witness.h); "": there is none
  std::shared_ptr<SubmissionMemory> memory = std::make_shared<SubmissionMemory>();
};

// Runs a worker process. It is started at the first call, and again after whatever ended it. What fails over and over
// is not waited for each time: a worker that does not start twice in a row, or once within the time of a call, is not
// started again, and a launcher that timed out twice is not called a third time; the last report stands for the calls
// that follow. The same holds for all calls once the budget is spent.
std::unique_ptr<Runner> MakeWorkerRunner(std::unique_ptr<JudgeDevice> device, RunnerOptions options);

}  // namespace lockstep::judge
