// Measured time on a real GPU, precise enough to be graded.
//
// In each repeat the worker makes a batch of calls on separate buffers that together exceed the cache. While the worker
// is stopped, the inputs are filled with new values, the outputs are poisoned, and the GPU's cache is flushed. The
// judge's clock runs from the request until the worker has answered and the judge has read some elements of each output
// in one short kernel, so deferred work is either waited for or missing from the output. The time of one call is that
// time, less the time of an empty batch, divided by the number of calls. Then every element is checked. The reference
// does the same in the same repeat, and so does a plain copy, so a temporary slowdown of the GPU affects all three; the
// submission's worker is stopped meanwhile.
//
// A criterion's figure is a ratio of times. Repeats continue until its interval decides the points. If the limit of
// repeats is reached first, the result is inconclusive; nothing is guessed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "judge/input/seed.h"
#include "judge/model/assignment.h"
#include "judge/model/statistics.h"
#include "judge/run/call.h"
#include "judge/run/runner.h"

namespace lockstep::judge {

// The buffers of one call in a batch. Each suite with timings has its own kind.
class Workload {
 public:
  virtual ~Workload() = default;
  // The contents to fill in (except the seed, chosen by the judge), and the expected output.
  virtual GpuJob Job() const = 0;
  virtual void Poison() = 0;  // outputs and scratch
  virtual std::vector<worker::Argument> Arguments() const = 0;
  // The minimum bytes that a call has to read and write: a lower bound of its time.
  virtual uint64_t LeastBytes() const = 0;
};
// Makes the workload of a rung's call number `call` in a batch; calls need not be alike. Throws HarnessError if the
// rung can't be timed.
using WorkloadFactory = std::function<std::unique_ptr<Workload>(JudgeDevice& device, const std::string& rung,
                                                                uint64_t elements, uint32_t call)>;

// Registers a suite's workload; called before main by the suite's own source. Returns true.
bool RegisterWorkload(WorkloadFactory factory);
const WorkloadFactory& RegisteredWorkload();  // empty: the suite has no timings

struct TimingLimits {
  int first_repeats = 16;
  int most_repeats = 240;
  // About how many bytes a batch moves: far more than the cache holds, and enough that a batch takes much longer than
  // the 50 µs by which round trips vary.
  uint64_t batch_bytes = uint64_t{32} << 30;
  double memory_share = 0.25;  // share of the GPU's free memory for its buffers
  uint32_t least_calls = 16, most_calls = 256;
  // If a batch would take longer than this, it has fewer calls; if a single call does, fewer batches suffice: six, the
  // minimum that bounds a median.
  double batch_seconds = 1;
  int first_repeats_if_slow = 6;
  // An idle GPU answers well within this; one shared with another process's kernels has time slices of a millisecond or
  // more.
  double idle_seconds = 2e-4;
  double memory_to_leave = 0.5;  // share of the GPU's free memory that a submission must leave free
  double release_seconds = 10;   // how long the GPU may take to release an ended worker's memory
  // Share of the points: an interval worth no more than this is conclusive.
  double tolerance = 0.02;
};

// Seconds per call, for each repeat.
struct Timing {
  std::string rung;
  uint64_t elements = 0, least_bytes = 0;  // of a call; bytes on average
  uint32_t calls = 0;                      // per batch
  std::vector<double> submission, reference, copy;
  std::vector<Problem> problems;                         // of the submission
  std::vector<std::pair<std::string, std::string>> gpu;  // its state before and after
  bool throttled = false;

  // A criterion's figure: the time of the reference, or of a copy that moves as much, divided by the submission's.
  // Larger is faster.
  Estimate Figure(TimingBase base) const;
};

// Times one rung of a submission against the reference. `enough` says whether the repeats so far suffice; it is called
// after each one from first_repeats on. Without a reference (nullptr) it is compared only with the copy. Throws
// HarnessError if the reference fails.
Timing TimeRung(Runner& submission, Runner* reference, const WorkloadFactory& factory, const CallContext& context,
                uint64_t elements, const SeedKey& seed, const TimingLimits& limits,
                const std::function<bool(const Timing&)>& enough);

// Whether an interval decides the points of a budget.
bool Decides(const Estimate& estimate, const Budget& budget, double tolerance);

}  // namespace lockstep::judge
