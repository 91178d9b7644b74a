// Measured time on a real GPU, precise enough to be graded.
//
// In a repeat the worker makes a batch of calls, each on buffers of its own that together exceed the cache. While the
// worker is held, the inputs are filled with values that it has never seen, the outputs are poisoned, and the GPU's
// cache is emptied. The judge's clock runs from the order until the worker has answered and the judge has read the
// outputs: some elements of each, in one short kernel, so deferred work is either waited for or missing from the
// output. The time of one call is that time, less the time of an empty batch, divided by the number of calls. Then
// every element is checked. The reference does the same in the same repeat, and so does a plain copy, so a temporary
// slowdown of the GPU affects all three; the submission's worker is held meanwhile.
//
// A criterion's figure is a ratio of times. Repeats go on until its interval decides the points. If the limit of
// repeats comes first, the result is inconclusive; nothing is guessed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "judge/input/seed.h"
#include "judge/model/assignment.h"
#include "judge/model/statistics.h"
#include "judge/run/call.h"
#include "judge/run/runner.h"

namespace lockstep::judge {

// The buffers of one call of a batch. Each suite that times has its own kind.
class Workload {
 public:
  virtual ~Workload() = default;
  // What it is filled with (but for the seed, which is the judge's to choose), and what its output has to be.
  virtual GpuJob Job() const = 0;
  virtual void Poison() = 0;  // outputs and scratch
  virtual std::vector<worker::Argument> Arguments() const = 0;
  // That a call has to read and write at the least: what bounds its time from below.
  virtual uint64_t LeastBytes() const = 0;
};
// Makes the workload of one call of a rung; `call` counts a batch's, which need not all be alike. Throws HarnessError
// where the rung can't be timed.
using WorkloadFactory = std::function<std::unique_ptr<Workload>(JudgeDevice& device, const std::string& rung,
                                                                uint64_t elements, uint32_t call)>;

// What a suite times; called before main, by the suite's own source. Returns true.
bool RegisterWorkload(WorkloadFactory factory);
const WorkloadFactory& RegisteredWorkload();  // empty: the suite times nothing

struct TimingLimits {
  int first_repeats = 16;
  int most_repeats = 240;
  // A batch moves about this much: far more than the cache holds, and so long that what differs from one round trip to
  // the next, 50 µs or so, matters little.
  uint64_t batch_bytes = uint64_t{32} << 30;
  double memory_share = 0.25;  // of the GPU's free memory that its buffers may take
  uint32_t least_calls = 16, most_calls = 256;
  // Where calls take so long that a batch would take longer than this, it has fewer; and where one call does, fewer
  // batches may decide: six, the least that bound a median.
  double batch_seconds = 1;
  int first_repeats_if_slow = 6;
  // An idle GPU answers well within this; with kernels of another process on it, it takes turns of a millisecond or
  // more.
  double idle_seconds = 2e-4;
  double memory_to_leave = 0.5;  // of the GPU's free memory: what a submission may not keep for itself
  double release_seconds = 10;   // how long the GPU may take to be free of a worker that was ended
  // Of the points: an interval worth no more than this decides.
  double tolerance = 0.02;
};

// Seconds of one call, repeat by repeat.
struct Timing {
  std::string rung;
  uint64_t elements = 0, least_bytes = 0;  // of a call; bytes on the average
  uint32_t calls = 0;                      // of a batch
  std::vector<double> submission, reference, copy;
  std::vector<Problem> problems;                         // of the submission
  std::vector<std::pair<std::string, std::string>> gpu;  // its state before and after
  bool throttled = false;

  // A criterion's figure: the reference's time, or the time of a copy that moves as much, as a multiple of the
  // submission's. Larger is faster.
  Estimate Figure(TimingBase base) const;
};

// Times one rung of a submission beside the reference. `enough` says whether what there is decides; it is asked after
// each repeat from first_repeats on. On a machine that has no reference (nullptr) only the copy is beside it. Throws
// HarnessError where the reference fails.
Timing TimeRung(Runner& submission, Runner* reference, const WorkloadFactory& factory, const CallContext& context,
                uint64_t elements, const SeedKey& seed, const TimingLimits& limits,
                const std::function<bool(const Timing&)>& enough);

// Whether an interval decides the points of a budget.
bool Decides(const Estimate& estimate, const Budget& budget, double tolerance);

}  // namespace lockstep::judge
