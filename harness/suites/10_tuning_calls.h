// Calls of assignment 10's tests on other machines, and their checks.
//
// A tuner's choice is judged by the judge's own counts and times: the launches of its call, and a sweep of the
// submission's own family through all configurations. Times measured by the program don't count.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <utility>

#include "judge/suite/host_call.h"
#include "suites/10_tuning_family.h"

namespace lockstep::suites {

// Times are reported in steps of 1/32 µs, like a GPU's clock.
inline constexpr double kStepMicroseconds = 1.0 / 32;
inline double Told(double microseconds) { return kStepMicroseconds * std::ceil(microseconds / kStepMicroseconds); }

inline constexpr Config kEvidenceConfig{128, 128, 1, 4};  // no load of several marks at once
inline constexpr uint64_t kEvidenceMarks = 150;
inline constexpr uint64_t kSmallTask = 5'000;  // below this, configurations are not worth comparing
inline constexpr int kNotReady = 600;          // cudaErrorNotReady
inline const std::vector<std::string> kEvents = {"cudaEventRecord", "cudaEventSynchronize"};
// The number of different configurations that a tuner must try: fewer are no search.
inline constexpr size_t kLeastTried = 6;

// The real GPU if the run is on one; else a virtual one, which reports modelled times to the program.
class MachineRunner {
 public:
  explicit MachineRunner(const Machine& machine) {
    if (!OnGpu()) own_ = judge::Suite::Get().MakeRunnerElsewhere(machine.profile, *machine.clock);
    (*this)->QuantizeTimes(kStepMicroseconds);
  }
  judge::Runner& operator*() const { return own_ ? *own_ : judge::Suite::Get().runner(judge::Role::kChecked); }
  judge::Runner* operator->() const { return &**this; }
  judge::JudgeDevice& device() const { return (*this)->device(); }

 private:
  std::unique_ptr<judge::Runner> own_;
};

inline judge::EvidenceRun CallTimed(judge::Runner& runner, const judge::CallContext& context, TuningBuffers& buffers,
                                    const TuningInput& input, const std::vector<worker::Argument>& arguments) {
  const auto in = buffers.in.Fill(input.in), marks = buffers.marks.Fill(input.marks);
  buffers.out.Poison();
  runner.LimitInstructions(input.in.size());
  judge::EvidenceRun run{runner.Call(context.launcher, arguments), {}};
  run.problems = judge::ProblemsOf(run.report, context);
  const bool launched = !run.report.observed || !run.report.launches.empty();
  if (run.problems.empty() && run.report.value.AsInteger() == kNotBegun && !(launched && run.report.observed)) {
    run.problems = {judge::UnfinishedProblem(context, "returned kNotBegun")};
  }
  judge::CheckUnchanged<int32_t>(buffers.in, in.values(), context, "d_in is read-only", run.problems);
  judge::CheckUnchanged<int32_t>(buffers.marks, marks.values(), context, "d_marks is read-only", run.problems);
  judge::CheckGuards(context, run.problems, buffers.in, buffers.marks, buffers.out);
  if (run.problems.empty()) judge::CheckNothingHeld(context, run.report, run.problems);
  if (run.problems.empty()) judge::CheckNoneLeft(context, run.report, run.problems);
  return run;
}

inline judge::EvidenceRun RunClock(judge::Runner& runner, const Machine& machine, const std::string& rung,
                                   TuningBuffers& buffers, const TuningInput& input, const Config& config) {
  using judge::Verdict;
  const judge::CallContext context = ContextOf(rung, machine.name + "; " + input.what + "; " + TextOf(config));
  std::vector<worker::Argument> arguments = ConfigArguments(buffers, input, config);
  arguments.push_back(worker::Argument::HostArray(std::vector<uint8_t>(sizeof(float), judge::kPoisonByte)));
  judge::EvidenceRun run = CallTimed(runner, context, buffers, input, arguments);
  if (!run.problems.empty()) return run;
  const judge::CallReport& report = run.report;
  const int64_t code = report.value.AsInteger();
  const bool valid = BrokenRule(config).empty();
  const bool fits = !report.observed || !report.launches.empty();
  const auto wrong = [&](const std::string& expect, const std::string& found, const std::string& hint) {
    run.problems.push_back(judge::MakeProblem(Verdict::kWrong, context, {{"expect", expect}, {"found", found}}, hint));
    return run;
  };
  if (!valid && report.observed && !report.launches.empty()) {
    return wrong("no launch", "a launch", "a configuration that is not valid is refused, not measured");
  }
  const auto* allowed = machine.clock;
  const int64_t right = !valid ? kRefused : fits ? kDone : kDoesNotFit;
  if (code == kDone && valid && !fits && allowed != nullptr) {
    return wrong("a launch", "none", "launch the kernel between the two events");
  }
  if (code != right) {
    return wrong(NameOfCode(right), NameOfCode(code), "return what rung 1 returns for this configuration");
  }
  if (code != kDone) {
    if (report.arrays.back() == arguments.back().bytes) return run;
    return wrong("*milliseconds as it was", "another value", "store a time only if the launch was made (kDone)");
  }
  float milliseconds = 0;
  std::memcpy(&milliseconds, report.arrays.back().data(), sizeof milliseconds);
  const double found = 1000.0 * milliseconds;
  if (!report.observed) {
    constexpr double kMost = 1e7;
    if (found > 0 && found < kMost) return run;
    return wrong("the launch's time", judge::FloatText(milliseconds) + " ms", "");
  }
  if (report.launches.size() > 3) {
    return wrong("one launch, and two to warm up at most", judge::Counted(report.launches.size(), "launch", "launches"),
                 "measure one launch");
  }
  if (const auto problem = CheckShape(context, input.in.size(), config, {report.launches.back()})) {
    run.problems.push_back(*problem);
    return run;
  }
  const double expected = Told(report.launches.back().microseconds);
  constexpr double kTolerance = 0.01;  // for float's rounding; a clock step is added
  if (std::abs(found - expected) <= kTolerance * expected + kStepMicroseconds) return run;
  const bool too_early = std::any_of(report.trace.begin(), report.trace.end(), [](const worker::ApiCall& call) {
    return call.function == "cudaEventElapsedTime" && call.error == kNotReady;
  });
  if (too_early) {
    return wrong(judge::Figure(expected) + " µs", "no time: cudaEventElapsedTime returned cudaErrorNotReady",
                 "the launch is still running: wait for the second event with cudaEventSynchronize before you ask");
  }
  double all = 0;
  for (const vgpu::LaunchRecord& launch : report.launches) all += Told(launch.microseconds);
  // A host clock's time varies between runs, so the number is not shown.
  const bool is_far = found > 1100 * expected;
  wrong(judge::Figure(expected) + " µs", is_far ? "over 1,000 times as much" : judge::Figure(found) + " µs",
        std::abs(milliseconds - expected) <= kTolerance * expected ? "cudaEventElapsedTime gives milliseconds"
        : found == 0 ? "no time passed between the events: is the launch between them?"
        : std::abs(found - all) <= kTolerance * all
            ? "that is the time of all launches: record the first event after the warm-up launches"
            : "record one event right before the launch and one right after it, in its stream; then wait for "
              "the second, and ask for the time between them");
  judge::AddCalls(run.problems, report.trace, kEvents);
  return run;
}

struct TunerRun {
  judge::CallReport report;
  std::vector<judge::Problem> problems;
  std::string input;  // its name in messages
  Config choice = {};
  std::vector<TimedConfig> landscape;  // empty on a real GPU
};

inline bool IsLaunchOf(const vgpu::LaunchRecord& launch, const vgpu::LaunchRecord& swept) {
  const auto shape = [](const vgpu::LaunchRecord& l) {
    return std::tuple(l.mangled, l.grid.Count(), l.block.Count(), l.static_shared + l.dynamic_shared,
                      l.counters.warp_instructions);
  };
  return shape(launch) == shape(swept);
}

// The launches, by number, that are alone between two events which the program asked for the time between.
inline std::set<size_t> TimedLaunches(const std::vector<worker::ApiCall>& trace) {
  std::set<size_t> timed;
  std::map<uint64_t, size_t> recorded;  // launches before an event's last record
  size_t launches = 0;
  for (const worker::ApiCall& call : trace) {
    if (call.failed) continue;
    launches += call.kind == worker::ApiKind::kLaunch;
    if (call.function.starts_with("cudaEventRecord")) recorded[call.events[0]] = launches;
    if (call.function != "cudaEventElapsedTime") continue;
    const size_t first = recorded[call.events[0]];
    if (recorded[call.events[1]] == first + 1) timed.insert(first);
  }
  return timed;
}

// Makes calls before the one that counts: none, five for fewer elements, one for more, or one of each, in turn from a
// random start. So no earlier call has the answer, and neither number nor sizes of calls reveal the one that counts.
inline void CallBefore(judge::Runner& runner, const judge::CallContext& context, TuningBuffers& buffers,
                       const TuningInput& input, const std::vector<worker::Argument>& arguments) {
  judge::Suite& suite = judge::Suite::Get();
  // Only searches that can earn points advance the turn, so that a submission's four searches get all four kinds.
  const bool is_reference =
      suite.has_runner(judge::Role::kReference) && &runner == &suite.runner(judge::Role::kReference);
  if (is_reference || input.in.size() <= kSmallTask) return;
  const judge::SeedKey seed = judge::SeedFor(suite.seed(), "calls before");
  static auto turn = static_cast<unsigned>(judge::Random(seed).Between(0, 3));
  const unsigned calls = turn++;
  const unsigned for_fewer = calls % 4 == 1 ? 5 : calls % 2;
  for (unsigned k = 1; k <= for_fewer; ++k) {
    std::vector<worker::Argument> fewer = arguments;
    fewer[2] = worker::Argument::Integer(static_cast<unsigned>(input.in.size() * k / (for_fewer + 1)));
    CallTimed(runner, context, buffers, input, fewer);
  }
  if (calls / 2 % 2 != 0) {
    const TuningInput more = MakeInput(input.in.size() * 9 / 8, input.marks.size(), Values::kAny, seed);
    TuningBuffers larger(runner.device(), more);
    std::vector<worker::Argument> for_more = TaskArguments(larger, more);
    for_more.push_back(arguments.back());
    CallTimed(runner, context, larger, more, for_more);
  }
}

// Runs a tuner, and checks its search; the quality of the choice is checked later.
inline TunerRun RunTuner(judge::Runner& runner, const Machine& machine, const std::string& rung, TuningBuffers& buffers,
                         const TuningInput& input, const Sweep* sweep) {
  using judge::Verdict;
  TunerRun result;
  result.input = machine.name + "; " + input.what;
  const judge::CallContext context = ContextOf(rung, result.input);
  std::vector<worker::Argument> arguments = TaskArguments(buffers, input);
  arguments.push_back(worker::Argument::HostArray(std::vector<uint8_t>(sizeof(Config), judge::kPoisonByte)));
  if (rung.starts_with("tuning4")) CallBefore(runner, context, buffers, input, arguments);
  judge::EvidenceRun run = CallTimed(runner, context, buffers, input, arguments);
  result.report = std::move(run.report);
  result.problems = std::move(run.problems);
  const judge::CallReport& report = result.report;
  if (!result.problems.empty()) return result;
  const auto wrong = [&](Verdict verdict, std::vector<vgpu::MessageLine> evidence, const std::string& hint) {
    result.problems.push_back(judge::MakeProblem(verdict, context, std::move(evidence), hint));
    return result;
  };
  std::memcpy(&result.choice, report.arrays.back().data(), sizeof result.choice);
  if (const int64_t code = report.value.AsInteger(); code != kDone) {
    return wrong(Verdict::kWrong, {{"expect", "kDone"}, {"found", NameOfCode(code)}},
                 "a tuner always finds one that fits");
  }
  if (report.arrays.back() == arguments.back().bytes) {
    return wrong(Verdict::kWrong, {{"chose", "nothing: *best is as it was"}}, "write the configuration to *best");
  }
  if (const std::string broken = BrokenRule(result.choice); !broken.empty()) {
    return wrong(Verdict::kWrong, {{"chose", TextOf(result.choice)}, {"but", broken}},
                 "*best has to be one of the valid configurations");
  }
  if (!report.observed || sweep == nullptr) return result;
  // The family's configurations must do what their numbers say.
  if (auto problems = EffortProblems(judge::Suite::Get().assignment().rungs.front().id, *sweep); !problems.empty()) {
    for (judge::Problem& problem : problems) {
      problem.evidence.insert(problem.evidence.begin(), "not judged: rung 1's family is what a tuner chooses from");
    }
    result.problems = std::move(problems);
    return result;
  }
  const vgpu::DeviceProfile& limits = judge::ProfileNamed(machine.profile);
  result.landscape = LandscapeOf(sweep->launches, limits, *machine.clock);
  const std::set<size_t> timed_launches = TimedLaunches(report.trace);
  std::set<ConfigKey> tried, measured;
  for (const auto& swept : sweep->launches) {
    for (size_t k = 0; k < report.launches.size(); ++k) {
      if (!IsLaunchOf(report.launches[k], swept.second)) continue;
      tried.insert(swept.first);
      if (timed_launches.contains(k)) measured.insert(swept.first);
    }
  }
  if (!tried.contains(KeyOf(result.choice))) {
    return wrong(Verdict::kRejected, {{"chose", TextOf(result.choice)}, {"but", "never launched it in this call"}},
                 "a choice has to be measured: on this device, for all of the n elements");
  }
  if (tried.size() < kLeastTried) {
    return wrong(Verdict::kRejected,
                 {"tried   " + judge::Counted(tried.size(), "configuration"),
                  {"expect", std::to_string(kLeastTried) + " at the least"}},
                 "what was best on another device need not be best on this one: measure");
  }
  const bool is_exhaustive = rung.starts_with("tuning3");
  for (const TimedConfig& timed : result.landscape) {
    if (!is_exhaustive || tried.contains(KeyOf(timed.config))) continue;
    return wrong(Verdict::kWrong,
                 {"tried   " + std::to_string(tried.size()) + " of the " + std::to_string(result.landscape.size()) +
                      " configurations that fit this device",
                  "but not " + TextOf(timed.config)},
                 "this rung measures all of them");
  }
  if (is_exhaustive && measured.size() < result.landscape.size()) {
    return wrong(Verdict::kWrong,
                 {"launched " + judge::Counted(tried.size(), "configuration"),
                  "but timed " + std::to_string(measured.size()) + " alone"},
                 "this rung measures all of them");
  }
  const size_t most = is_exhaustive ? 2 * Configs().size() : kMostLaunches;
  if (report.launches.size() > most) {
    return wrong(Verdict::kSlow,
                 {{"counted", judge::Counted(report.launches.size(), "launch", "launches")},
                  {"budget", "at most " + std::to_string(most)}},
                 is_exhaustive ? "measure no configuration again and again: times are the same each time"
                               : "let each measurement decide which configuration comes next");
  }
  return result;
}

// Caches the result of a tuner on a machine.
inline const TunerRun& TunerRunOn(const Machine& machine, const std::string& rung, const TuningInput& input) {
  static std::map<std::string, TunerRun> known;
  const std::string key = rung + (OnGpu() ? "" : machine.name + input.what);
  const auto found = known.find(key);
  if (found != known.end()) return found->second;
  const Sweep* sweep = OnGpu() ? nullptr : &SweepOf(input);
  MachineRunner runner(machine);
  TuningBuffers buffers(runner.device(), input);
  return known.emplace(key, RunTuner(*runner, machine, rung, buffers, input, sweep)).first->second;
}

inline std::vector<judge::Problem> ChoiceProblems(const std::string& rung, const TunerRun& run, double ratio) {
  if (run.landscape.empty()) return {};
  const TimedConfig& best = run.landscape.front();
  const double time = TimeOf(run.landscape, run.choice).value_or(INFINITY);
  if (time <= ratio * best.microseconds) return {};
  const auto text = [](const Config& config, double microseconds) {
    return TextOf(config) + ": " + judge::Figure(std::round(100 * microseconds) / 100) + " µs";
  };
  const auto worse = std::count_if(run.landscape.begin(), run.landscape.end(),
                                   [&](const TimedConfig& timed) { return timed.microseconds > time; });
  return {judge::MakeProblem(
      judge::Verdict::kSlow, ContextOf(rung, run.input),
      {{"chose", text(run.choice, time)},
       {"best", judge::Figure(std::round(100 * best.microseconds) / 100) + " µs; at most " + judge::Figure(ratio) +
                    " times as much counts"},
       "launched " + std::to_string(run.report.launches.size()) + "; " + std::to_string(worse) + " of " +
           std::to_string(run.landscape.size()) + " configurations are slower than the choice"},
      rung.starts_with("tuning3") ? "of all times keep the least, and the configuration that it belongs to"
                                  : "which parameter did the search never vary, or vary only together with another?")};
}

// A tuner, or the clock, on the device of evidence runs.
inline judge::EvidenceRun RunTimedForEvidence(judge::Runner& runner, const std::string& rung, TuningBuffers& buffers,
                                              const TuningInput& input) {
  judge::Suite& suite = judge::Suite::Get();
  const bool is_reference =
      suite.has_runner(judge::Role::kReference) && &runner == &suite.runner(judge::Role::kReference);
  Machine machine = MachineOf(suite.options().profile);
  machine.clock = &judge::ProfileNamed(suite.options().evidence_profile);
  runner.QuantizeTimes(kStepMicroseconds);
  runner.Restart();  // results remembered from an earlier rung's search are no search
  judge::EvidenceRun run;
  if (rung.starts_with("tuning2")) {
    run = RunClock(runner, machine, rung, buffers, input, kEvidenceConfig);
  } else {
    // Rung 3 has few elements here: its work is counted, and its choice is checked in the tests.
    const bool is_judged = rung.starts_with("tuning4") && !is_reference && input.in.size() > kSmallTask;
    TunerRun tuned = RunTuner(runner, machine, rung, buffers, input, is_judged ? &SweepOf(input) : nullptr);
    if (tuned.problems.empty()) tuned.problems = ChoiceProblems(rung, tuned, kUseless);
    run = {std::move(tuned.report), std::move(tuned.problems)};
  }
  runner.QuantizeTimes(0);
  return run;
}

// Evidence for a search on a machine drawn from the seed, as in the tests: a submission can't tell which run counts.
inline judge::EvidenceRun RunDrawnSearch(const std::string& rung, const judge::SeedKey& seed) {
  const Machine machine = MachineNeverBuilt(seed, /*is_large=*/seed.words[0] % 2 == 0);
  const TuningInput input = TaskOf(seed);
  MachineRunner runner(machine);
  TuningBuffers buffers(runner.device(), input);
  TunerRun tuned = RunTuner(*runner, machine, rung, buffers, input, nullptr);
  return {std::move(tuned.report), std::move(tuned.problems), input.in.size()};
}

}  // namespace lockstep::suites
