// Calls of the family (rung 1 of assignment 10) and their checks; and the sweep of a family through all configurations,
// against which tuners are judged.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/suite.h"
#include "suites/10_tuning_fixture.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::suites {

inline bool OnGpu() { return judge::Suite::Get().options().device == judge::DeviceKind::kCuda; }

inline judge::CallContext ContextOf(const std::string& rung, const std::string& input) {
  return {rung, input, judge::Suite::Get().assignment().submission};
}

inline std::vector<worker::Argument> TaskArguments(const TuningBuffers& buffers, const TuningInput& input) {
  return {buffers.in.argument(), buffers.out.argument(),
          worker::Argument::Integer(static_cast<unsigned>(input.in.size())), buffers.marks.argument(),
          worker::Argument::Integer(static_cast<unsigned>(input.marks.size()))};
}

inline std::vector<worker::Argument> ConfigArguments(const TuningBuffers& buffers, const TuningInput& input,
                                                     const Config& config) {
  std::vector<worker::Argument> arguments = TaskArguments(buffers, input);
  for (const int number : {config.block, config.tile, config.unroll, config.items}) {
    arguments.push_back(worker::Argument::Integer(number));
  }
  return arguments;
}

inline std::string NameOfCode(int64_t code) {
  constexpr const char* kNames[] = {"kNotBegun", "kDone", "kRefused", "kDoesNotFit"};
  return code >= kNotBegun && code <= kDoesNotFit ? kNames[code - kNotBegun] : std::to_string(code);
}

// ---- Rung 1 ----

inline std::vector<int32_t> MarksBelow(const TuningInput& input) {
  std::vector<int32_t> sorted = input.marks, counts;
  std::sort(sorted.begin(), sorted.end());
  for (const int32_t value : input.in) {
    counts.push_back(static_cast<int32_t>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  return counts;
}

inline judge::HintText ExplainCount(const TuningInput& input, const Config& config, size_t i, int32_t found) {
  const int32_t value = input.in[i];
  const auto m = static_cast<int64_t>(input.marks.size()), tile = int64_t{config.tile};
  const auto count = [&](int64_t begin, int64_t end, auto counts) {
    return std::count_if(input.marks.begin() + begin, input.marks.begin() + std::min(end, m), counts);
  };
  const auto less = [=](int32_t mark) { return mark < value; };
  const int64_t expected = count(0, m, less), last = m == 0 ? 0 : (m - 1) / tile * tile, rest = last + tile - m;
  if (found == count(0, m, [=](int32_t mark) { return mark <= value; })) {
    return {"marks that the element equals are counted too: only those that are less count", {"comparison"}};
  }
  const int64_t greater = count(0, m, [=](int32_t mark) { return mark > value; });
  if (found == greater || found == greater + rest) {
    return {"that is the number of marks that are greater: compare the other way round", {"comparison"}};
  }
  if (m > tile && found == count(0, tile, less)) return "only the first tile was counted: add up over all tiles";
  if (m > tile && found == count(last, m, less)) return "only the last tile was counted: add up over all tiles";
  if (last > 0 && found == count(0, last, less)) return "the last, partial tile is missing";
  if (found == expected + rest && rest > 0) {
    return "places of the last tile without a mark are counted too: fill them with a value that is less than no int";
  }
  const size_t each = static_cast<size_t>(config.block) * static_cast<size_t>(config.items);
  if (found == judge::DeviceArray<int32_t>::FillValue()) {
    return i >= each
               ? "nothing was written there: does block b begin at element b * block * items?"
               : "nothing was written there: do a thread's first element and its step fit each other, t with steps "
                 "of block, or items * t with steps of 1, and does it store all its items?";
  }
  if (static_cast<uint32_t>(found) == static_cast<uint32_t>(expected) + 0x01010101u * vgpu::kUnwrittenRegister) {
    return {"the count began with garbage: a variable in a kernel has no value before it is given one (int below = 0)",
            {"variable"}};
  }
  return "";
}

inline std::optional<judge::Problem> CheckCounts(const judge::CallContext& context, const TuningInput& input,
                                                 const Config& config, std::span<const int32_t> found) {
  const std::vector<int32_t> expected = MarksBelow(input);
  const auto [right, wrong] = std::mismatch(expected.begin(), expected.end(), found.begin());
  if (right == expected.end()) return std::nullopt;
  const auto i = static_cast<size_t>(right - expected.begin());
  const bool untouched = *wrong == judge::DeviceArray<int32_t>::FillValue();
  return judge::WrongAt(i, context,
                        {"d_out[" + std::to_string(i) + "], of the element " + std::to_string(input.in[i]),
                         {"expect", judge::Counted(static_cast<uint64_t>(*right), "mark") + " below it"},
                         {"found", (untouched ? "the old contents (nothing was written)" : std::to_string(*wrong))}},
                        ExplainCount(input, config, i, *wrong));
}

// Checks that there is one launch, in this configuration.
inline std::optional<judge::Problem> CheckShape(const judge::CallContext& context, uint64_t n, const Config& config,
                                                const std::vector<vgpu::LaunchRecord>& launches) {
  const auto wrong = [&](const std::string& expect, const std::string& found, const std::string& hint) {
    return judge::MakeProblem(judge::Verdict::kWrong, context, {{"expect", expect}, {"found", found}}, hint);
  };
  if (launches.size() != 1) {
    return wrong("one launch", judge::Counted(launches.size(), "launch", "launches"),
                 "the time of a configuration is that of one launch, which does all of the task");
  }
  const vgpu::LaunchRecord& launch = launches[0];
  const uint64_t each = static_cast<uint64_t>(config.block) * static_cast<uint64_t>(config.items);
  if (launch.block.Count() != static_cast<uint64_t>(config.block)) {
    return wrong("blocks of " + std::to_string(config.block) + " threads", std::to_string(launch.block.Count()),
                 "block is the number of threads of a block");
  }
  if (const uint64_t blocks = (n + each - 1) / each; launch.grid.Count() != blocks) {
    return wrong(judge::Counted(blocks, "block"), judge::Grouped(launch.grid.Count()),
                 "a block takes block * items elements: launch no block without elements");
  }
  const uint64_t shared = uint64_t{launch.static_shared} + launch.dynamic_shared;
  if (const uint64_t bytes = static_cast<uint64_t>(config.tile) * sizeof(int32_t); shared != bytes) {
    return wrong(judge::Grouped(bytes) + " bytes of shared memory for a block", judge::Grouped(shared),
                 "shared memory holds only the tile, which is `tile` ints");
  }
  return std::nullopt;
}

inline judge::EvidenceRun RunFamily(judge::Runner& runner, const std::string& rung, TuningBuffers& buffers,
                                    const TuningInput& input, const Config& config, bool may_not_fit = false) {
  using judge::Verdict;
  const judge::CallContext context = ContextOf(rung, input.what + "; " + TextOf(config));
  const uint64_t n = input.in.size();
  const auto marks = buffers.marks.Fill(input.marks);
  bool fits = true;
  judge::EvidenceRun run = judge::RunArrayCall<int32_t>(
      runner, context,
      {.in = buffers.in,
       .out = buffers.out,
       .values = input.in,
       .arguments = ConfigArguments(buffers, input, config),
       .unchanged_hint = "d_in and d_marks are read-only: the counts go to d_out",
       .frees = true,
       // Without marks all counts are 0.
       .is_work = false,
       .check = [&](const judge::CallReport& report, std::span<const int32_t> found) -> std::optional<judge::Problem> {
         const bool launched = !report.observed || !report.launches.empty();
         const int64_t code = report.value.AsInteger();
         if (code == kNotBegun && (!launched || n == 0)) return judge::UnfinishedProblem(context, "returned kNotBegun");
         fits = launched || n == 0 || !may_not_fit;
         if (const int64_t right = fits ? kDone : kDoesNotFit; code != right) {
           return judge::MakeProblem(Verdict::kWrong, context,
                                     {{"expect", NameOfCode(right)}, {"found", NameOfCode(code)}},
                                     fits ? "this configuration is valid, and the device can launch it"
                                          : "the launch failed: ask cudaGetLastError(), which also clears the error");
         }
         if (!fits || (n == 0 && !report.observed)) return std::nullopt;
         if (auto problem = CheckCounts(context, input, config, found)) {
           const auto each = static_cast<uint64_t>(config.block) * static_cast<uint64_t>(config.items);
           if (report.launches.size() == 1 && report.launches[0].grid.Count() * each < n) {
             problem->hint = {
                 "a block takes block * items elements, so that the last ones have none: round the number of blocks up",
                 {"blocks"}};
           }
           return problem;
         }
         if (!report.observed) return std::nullopt;
         if (n > 0) return CheckShape(context, n, config, report.launches);
         if (report.launches.empty()) return std::nullopt;
         return judge::MakeProblem(Verdict::kWrong, context, {"it launched a kernel"}, "with no elements, launch none");
       }});
  if (n == 0 && run.problems.empty() && run.report.value.AsInteger() != kDone) {
    run.problems.push_back(judge::MakeProblem(
        Verdict::kWrong, context, {{"expect", "kDone"}, {"found", NameOfCode(run.report.value.AsInteger())}},
        "with no elements there is nothing to do, and that is done"));
  }
  judge::CheckUnchanged<int32_t>(buffers.marks, marks.values(), context, "d_marks is read-only", run.problems);
  judge::CheckGuards(context, run.problems, buffers.marks);
  if (run.problems.empty() && fits && n > 0 && !input.marks.empty()) {
    // The least int has no mark below it, so it need not be read.
    const judge::TaskBytes inputs[] = {judge::FirstOf(buffers.in, n),
                                       judge::FirstOf(buffers.marks, input.marks.size())};
    const judge::TaskBytes results[] = {judge::FirstOf(buffers.out, n)};
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls, inputs, results,
                             run.problems);
  }
  return run;
}

inline judge::EvidenceRun RunRefused(judge::Runner& runner, const std::string& rung, TuningBuffers& buffers,
                                     const TuningInput& input, const Config& config) {
  const judge::CallContext context = ContextOf(rung, TextOf(config) + ": " + BrokenRule(config));
  buffers.in.Fill(input.in);
  buffers.marks.Fill(input.marks);
  buffers.out.Poison();
  runner.LimitInstructions(input.in.size());
  judge::EvidenceRun run{runner.Call(rung, ConfigArguments(buffers, input, config)), {}};
  run.problems = judge::ProblemsOf(run.report, context);
  const int64_t code = run.report.value.AsInteger();
  const bool launched = run.report.observed && !run.report.launches.empty();
  if (!run.problems.empty()) {
    for (judge::Problem& problem : run.problems) {
      if (problem.hint.empty()) problem.hint = "this configuration is not valid: return kRefused before the launch";
    }
    return run;
  }
  if (code == kNotBegun && !launched) {
    run.problems = {judge::UnfinishedProblem(context, "returned kNotBegun")};
  } else if (code != kRefused || launched) {
    run.problems = {judge::MakeProblem(
        judge::Verdict::kWrong, context,
        {{"expect", "kRefused, and no launch"}, {"found", NameOfCode(code) + (launched ? ", and a launch" : "")}},
        {"check the lists, and all three rules of tuning.h, before the launch", {"rules"}})};
  } else {
    const std::vector<int32_t> out = buffers.out.Get();
    if (std::any_of(out.begin(), out.end(), [](int32_t v) { return v != judge::DeviceArray<int32_t>::FillValue(); })) {
      run.problems = {judge::MakeProblem(judge::Verdict::kWrong, context, {"d_out was written"},
                                         "a configuration that is refused leaves everything as it is")};
    }
  }
  return run;
}

// ---- The sweep: the submission's family in all configurations ----

struct Sweep {
  uint64_t n = 0, m = 0;
  Launches launches;
  std::vector<judge::Problem> problems;  // the first problems of any configuration
};

inline Sweep SweepThrough(const TuningInput& input, const std::vector<Config>& configs) {
  Sweep sweep{input.in.size(), input.marks.size(), {}, {}};
  const std::string rung = judge::Suite::Get().assignment().rungs.front().id;
  const Machine machine = MachineOf("h200");
  const auto runner = judge::Suite::Get().MakeRunnerElsewhere(machine.profile, *machine.clock);
  TuningBuffers buffers(runner->device(), input);
  for (const Config& config : configs) {
    judge::EvidenceRun run = RunFamily(*runner, rung, buffers, input, config);
    if (!run.problems.empty()) {
      sweep.problems = std::move(run.problems);
      break;
    }
    sweep.launches[KeyOf(config)] = run.report.launches.front();
  }
  return sweep;
}

// Sweeps all configurations, once per task.
inline const Sweep& SweepOf(const TuningInput& input) {
  static std::map<std::pair<uint64_t, uint64_t>, Sweep> known;
  const auto [at, is_new] = known.try_emplace({input.in.size(), input.marks.size()});
  if (is_new) at->second = SweepThrough(input, Configs());
  return at->second;
}

// Limits for a configuration's instructions: as a multiple of a plain kernel's, and relative to another
// configuration's.
inline constexpr double kMostOfPlain = 1.6, kMostSpread = 1.55;

// Limits for its time on a Tesla T4: as a multiple of a plain kernel's, and relative to other configurations of the
// tile. Correct designs take 0.32 to 1.09 times as long, and differ by at most a factor of 1.76 within a tile.
inline constexpr double kMostOfPlainTime = 1.25, kMostTimeSpread = 2;

// The launch with each warp's work reduced to a plain kernel's: this many instructions, of which `slots` load a mark
// from shared memory.
inline vgpu::LaunchRecord PlainLaunch(const vgpu::LaunchRecord& launch, const Sweep& sweep, double tiles, double slots,
                                      double instructions) {
  vgpu::LaunchRecord plain = launch;
  const double blocks = static_cast<double>(launch.grid.Count());
  const double warps = blocks * static_cast<double>(launch.block.Count()) / vgpu::kWarpSize;
  const auto count = [](double value) { return static_cast<uint64_t>(value); };
  const double elements = static_cast<double>(sweep.n) / vgpu::kWarpSize, marks = blocks * slots / vgpu::kWarpSize;
  vgpu::Counters& c = plain.counters = {};
  c.warp_instructions = count(instructions * warps);
  c.barriers = count(2 * tiles * warps);
  c.shared_load_requests = count(slots * warps);
  c.shared_wavefronts = count(slots * warps + marks);
  c.global_load_requests = count(elements + marks);
  c.global_store_requests = count(elements);
  c.global_load_sectors = c.global_load_misses = count(4 * (elements + marks));
  c.global_store_sectors = c.global_store_sectors_ideal = count(4 * elements);
  c.global_load_footprint = sizeof(int32_t) * (sweep.n + sweep.m);
  c.global_store_footprint = c.global_store_bytes = sizeof(int32_t) * sweep.n;
  return plain;
}

// For each tile, its configurations by their cost, as a multiple of a plain kernel's.
using SharesOfTile = std::map<int, std::map<double, Config>>;

// Problems if one of a tile's configurations takes more than `most` times as much as another.
inline std::vector<judge::Problem> SpreadProblems(const std::string& rung, const std::string& what, double most,
                                                  const SharesOfTile& of_tile) {
  for (const auto& [tile, shares] : of_tile) {
    if (shares.rbegin()->first <= most * shares.begin()->first) continue;
    const auto text = [](const auto& entry) {
      return judge::Figure(std::round(100 * entry.first) / 100) + " of a plain kernel's with " + TextOf(entry.second);
    };
    return {judge::MakeProblem(judge::Verdict::kSlow, ContextOf(rung, ""),
                               {{"counted", what + ": " + text(*shares.rbegin())},
                                {" ", "and " + text(*shares.begin())},
                                {"budget", "at most " + judge::Figure(most) + " times as much"}},
                               "no configuration may do more work than its parameters require")};
  }
  return {};
}

// Limits on a family's cost. A configuration that is deliberately slow, or does not do what it says, would make the
// choice easy.
inline std::vector<judge::Problem> EffortProblems(const std::string& rung, const Sweep& sweep) {
  if (!sweep.problems.empty()) return sweep.problems;
  SharesOfTile shares_of_tile, times_of_tile;  // a family may skip the rest of the last tile
  for (const auto& [key, launch] : sweep.launches) {
    const auto& [block, tile, unroll, items] = key;
    const Config config{block, tile, unroll, items};
    const judge::CallContext context =
        ContextOf(rung, "n = " + judge::Grouped(sweep.n) + ", m = " + judge::Grouped(sweep.m) + "; " + TextOf(config));
    const double warps = static_cast<double>(launch.grid.Count() * launch.block.Count()) / vgpu::kWarpSize;
    const auto each = [&](uint64_t counter) { return static_cast<double>(counter) / warps; };
    const double tiles = std::ceil(static_cast<double>(sweep.m) / tile), slots = tiles * tile;
    const double copies = tiles * (std::ceil(static_cast<double>(tile) / block) + 2);  // iterations of the copy loop
    const auto slow = [&](const std::string& what, double counted, double most, const std::string& hint) {
      return std::vector{judge::MakeProblem(judge::Verdict::kSlow, context,
                                            {{"counted", judge::Figure(std::round(counted)) + " " + what + " a warp"},
                                             {"budget", "at most " + judge::Figure(std::round(most))}},
                                            hint)};
    };
    const double loads = each(launch.counters.shared_load_requests), most_loads = 1.1 * slots + 8;
    if (loads > most_loads) {
      return slow("loads from shared memory", loads, most_loads,
                  "load a mark once, into a register, and compare it with all items of the thread");
    }
    // A request brings a warp at most 32 marks, or 128 to lanes that share them.
    if (const double least_loads = static_cast<double>(sweep.m) / 160; loads < least_loads) {
      return {
          judge::MakeProblem(judge::Verdict::kWrong, context,
                             {{"counted", judge::Figure(loads) + " loads from shared memory a warp"},
                              {"expect", "at least " + judge::Figure(least_loads)}},
                             "the loop compares with the marks of the tile: read them where the block has put them")};
    }
    const double branches = each(launch.counters.branches);
    const double most_branches = 2 * slots / unroll + 2 * copies + 6 * items + 20;
    if (branches > most_branches) {
      return slow("branches", branches, most_branches,
                  "the innermost loop takes `unroll` marks a pass: #pragma unroll with a template parameter");
    }
    const double least_branches = 0.8 * static_cast<double>(sweep.m) / unroll;
    if (unroll < tile && branches < least_branches) {
      return {judge::MakeProblem(judge::Verdict::kWrong, context,
                                 {{"counted", judge::Figure(std::round(branches)) + " branches a warp"},
                                  {"expect", "at least " + judge::Figure(std::round(least_branches))}},
                                 "with unroll 1 the loop takes one mark a pass: the compiler unrolls it unless "
                                 "#pragma unroll 1 stands before it")};
    }
    const double barriers = each(launch.counters.barriers), most_barriers = 2 * tiles + 2;
    if (barriers > most_barriers) {
      return slow("barriers", barriers, most_barriers, "a tile has `tile` marks, and a barrier before and after it");
    }
    // The count of a plain kernel: a load, a comparison and two more instructions per item, and the loop's own.
    const double plain = slots * (1 + 3 * items + 4.0 / unroll) + 14 * copies + 30 * items + 60;
    const double instructions = each(launch.counters.warp_instructions), share = instructions / plain;
    if (share > kMostOfPlain) {
      return slow(
          "instructions", instructions, kMostOfPlain * plain,
          "nothing but a load, and a comparison and an addition for each item, belongs into the innermost loop");
    }
    const vgpu::DeviceProfile& device = judge::ProfileNamed("t4");
    const double time_share = vgpu::EstimateTime(launch, device).microseconds /
                              vgpu::EstimateTime(PlainLaunch(launch, sweep, tiles, slots, plain), device).microseconds;
    shares_of_tile[tile].emplace(share, config);
    times_of_tile[tile].emplace(time_share, config);
    if (time_share <= kMostOfPlainTime) continue;
    return {judge::MakeProblem(
        judge::Verdict::kSlow, context,
        {{"takes",
          judge::Figure(std::round(100 * time_share) / 100) + " times as long as a plain kernel on " + device.name},
         {"budget", "at most " + judge::Figure(kMostOfPlainTime)}},
        "what does this configuration wait for? A load, a comparison and an addition are all that the innermost loop "
        "needs")};
  }
  std::vector<judge::Problem> problems = SpreadProblems(rung, "instructions", kMostSpread, shares_of_tile);
  return problems.empty() ? SpreadProblems(rung, "time", kMostTimeSpread, times_of_tile) : problems;
}

}  // namespace lockstep::suites
