#include "judge/suite/timing.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <thread>
#include <utility>

#include "judge/model/text.h"

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

Problem OfCall(const CallContext& context, size_t call, const std::string& what, uint64_t wrong, uint64_t all) {
  return MakeProblem(Verdict::kWrong, context,
                     {"call " + std::to_string(call + 1) + " of a batch " + what + ": " + Grouped(wrong) + " of " +
                      Counted(all, "element") + (wrong == 1 ? " is wrong" : " are wrong")},
                     "the calls of a batch are timed together, and each must do its own work on its own buffers");
}

// The first problem found by full checks.
std::optional<Problem> WrongIn(const std::vector<GpuJob>& jobs, const std::vector<GpuWrong>& wrong,
                               const CallContext& context) {
  for (size_t call = 0; call < wrong.size(); ++call) {
    const GpuJob& job = jobs[call];
    if (wrong[call].output > 0) {
      return OfCall(context, call, "has a wrong result", wrong[call].output, Outputs(job));
    }
    if (wrong[call].input > 0) return OfCall(context, call, "changed its input", wrong[call].input, job.n);
  }
  return std::nullopt;
}

// One worker's batches.
class Batch {
 public:
  Batch(Runner& runner, const std::vector<std::unique_ptr<Workload>>& workloads, const CallContext& context)
      : runner_(runner), workloads_(workloads), context_(context) {
    for (const auto& workload : workloads_) jobs_.push_back(workload->Job());
  }

  // Seconds of the batch on inputs of this seed; or the error, in problems.
  std::optional<double> Run(Gpu& gpu, const SeedKey& seed, std::vector<Problem>& problems) {
    std::vector<std::vector<worker::Argument>> calls;
    for (const auto& workload : workloads_) calls.push_back(workload->Arguments());
    if (!Fine(runner_.PrepareBatch(context_.launcher, calls), problems)) return std::nullopt;
    // The submission knows its buffers now, so it is stopped: it must not see their contents before the request.
    runner_.Hold();
    for (size_t i = 0; i < jobs_.size(); ++i) jobs_[i].seed = SeedFor(seed, "call " + std::to_string(i));
    gpu.Fill(jobs_);
    for (const auto& workload : workloads_) workload->Poison();
    gpu.ClearCache();
    const CallReport report = runner_.RunBatch(static_cast<uint32_t>(calls.size()));
    const Gpu::GlanceResult glance = gpu.Glance(SeedFor(seed, "glance"));
    runner_.Hold();
    if (!Fine(report, problems)) return std::nullopt;
    if (auto problem = WrongIn(jobs_, gpu.Check(), context_)) {
      problems.push_back(std::move(*problem));
    } else if (glance.wrong > 0) {
      problems.push_back(
          MakeProblem(Verdict::kWrong, context_,
                      {"the results were not there after the launchers had returned and the device had synchronised"},
                      "no stream, thread or process of yours may still be working then"));
    }
    if (!problems.empty()) return std::nullopt;
    return report.seconds + glance.seconds;
  }

  // Seconds of a batch without calls.
  double RunEmpty(Gpu& gpu, std::vector<Problem>& problems) {
    runner_.Hold();
    const CallReport report = runner_.RunBatch(0);
    const Gpu::GlanceResult glance = gpu.Glance(0);
    runner_.Hold();
    Fine(report, problems);
    return report.seconds + glance.seconds;
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
  std::vector<GpuJob> jobs_;
};

// A submission that gets faster than at first by more than this factor has cheated.
constexpr double kSlowAtFirst = 8;

// Measured in batches of one call. The first loads and compiles the kernels. Errors are in problems.
std::optional<double> SecondsOfOneCall(Runner& runner, std::vector<std::unique_ptr<Workload>>& workloads,
                                       const CallContext& context, Gpu& gpu, const SeedKey& seed,
                                       std::vector<Problem>& problems) {
  std::vector<std::unique_ptr<Workload>> one;
  one.push_back(std::move(workloads.front()));
  std::optional<double> seconds;
  for (const char* name : {"first call", "second call"}) {
    seconds = Batch(runner, one, context).Run(gpu, SeedFor(seed, name), problems);
    if (!seconds) break;
  }
  workloads.front() = std::move(one.front());
  return seconds;
}

constexpr std::chrono::milliseconds kLookAgain{20};

// Kernels that a submission left on the GPU would slow the reference and the copy; memory that it keeps would be
// missing. free_bytes: free GPU memory before the submission ran.
std::optional<Problem> LeftBehind(Gpu& gpu, Runner& submission, const CallContext& context, const TimingLimits& limits,
                                  uint64_t free_bytes) {
  const auto is_busy = [&] { return gpu.SecondsToAnswer() > limits.idle_seconds; };
  const auto is_full = [&] {
    return static_cast<double>(gpu.free_bytes()) < limits.memory_to_leave * static_cast<double>(free_bytes);
  };
  const bool was_busy = is_busy();
  if (!was_busy && !is_full()) return std::nullopt;
  submission.Restart();
  // A sandbox's processes end a moment after it, and a driver frees large memory slowly.
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(limits.release_seconds);
  while ((is_busy() || is_full()) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(kLookAgain);
  }
  if (is_busy()) throw HarnessError("another program is using the GPU, so times would mean nothing");
  if (is_full()) throw HarnessError("another program took the GPU's memory, so none is left for the reference");
  if (was_busy) {
    return MakeProblem(
        Verdict::kRejected, context,
        {"kernels were still running on the GPU after the launchers had returned and the device had synchronised"},
        "nothing of yours may still run after cudaDeviceSynchronize()");
  }
  return MakeProblem(Verdict::kRejected, context,
                     {"more than half of the GPU's free memory was still in use after the launchers had returned"},
                     "free what you allocate with cudaFree() before the launcher returns");
}

// A time too short even to move the bytes was not spent on the work.
std::optional<Problem> TooFast(const Timing& timing, double seconds, const Gpu& gpu, const CallContext& context) {
  const double floor = static_cast<double>(timing.least_bytes) / gpu.peak_bytes_per_second();
  if (seconds >= floor) return std::nullopt;
  return MakeProblem(Verdict::kRejected, context,
                     {"a call took " + Microseconds(seconds) + "; this GPU's memory needs " + Microseconds(floor) +
                      " just to move the " + Counted(timing.least_bytes, "byte")},
                     "each call must do its own work on its own buffers");
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

// NOLINTNEXTLINE(readability-function-size): the batches of a measurement, each of which needs the state of the last
Timing TimeRung(Runner& submission, Runner* reference, const WorkloadFactory& factory, const CallContext& context,
                uint64_t elements, const SeedKey& seed, const TimingLimits& limits,
                const std::function<bool(const Timing&)>& enough) {
  JudgeDevice& device = submission.device();
  Gpu* const gpu = device.gpu();
  if (gpu == nullptr) throw HarnessError("timings need a GPU: --device=cuda");
  Timing timing;
  timing.rung = context.launcher;
  timing.elements = elements;

  // New workers before and after: timings must not depend on state of earlier tests, nor leave state for later ones.
  const auto restart = [&] {
    submission.Restart();
    if (reference != nullptr) reference->Restart();
  };
  restart();
  std::vector<std::unique_ptr<Workload>> workloads;
  const double room =
      std::min(static_cast<double>(limits.batch_bytes), limits.memory_share * static_cast<double>(gpu->free_bytes()));
  double bytes = 0;
  while (timing.calls < limits.least_calls || (timing.calls < limits.most_calls && bytes < room)) {
    workloads.push_back(factory(device, context.launcher, elements, timing.calls));
    bytes += static_cast<double>(workloads.back()->LeastBytes());
    ++timing.calls;
  }
  const uint32_t most_calls = timing.calls;
  const uint64_t free_bytes = gpu->free_bytes();
  if (const auto one_call = SecondsOfOneCall(submission, workloads, context, *gpu, seed, timing.problems)) {
    // A submission may be a thousand times slower than another and still finish.
    const double fit = limits.batch_seconds / std::max(*one_call, 1e-9);
    timing.calls = static_cast<uint32_t>(std::clamp(fit, 1.0, static_cast<double>(most_calls)));
  } else {
    restart();
    return timing;
  }
  workloads.resize(timing.calls);
  timing.least_bytes = static_cast<uint64_t>(bytes / most_calls);
  // A copy of this size reads and writes half of the bytes each.
  const uint64_t copy_bytes = std::max<uint64_t>(timing.least_bytes / 2, 1);

  Batch own(submission, workloads, context), others(reference != nullptr ? *reference : submission, workloads, context);
  std::vector<double> empty;
  NoteState("before", *gpu, timing);
  // The first repeat warms up: modules are loaded, memory is mapped, clocks rise.
  for (int repeat = -1; repeat < limits.most_repeats; ++repeat) {
    const SeedKey repeat_seed = SeedFor(seed, "timing " + std::to_string(repeat));
    std::optional<double> own_seconds, reference_seconds;
    std::vector<Problem> reference_problems;
    if (auto problem = LeftBehind(*gpu, submission, context, limits, free_bytes)) {
      timing.problems.push_back(std::move(*problem));
      break;
    }
    for (const bool first : {true, false}) {
      if (first == (repeat % 2 == 0)) {
        own_seconds = own.Run(*gpu, SeedFor(repeat_seed, "submission"), timing.problems);
        if (!own_seconds) break;
        if (timing.calls < most_calls && *own_seconds < limits.batch_seconds / kSlowAtFirst) {
          timing.problems.push_back(
              MakeProblem(Verdict::kRejected, context,
                          {"a call was slow at first, so fewer calls were timed, and now it takes " +
                           Microseconds(*own_seconds / timing.calls)},
                          "calls of the same size must take the same time"));
          break;
        }
        if (auto problem = LeftBehind(*gpu, submission, context, limits, free_bytes)) {
          timing.problems.push_back(std::move(*problem));
          break;
        }
      } else {
        if (reference != nullptr) {
          reference_seconds = others.Run(*gpu, SeedFor(repeat_seed, "reference"), reference_problems);
        }
        if (reference_problems.empty()) empty.push_back(others.RunEmpty(*gpu, reference_problems));
        ThrowOnProblem(reference_problems, context.launcher);
      }
    }
    if (!timing.problems.empty()) break;
    gpu->ClearCache();
    const double copy_seconds = gpu->TimeCopy(copy_bytes, timing.calls);
    if (repeat < 0) continue;
    // The round trip is measured with the reference if there is one: a submission could gain by slowing its own down.
    const double round_trip = Median(empty);
    const auto of_one_call = [&](double seconds) {
      return std::max(seconds - round_trip, 0.0) / static_cast<double>(timing.calls);
    };
    timing.submission.push_back(of_one_call(*own_seconds));
    if (reference_seconds) timing.reference.push_back(of_one_call(*reference_seconds));
    timing.copy.push_back(copy_seconds);
    if (auto problem = TooFast(timing, timing.submission.back(), *gpu, context)) {
      timing.problems.push_back(std::move(*problem));
      break;
    }
    const bool slow = *own_seconds > limits.batch_seconds;
    if (repeat + 1 >= (slow ? limits.first_repeats_if_slow : limits.first_repeats) && enough(timing)) break;
  }
  NoteState("after", *gpu, timing);
  restart();
  return timing;
}

}  // namespace lockstep::judge
