// Assignment 12, the host side in PyCUDA: the tests that students have.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "judge/input/oracle.h"
#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/array_call.h"
#include "judge/suite/host_call.h"
#include "judge/suite/main.h"
#include "suites/12_python_explain.h"
#include "suites/12_python_fixture.h"

namespace lockstep::suites {
namespace {

using worker::ApiKind;

constexpr int32_t kEvidenceShift = -1'000'003;

CallContext ContextOf(const std::string& rung, const std::string& input) {
  return {rung, input, judge::Suite::Get().assignment().submission};
}

std::vector<int32_t> Distinct(uint64_t n, const judge::SeedKey& seed) {
  std::vector<int32_t> values(n);
  judge::FillDistinct({reinterpret_cast<uint32_t*>(values.data()), n}, seed);
  return values;
}

// Checks for every rung's call: no kernels other than the assignment's, and no memory, streams or events kept.
void CheckMeans(const CallContext& context, const CallReport& report, std::vector<Problem>& problems) {
  if (!report.observed || !problems.empty()) return;
  for (const worker::ApiCall& call : report.trace) {
    if (call.kind != ApiKind::kLaunch || IsGiven(call.kernel_name)) continue;
    problems.push_back(
        MakeProblem(Verdict::kRejected, context,
                    {"the result is right, but " + judge::Printable(call.kernel_name) + " is no kernel of kernels.cu"},
                    {"the kernels are given: get them from module_from_file(\"kernels.ptx\")",
                     {"function", {"module_from_file"}}}));
    return;
  }
  judge::CheckNothingHeld(context, report, problems);
  if (problems.empty()) judge::CheckNoPageLockedHeld(context, report, problems);
  for (Problem& problem : problems) problem.hint = kHeldHint;
  if (problems.empty()) judge::CheckNoneLeft(context, report, problems);
}

// A call of a launcher whose result goes to h_out, in host memory.
struct HostCall {
  const std::vector<int32_t>& in;
  const std::vector<int32_t>& expected;
  std::vector<Argument> arguments;  // including h_in and h_out, in this order
  bool by_kernels = false;
  std::function<judge::HintText(const std::vector<int32_t>&, const CallReport&)> explain;
};

judge::EvidenceRun RunHostCall(judge::Runner& runner, CallContext context, const HostCall& call) {
  context.host_bytes = call.in.size() * sizeof(int32_t);
  runner.LimitInstructions(call.in.size());
  judge::EvidenceRun run{runner.Call(context.launcher, call.arguments), {}};
  CallReport& report = run.report;
  run.problems = judge::ProblemsOf(report, context);
  ExplainFaults(run.problems);
  if (run.problems.empty() && report.arrays.size() == 2) {
    const std::vector<int32_t> out = judge::ValuesOf<int32_t>(report.arrays[1]);
    if (suites::DidNothing(report) && !out.empty() && out[0] == judge::DeviceArray<int32_t>::FillValue()) {
      run.problems = {judge::UnfinishedProblem(context, "copied nothing")};
      return run;
    }
    if (const auto mismatch = judge::CompareExact<int32_t>(call.expected, out)) {
      run.problems.push_back(MakeProblem(Verdict::kWrong, context,
                                         {"h_out: " + judge::MismatchText(*mismatch, out.size())},
                                         call.explain(out, report)));
    } else {
      judge::CheckCameFromDevice(report, context, report.arrays[1], "h_out", call.by_kernels, run.problems);
      if (run.problems.empty()) {
        judge::CheckWentToDevice(report, context, report.arrays[0], "h_in", run.problems);
      }
    }
    if (report.arrays[0] != judge::BytesOf(call.in)) {
      run.problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_in was changed"}, "h_in is read-only"));
    }
  }
  CheckMeans(context, report, run.problems);
  if (report.observed) judge::AddCalls(run.problems, report.trace, kShownFunctions);
  return run;
}

// Whether all bytes copied to the host had been written by copies within the device.
bool LeavesFromACopy(const CallReport& report) {
  return std::ranges::all_of(report.trace, [&](const worker::ApiCall& last) {
    return last.kind != ApiKind::kDeviceToHost || last.failed || judge::WasCopiedOnTheDevice(report, last);
  });
}

judge::EvidenceRun RoundTrip(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                             const std::string& what) {
  const CallContext context = ContextOf(rung, "n = " + Grouped(values.size()) + ", " + what);
  const std::vector<int32_t> poisoned(values.size(), judge::DeviceArray<int32_t>::FillValue());
  judge::EvidenceRun run = RunHostCall(
      runner, context,
      {.in = values,
       .expected = values,
       .arguments = {Argument::HostArray(judge::BytesOf(values)), Argument::HostArray(judge::BytesOf(poisoned)),
                     Argument::Integer(static_cast<unsigned>(values.size()))},
       .explain = [](const std::vector<int32_t>& out, const CallReport& report) { return ExplainCopy(out, report); }});
  if (run.problems.empty() && run.report.observed && run.report.api.bytes_on_device < values.size() * sizeof(int32_t)) {
    run.problems.push_back(
        MakeProblem(Verdict::kRejected, context,
                    {"h_out is right, but " + judge::Counted(run.report.api.bytes_on_device, "byte") +
                     " went from one array on the device to the other"},
                    {"memcpy_dtod(b_d.gpudata, a_d.gpudata, a_d.nbytes)", {"function", {"memcpy_dtod"}}}));
  } else if (run.problems.empty() && run.report.observed && !values.empty() && !LeavesFromACopy(run.report)) {
    run.problems.push_back(MakeProblem(Verdict::kRejected, context,
                                       {"h_out is right, but it was not copied from the second array on the device"},
                                       "h_in goes to the first array, that to the second, and the second to h_out"));
  } else {
    return run;
  }
  judge::AddCalls(run.problems, run.report.trace, kShownFunctions);
  return run;
}

judge::EvidenceRun Shift(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                         int32_t shift) {
  const uint64_t n = values.size();
  judge::DeviceArray<int32_t> d_in(runner.device(), n, "d_in"), d_out(runner.device(), n, "d_out");
  const CallContext context = ContextOf(rung, "n = " + Grouped(n) + ", shift = " + std::to_string(shift));
  judge::EvidenceRun run = judge::RunArrayCall<int32_t>(
      runner, context,
      {.in = d_in,
       .out = d_out,
       .values = values,
       .arguments = {d_in.argument(), d_out.argument(), Argument::Integer(static_cast<unsigned>(n)),
                     Argument::Integer(shift)},
       .unchanged_hint = "d_in is read-only: the result goes to d_out",
       .is_work = PlacesOf(n, shift) != 0,
       .explain = [](const CallReport&, std::vector<Problem>& problems) { ExplainFaults(problems); },
       .check = [&](const CallReport& report,
                    std::span<const int32_t> found) { return CheckShift(context, report, values, found, shift); }});
  CheckMeans(context, run.report, run.problems);
  return run;
}

judge::EvidenceRun Sum(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                       const std::string& what) {
  const uint64_t n = values.size();
  judge::DeviceArray<int32_t> d_in(runner.device(), n, "d_in"), d_sum(runner.device(), 1, "d_sum");
  const CallContext context = ContextOf(rung, "n = " + Grouped(n) + ", " + what);
  const int32_t expected = judge::WrappingSum(values);
  judge::EvidenceRun run = judge::RunArrayCall<int32_t>(
      runner, context,
      {.in = d_in,
       .out = d_sum,
       .values = values,
       .result_size = 1,
       .arguments = {d_in.argument(), d_sum.argument(), Argument::Integer(static_cast<unsigned>(n))},
       .unchanged_hint = "d_in is read-only: the blocks' sums go to an array of their own",
       .is_work = n > 1,
       .explain = [](const CallReport&, std::vector<Problem>& problems) { ExplainFaults(problems); },
       .check = [&](const CallReport& report,
                    std::span<const int32_t> found) { return CheckSum(context, report, values, expected, found[0]); }});
  const worker::MemoryUse& memory = run.report.memory;
  if (run.problems.empty() && memory.bytes_to_host > 0 && memory.bytes_to_device > 0) {
    run.problems.push_back(
        MakeProblem(Verdict::kRejected, context,
                    {"d_sum is right, but the host got " + judge::Counted(memory.bytes_to_host, "byte") +
                     " from the device, and sent " + Grouped(memory.bytes_to_device) + " there"},
                    "the blocks' sums stay on the device, where the next launch adds them up"));
  }
  CheckMeans(context, run.report, run.problems);
  return run;
}

judge::EvidenceRun Subtract(judge::Runner& runner, const std::string& rung, const std::vector<int32_t>& values,
                            const std::vector<int32_t>& background) {
  const uint64_t n = values.size();
  const CallContext context = ContextOf(rung, "n = " + Grouped(n));
  std::vector<int32_t> expected(n);
  for (uint64_t i = 0; i < n; ++i) {
    expected[i] = static_cast<int32_t>(static_cast<uint32_t>(values[i]) - static_cast<uint32_t>(background[i]));
  }
  const std::vector<int32_t> poisoned(n, judge::DeviceArray<int32_t>::FillValue());
  judge::DeviceArray<int32_t> d_background(runner.device(), n, "d_background");
  d_background.Set(background);
  judge::EvidenceRun run = RunHostCall(
      runner, context,
      {.in = values,
       .expected = expected,
       .arguments = {Argument::HostArray(judge::BytesOf(values)), d_background.argument(),
                     Argument::HostArray(judge::BytesOf(poisoned)), Argument::Integer(static_cast<unsigned>(n))},
       .by_kernels = true,
       .explain = [&](const std::vector<int32_t>& out, const CallReport& report) {
         return ExplainDifference(values, background, out, report);
       }});
  // Page-locked memory counts only if all copies use it.
  const auto is_pageable = [](const worker::StreamedOperation& operation) {
    const bool is_copy =
        operation.kind == worker::StreamedKind::kToDevice || operation.kind == worker::StreamedKind::kToHost;
    return is_copy && !operation.page_locked;
  };
  if (std::ranges::any_of(run.report.operations, is_pageable)) run.report.api.pinned_allocations = 0;
  judge::CheckUnchanged<int32_t>(d_background, background, context, "d_background is read-only", run.problems);
  judge::CheckGuards(context, run.problems, d_background);
  if (n > 0 && run.problems.empty()) {
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls,
                             {{judge::FirstOf(d_background, n)}}, {}, run.problems);
  }
  return run;
}

judge::EvidenceRun RunOf(judge::Runner& runner, const std::string& rung, const judge::EvidenceCase& one) {
  const uint64_t n = one.elements;
  const judge::SeedKey& seed = one.seed;
  const auto most = static_cast<int64_t>(n) - 1;
  const auto drawn = [&] { return judge::Random(judge::SeedFor(seed, "shift")).Between(-most, most); };
  switch (NumberOf(rung)) {
    case 1:
      return RoundTrip(runner, rung, judge::MakeInts(Pattern::kSmall, n, seed), "small random integers");
    case 2:
      return Shift(runner, rung, Distinct(n, seed), one.drawn ? static_cast<int32_t>(drawn()) : kEvidenceShift);
    case 3:
      return Sum(runner, rung, judge::MakeInts(Pattern::kSmall, n, seed), "small random integers");
    default:
      return Subtract(runner, rung, judge::MakeInts(Pattern::kSmall, n, seed), Distinct(n, seed));
  }
}

}  // namespace

std::vector<std::string> Rung12(int number) {
  return judge::Suite::Get().SelectedRungs([&](const std::string& rung) { return NumberOf(rung) == number; });
}

void RoundTripTest::Expect(uint64_t n, Pattern pattern, Role role) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::EvidenceRun run = RoundTrip(judge::Suite::Get().runner(role), rung(), judge::MakeInts(pattern, n, seed),
                                     std::string(judge::NameOf(pattern)));
  Keep(run.report);
  Add(std::move(run.problems));
}

void PreparedShiftTest::Expect(uint64_t n, int64_t shift, Role role) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::EvidenceRun run =
      Shift(judge::Suite::Get().runner(role), rung(), Distinct(n, seed), static_cast<int32_t>(shift));
  Keep(run.report);
  Add(std::move(run.problems));
}

void PreparedSumTest::Expect(uint64_t n, Pattern pattern, Role role) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::EvidenceRun run = Sum(judge::Suite::Get().runner(role), rung(), judge::MakeInts(pattern, n, seed),
                               std::string(judge::NameOf(pattern)));
  Keep(run.report);
  Add(std::move(run.problems));
}

CallReport StreamedTest::Run(uint64_t n, Role role) {
  const judge::SeedKey seed = Seed(inputs_++), other = Seed(inputs_++);
  if (!ok()) return {};
  judge::EvidenceRun run =
      Subtract(judge::Suite::Get().runner(role), rung(), judge::MakeInts(Pattern::kSmall, n, seed), Distinct(n, other));
  Keep(run.report);
  Add(std::move(run.problems));
  return std::move(run.report);
}

void StreamedTest::Expect(uint64_t n, Role role) { Run(n, role); }

void StreamedTest::ExpectOverlap(uint64_t n) {
  const CallReport report = Run(n, Role::kChecked);
  if (!ok() || !report.observed) return;
  const CallContext context = ContextOf(rung(), "n = " + Grouped(n));
  if (std::optional<Problem> problem = CheckOverlap(context, report, n * sizeof(int32_t))) {
    std::vector<Problem> problems = {*problem};
    judge::AddCalls(problems, report.trace, kShownFunctions);
    Add(std::move(problems));
  }
}

TEST_P(RoundTripTest, CopiesAnyLength) {
  Expect(1000, Pattern::kSmall);
  for (const uint64_t n : judge::Around({2, 256, 4096})) Expect(n, Pattern::kExtremes);
}

TEST_P(RoundTripTest, CopiesLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  Expect(1'000'003, Pattern::kSmall, Role::kPlain);
}

TEST_P(RoundTripTest, CopiesNothing) {
  Expect(1, Pattern::kOnes);
  Expect(0, Pattern::kOnes);
}

TEST_P(PreparedShiftTest, ShiftsAnyLength) {
  Expect(1000, 3);
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 4096})) Expect(n, 1);
}

TEST_P(PreparedShiftTest, ShiftsByAnything) {
  Expect(1000, 3);
  for (const int64_t shift : {0, 999, 1000, 1001, -1, -1000, -1001, 123'456'789}) Expect(1000, shift);
  for (const int64_t shift : {int64_t{INT32_MAX}, int64_t{INT32_MIN}}) Expect(777, shift);
}

TEST_P(PreparedShiftTest, ShiftsLargeArrays) {
  Expect(1000, 3, Role::kPlain);
  // More than 65,535 blocks of 32 threads.
  Expect((uint64_t{1} << 21) + 43, 123'457, Role::kPlain);
}

TEST_P(PreparedShiftTest, ShiftsNothing) {
  Expect(1, 5);
  Expect(0, 5);
}

TEST_P(PreparedSumTest, SumsAnyLength) {
  Expect(1000, Pattern::kSmall);
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 256 * 256})) Expect(n, Pattern::kSmall);
}

TEST_P(PreparedSumTest, SumsAllKindsOfValues) {
  for (const Pattern pattern : {Pattern::kOnes, Pattern::kExtremes, Pattern::kSpikeFirst, Pattern::kSpikeLast}) {
    Expect(70'001, pattern);
  }
}

TEST_P(PreparedSumTest, SumsLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  // More than two launches of blocks of 1,024 threads can add up.
  Expect((uint64_t{1} << 20) + 43, Pattern::kSmall, Role::kPlain);
}

TEST_P(PreparedSumTest, SumsNothing) {
  Expect(1, Pattern::kOnes);
  Expect(0, Pattern::kOnes);
}

TEST_P(StreamedTest, SubtractsAnyLength) {
  Expect(1000);
  for (const uint64_t n : judge::Around({2, 4, 64, 1024, 4096})) Expect(n);
}

TEST_P(StreamedTest, SubtractsLargeArrays) {
  Expect(1000, Role::kPlain);
  Expect(1'000'003, Role::kPlain);
}

TEST_P(StreamedTest, SubtractsNothing) {
  Expect(1);
  Expect(0);
}

class OverlapTest : public StreamedTest {};

TEST_P(OverlapTest, PutsChunksIntoStreams) {
  for (const uint64_t n : {100'000, 65'537}) ExpectOverlap(n);
  ExpectOverlap(static_cast<uint64_t>(judge::Random(Seed(1000)).Between(200'000, 1'000'000)));
  ExpectOverlap(judge::Suite::Get().assignment().EvidenceElements(rung()));
}

INSTANTIATE_TEST_SUITE_P(, RoundTripTest, testing::ValuesIn(Rung12(1)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, PreparedShiftTest, testing::ValuesIn(Rung12(2)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, PreparedSumTest, testing::ValuesIn(Rung12(3)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, StreamedTest, testing::ValuesIn(Rung12(4)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, OverlapTest, testing::ValuesIn(Rung12(4)), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  return suites::RunOf(runner, rung, one);
}

}  // namespace lockstep::judge
