#include "judge/timing.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <utility>

#include "judge/inputs.h"
#include "judge/text.h"

namespace lockstep::judge {
namespace {

WorkloadFactory& Registered() {
  static WorkloadFactory factory;
  return factory;
}

std::string Microseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f µs", 1e6 * seconds);
  return text;
}

// One batch of one worker.
class Batch {
 public:
  Batch(Runner& runner, const std::vector<std::unique_ptr<Workload>>& workloads, const CallContext& context)
      : runner_(runner), workloads_(workloads), context_(context) {}

  // Seconds of the batch; or what went wrong, in problems.
  std::optional<double> Run(Gpu& gpu, std::vector<Problem>& problems) {
    for (const auto& workload : workloads_) workload->Poison();
    std::vector<std::vector<worker::Argument>> calls;
    for (const auto& workload : workloads_) calls.push_back(workload->Arguments());
    if (!Fine(runner_.PrepareBatch(context_.launcher, calls), problems)) return std::nullopt;
    gpu.ClearCache();
    const CallReport report = runner_.RunBatch(static_cast<uint32_t>(calls.size()));
    if (!Fine(report, problems)) return std::nullopt;
    for (auto workload = workloads_.rbegin(); workload != workloads_.rend(); ++workload) {
      std::vector<Problem> wrong = (*workload)->Check(gpu, context_);
      problems.insert(problems.end(), std::make_move_iterator(wrong.begin()), std::make_move_iterator(wrong.end()));
      if (!problems.empty()) return std::nullopt;
    }
    return report.seconds;
  }

  // Seconds of a batch without calls.
  double RunEmpty(std::vector<Problem>& problems) {
    const CallReport report = runner_.RunBatch(0);
    Fine(report, problems);
    return report.seconds;
  }

 private:
  bool Fine(const CallReport& report, std::vector<Problem>& problems) const {
    std::vector<Problem> found = ProblemsOf(report, context_);
    problems.insert(problems.end(), std::make_move_iterator(found.begin()), std::make_move_iterator(found.end()));
    return found.empty();
  }

  Runner& runner_;
  const std::vector<std::unique_ptr<Workload>>& workloads_;
  const CallContext& context_;
};

// A time that moving the bytes alone would exceed was not spent on the work.
std::optional<Problem> TooFast(const Timing& timing, double seconds, const Gpu& gpu, const CallContext& context) {
  const double floor = static_cast<double>(timing.least_bytes) / gpu.peak_bytes_per_second();
  if (seconds >= floor) return std::nullopt;
  return MakeProblem(Verdict::kRejected, context,
                     {"a call took " + Microseconds(seconds) + "; this GPU's memory needs " + Microseconds(floor) +
                      " to move the " + Grouped(timing.least_bytes) + " bytes alone"},
                     "each call has to do its own work, on its own buffers");
}

void ThrowOnProblem(const std::vector<Problem>& problems, const std::string& launcher) {
  if (const Problem* worst = Worst(problems)) {
    throw HarnessError("the reference's " + launcher +
                       " failed while it was timed: " + FormatProblem(*worst, "timing"));
  }
}

void NoteState(const char* when, const Gpu& gpu, Timing& timing) {
  const GpuState state = gpu.State();
  timing.throttled |= state.throttled;
  for (const auto& [name, value] : state.facts) timing.gpu.emplace_back(name + ", " + when, value);
}

}  // namespace

bool RegisterWorkload(WorkloadFactory factory) {
  Registered() = std::move(factory);
  return true;
}

const WorkloadFactory& RegisteredWorkload() { return Registered(); }

Estimate Timing::Figure(TimingBase base) const {
  const std::vector<double>& other = base == TimingBase::kReference ? reference : copy;
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(submission.size(), other.size()); ++i) ratios.push_back(other[i] / submission[i]);
  return EstimateMedian(ratios);
}

bool Decides(const Estimate& estimate, const Budget& budget, double tolerance) {
  return std::abs(budget.Fraction(estimate.high) - budget.Fraction(estimate.low)) <= tolerance;
}

Timing TimeRung(Runner& submission, Runner& reference, const WorkloadFactory& factory, const CallContext& context,
                uint64_t elements, uint64_t seed, const TimingLimits& limits,
                const std::function<bool(const Timing&)>& enough) {
  JudgeDevice& device = submission.device();
  Gpu* const gpu = device.gpu();
  if (gpu == nullptr) throw HarnessError("timings need a GPU: --device=cuda");
  Timing timing;
  timing.rung = context.launcher;
  timing.elements = elements;

  std::vector<std::unique_ptr<Workload>> workloads;
  workloads.push_back(factory(device, context.launcher, elements));
  timing.least_bytes = workloads.front()->LeastBytes();
  const double room =
      std::min(static_cast<double>(limits.batch_bytes), limits.memory_share * static_cast<double>(gpu->free_bytes()));
  const double calls = room / static_cast<double>(std::max<uint64_t>(timing.least_bytes, 1));
  timing.calls = static_cast<uint32_t>(std::clamp<double>(calls, limits.least_calls, limits.most_calls));
  while (workloads.size() < timing.calls) workloads.push_back(factory(device, context.launcher, elements));

  Batch own(submission, workloads, context), others(reference, workloads, context);
  std::vector<double> empty;
  NoteState("before", *gpu, timing);
  // The first repeat warms up: modules are loaded, memory is mapped, clocks rise.
  for (int repeat = -1; repeat < limits.most_repeats; ++repeat) {
    for (size_t i = 0; i < workloads.size(); ++i) {
      workloads[i]->Fill(*gpu, SeedFor(seed, "timing " + std::to_string(repeat) + " " + std::to_string(i)));
    }
    std::optional<double> own_seconds, reference_seconds;
    std::vector<Problem> reference_problems;
    for (const bool first : {true, false}) {
      if (first == (repeat % 2 == 0)) {
        own_seconds = own.Run(*gpu, timing.problems);
      } else {
        reference_seconds = others.Run(*gpu, reference_problems);
        empty.push_back(others.RunEmpty(reference_problems));
        ThrowOnProblem(reference_problems, context.launcher);
      }
    }
    if (!own_seconds || !reference_seconds) break;
    gpu->ClearCache();
    // A copy reads half of what it moves, and writes half.
    const double copy_seconds = gpu->TimeCopy(std::max<uint64_t>(timing.least_bytes / 2, 1), timing.calls);
    if (repeat < 0) continue;
    // Only the reference's answers say what a round trip takes: the submission could be slow to answer, to its gain.
    const double round_trip = Median(empty);
    const auto of_one_call = [&](double seconds) {
      return std::max(seconds - round_trip, 0.0) / static_cast<double>(timing.calls);
    };
    timing.submission.push_back(of_one_call(*own_seconds));
    timing.reference.push_back(of_one_call(*reference_seconds));
    timing.copy.push_back(copy_seconds);
    if (auto problem = TooFast(timing, timing.submission.back(), *gpu, context)) {
      timing.problems.push_back(std::move(*problem));
      break;
    }
    if (repeat + 1 >= limits.first_repeats && enough(timing)) break;
  }
  NoteState("after", *gpu, timing);
  return timing;
}

}  // namespace lockstep::judge
