// Assignment 11, libraries: the tests that students have.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <optional>

#include "judge/device/compare.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/array_call.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/main.h"
#include "libraries.h"
#include "suites/11_libraries_checks.h"
#include "suites/11_libraries_fixture.h"

namespace lockstep::suites {
namespace {

using judge::Counted;
using judge::DeviceArray;
using judge::EvidenceRun;
using judge::FloatText;
using judge::Runner;

constexpr uint64_t kEvidenceSignal = 1024;  // in evidence runs of many signals, the length of each
constexpr uint64_t kSector = vgpu::TouchedRange::kSectorBytes;

CallContext ContextOf(const std::string& rung, const std::string& input) {
  return {rung, input, judge::Suite::Get().assignment().submission};
}

Argument LengthOf(uint64_t n) { return Argument::Integer(static_cast<unsigned>(n)); }

std::function<void(const CallReport&, std::vector<Problem>&)> ExplainedAs(const FaultyCall& call) {
  return [call](const CallReport& report, std::vector<Problem>& problems) { ExplainFaults(report, call, problems); };
}

// Every call's last step: adds hints for what a library refused.
EvidenceRun Explained(EvidenceRun run) {
  ExplainRefusals(run.report, run.problems);
  return run;
}

// A rung that returns a number computed from an array. `check` finds problems with it; is_work: kernels have to read
// all of it.
template <class T>
EvidenceRun RunNumber(Runner& runner, const CallContext& context, std::span<const T> values, bool is_work,
                      const std::function<std::optional<Problem>(const CallReport&)>& check) {
  DeviceArray<T> in(runner.device(), values.size(), "d_in");
  const auto before = in.Fill(values);
  runner.LimitInstructions(values.size());
  EvidenceRun run{runner.Call(context.launcher, std::vector<Argument>{in.argument(), LengthOf(values.size())}), {}};
  run.problems = judge::ProblemsOf(run.report, context);
  ExplainFaults(run.report, {values.size(), false}, run.problems);
  if (!run.problems.empty()) return run;
  if (auto problem = check(run.report)) {
    run.problems.push_back(std::move(*problem));
    if (run.problems.back().unfinished) return run;
  }
  judge::CheckUnchanged<T>(in, before.values(), context, "d_in is read-only: no algorithm may write there",
                           run.problems);
  judge::CheckGuards(context, run.problems, in);
  if (is_work && run.problems.empty()) {
    const judge::TaskBytes input = judge::FirstOf(in, values.size());
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls, std::span(&input, 1),
                             {}, run.problems);
  }
  if (run.problems.empty()) CheckFreed(context, run.report, run.problems);
  return run;
}

// The shape in evidence runs: two to eight times as many columns as rows.
Shape EvidenceShape(uint64_t elements) {
  uint64_t rows = 1;
  while (8 * rows * rows <= elements) rows *= 2;
  return {rows, elements / rows};
}

// The largest length up to n whose prime factors are only 2, 3, 5 and 7.
uint64_t SmoothUpTo(uint64_t n) {
  for (;; --n) {
    uint64_t rest = n;
    for (const uint64_t prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return n;
  }
}

float Fraction(uint32_t word) { return static_cast<float>(static_cast<int32_t>(word) >> 8) * 0x1p-23f; }

}  // namespace

Input<float> MakeWholeNumbers(uint64_t n, const judge::SeedKey& seed) {
  constexpr double kMostInFloat = 0x1p24;
  const auto most = static_cast<int64_t>(std::min(100.0, std::sqrt(kMostInFloat / static_cast<double>(n + 1))));
  Input<float> input{{}, "random whole numbers"};
  judge::Random random(seed);
  for (uint64_t i = 0; i < n; ++i) {
    // Not 0: each element must matter.
    const int64_t value = random.Between(1, most);
    input.values.push_back(static_cast<float>(random.Next() % 2 == 0 ? value : -value));
  }
  return input;
}

Input<float> MakeReals(uint64_t n, const judge::SeedKey& seed) {
  Input<float> input{{}, "random between -1 and 1"};
  for (const uint32_t word : judge::MakeWords(n, seed)) input.values.push_back(Fraction(word));
  return input;
}

std::vector<float> MakeMatrix(Shape shape, const judge::SeedKey& seed) {
  const uint64_t n = shape.elements();
  std::vector<float> matrix;
  // The low bits, as many as n needs, differ.
  const uint32_t mask = n > 1 ? std::bit_ceil(static_cast<uint32_t>(n)) - 1 : 0;
  for (const uint32_t word : judge::MakeDistinct(n, seed)) matrix.push_back(static_cast<float>((word & mask) + 1));
  return matrix;
}

FilterInput MakeFilterInput(uint64_t n, uint64_t count, uint64_t taps, const judge::SeedKey& seed) {
  FilterInput input{n, count, MakeReals(n * count, seed).values, std::vector<float>(n), "a random filter"};
  const std::vector<uint32_t> words = judge::MakeWords(2 * std::min(taps, n), judge::SeedFor(seed, "filter"));
  for (uint64_t i = 0; i < words.size() / 2; ++i) {
    const uint64_t place = taps >= n ? i : words[2 * i] % n;
    // At least 0.5, so that omissions show.
    input.filter[place] = 0.5f + 0.5f * std::abs(Fraction(words[2 * i + 1]));
  }
  return input;
}

FilterInput MakeDelta(uint64_t n, uint64_t count, uint64_t place, float weight, const judge::SeedKey& seed) {
  FilterInput input{n, count, MakeReals(n * count, seed).values, std::vector<float>(n), ""};
  input.filter[place] = weight;
  input.what = "a filter that is " + FloatText(weight) + " at " + Grouped(place) + " and 0 elsewhere";
  return input;
}

EvidenceRun RunSum(Runner& runner, const std::string& rung, const Input<int32_t>& input) {
  const std::vector<int32_t>& values = input.values;
  const CallContext context = ContextOf(rung, "n = " + Grouped(values.size()) + ", " + input.what);
  const bool is_work = values.size() > 1;
  return Explained(RunNumber<int32_t>(runner, context, values, is_work, [&](const CallReport& report) {
    const int32_t expected = judge::WrappingSum(values);
    const auto found = static_cast<int32_t>(report.value.AsInteger());
    return ProblemOfNumber(context, report, found == expected, is_work, std::to_string(expected), std::to_string(found),
                           [&] { return ExplainSum(values, found); });
  }));
}

EvidenceRun RunNorm(Runner& runner, const std::string& rung, const Input<float>& input) {
  const std::vector<float>& values = input.values;
  const CallContext context = ContextOf(rung, "n = " + Grouped(values.size()) + ", " + input.what);
  const bool is_work = values.size() > 1;
  return Explained(RunNumber<float>(runner, context, values, is_work, [&](const CallReport& report) {
    const double expected = NormOf(values), found = report.value.AsDouble();
    // A sum of n squares is within n units of the last place (the root halves that), in any order. For whole numbers it
    // is exact, unless they are scaled first, as cublasSnrm2 may do.
    const bool is_exact = std::all_of(values.begin(), values.end(), [](float x) { return x == std::floor(x); });
    constexpr double kUnit = 0x1p-23, kOfScaling = 32;
    const auto n = static_cast<double>(values.size());
    const double units = is_exact ? kOfScaling + std::log2(n + 1) : n / 2 + 2;
    const double bound = expected * units * kUnit;
    return ProblemOfNumber(context, report, std::abs(found - expected) <= bound, is_work,
                           FloatText(expected) + (bound > 0 ? " ± " + judge::BoundText(bound) : ""), FloatText(found),
                           [&] { return ExplainNorm(values, expected, found, bound); });
  }));
}

EvidenceRun RunScan(Runner& runner, const std::string& rung, const Input<int32_t>& input) {
  const std::vector<int32_t>& values = input.values;
  const CallContext context = ContextOf(rung, "n = " + Grouped(values.size()) + ", " + input.what);
  DeviceArray<int32_t> in(runner.device(), values.size(), "d_in"), out(runner.device(), values.size(), "d_out");
  EvidenceRun run =
      judge::RunArrayCall<int32_t>(runner, context,
                                   {.in = in,
                                    .out = out,
                                    .values = values,
                                    .arguments = {in.argument(), out.argument(), LengthOf(values.size())},
                                    .unchanged_hint = "d_in is read-only: the scan goes to d_out",
                                    // One element is a copy.
                                    .is_work = values.size() > 1,
                                    .explain = ExplainedAs({values.size(), false}),
                                    .check = [&](const CallReport& report, std::span<const int32_t> found) {
                                      return CheckScan(context, report, values, found);
                                    }});
  if (run.problems.empty()) CheckFreed(context, run.report, run.problems);
  return Explained(std::move(run));
}

EvidenceRun RunTranspose(Runner& runner, const std::string& rung, Shape shape, const std::vector<float>& matrix) {
  const CallContext context = ContextOf(
      rung, Counted(shape.rows, "row") + " and " + Counted(shape.columns, "column") + ", all elements different");
  DeviceArray<float> in(runner.device(), matrix.size(), "d_in"), out(runner.device(), matrix.size(), "d_out");
  EvidenceRun run = judge::RunArrayCall<float>(
      runner, context,
      {.in = in,
       .out = out,
       .values = matrix,
       .arguments = {in.argument(), out.argument(), LengthOf(shape.rows), LengthOf(shape.columns)},
       .unchanged_hint = "d_in is read-only: the transpose goes to d_out",
       .is_work = shape.rows > 1 && shape.columns > 1,
       .explain = ExplainedAs({shape.elements(), false}),
       .check = [&](const CallReport& report, std::span<const float> found) {
         return CheckTranspose(context, report, shape, matrix, found);
       }});
  if (run.problems.empty()) CheckFreed(context, run.report, run.problems);
  return Explained(std::move(run));
}

EvidenceRun RunFilter(Runner& runner, const std::string& rung, const FilterInput& input) {
  const bool has_many = rung.ends_with("_many");
  const std::string signals = has_many ? ", " + Counted(input.count, "signal") : "";
  const CallContext context = ContextOf(rung, "n = " + Grouped(input.n) + signals + ", " + input.what);
  DeviceArray<float> in(runner.device(), input.signals.size(), has_many ? "d_signals" : "d_signal");
  DeviceArray<float> filter(runner.device(), input.n, "d_filter"), out(runner.device(), in.size(), "d_out");
  filter.Set(input.filter);
  std::vector<Argument> arguments = {in.argument(), filter.argument(), out.argument(), LengthOf(input.n)};
  if (has_many) arguments.push_back(LengthOf(input.count));
  EvidenceRun run = judge::RunArrayCall<float>(
      runner, context,
      {.in = in,
       .out = out,
       .values = input.signals,
       .arguments = arguments,
       .unchanged_hint = in.label() + " is read-only: the result goes to d_out",
       .is_work = false,
       .explain = ExplainedAs({input.signals.size(), true}),
       .check = [&](const CallReport& report,
                    std::span<const float> found) { return CheckFilter(context, report, input, found); }},
      filter);
  if (!run.problems.empty()) return Explained(std::move(run));
  judge::CheckUnchanged<float>(filter, input.filter, context, "d_filter is read-only", run.problems);
  // Inputs and result are checked separately: copying signal and filter to one array first, or to padded rows, is
  // allowed. Copied data need not be read at its original place.
  judge::TaskBytes read[] = {judge::FirstOf(in, in.size()),
                             judge::FirstOf(filter, input.signals.empty() ? 0 : input.n)};
  if (const uint64_t copied = run.report.api.bytes_on_device; copied > 0) {
    for (judge::TaskBytes& input_bytes : read) input_bytes.spare = copied + kSector;
  }
  const judge::TaskBytes stored[] = {judge::FirstOf(out, in.size())};
  const judge::DeviceCalls& allowed = judge::Suite::Get().assignment().device_calls;
  if (run.problems.empty()) judge::CheckKernelsDidIt(run.report, context, allowed, read, {}, run.problems);
  if (run.problems.empty()) judge::CheckKernelsDidIt(run.report, context, allowed, {}, stored, run.problems);
  if (run.problems.empty()) CheckFreed(context, run.report, run.problems);
  return Explained(std::move(run));
}

std::vector<std::string> LibraryRungs(const std::vector<std::string>& beginnings) {
  return judge::Suite::Get().SelectedRungs([&](const std::string& rung) {
    return std::any_of(beginnings.begin(), beginnings.end(),
                       [&](const std::string& beginning) { return rung.starts_with(beginning); });
  });
}

void SumTest::ExpectOf(const Input<int32_t>& input, Role role) {
  if (ok()) Take(RunSum(judge::Suite::Get().runner(role), rung(), input));
}
void SumTest::Expect(uint64_t n, Pattern pattern, Role role) {
  const judge::SeedKey seed = NextSeed();
  if (ok()) ExpectOf({judge::MakeInts(pattern, n, seed), std::string(judge::NameOf(pattern))}, role);
}

void NormTest::ExpectOf(const Input<float>& input, Role role) {
  if (ok()) Take(RunNorm(judge::Suite::Get().runner(role), rung(), input));
}
void NormTest::Expect(uint64_t n, Role role) {
  const judge::SeedKey seed = NextSeed();
  if (ok()) ExpectOf(MakeWholeNumbers(n, seed), role);
}

void ScanTest::Expect(uint64_t n, Pattern pattern, Role role) {
  const judge::SeedKey seed = NextSeed();
  if (!ok()) return;
  Take(RunScan(judge::Suite::Get().runner(role), rung(),
               {judge::MakeInts(pattern, n, seed), std::string(judge::NameOf(pattern))}));
}

void TransposeTest::Expect(Shape shape, Role role) {
  const judge::SeedKey seed = NextSeed();
  if (ok()) Take(RunTranspose(judge::Suite::Get().runner(role), rung(), shape, MakeMatrix(shape, seed)));
}

bool FilterTest::has_many() const { return rung().ends_with("_many"); }
void FilterTest::Expect(uint64_t n, uint64_t count, uint64_t taps, Role role) {
  const judge::SeedKey seed = NextSeed();
  if (!ok()) return;
  Take(RunFilter(judge::Suite::Get().runner(role), rung(), MakeFilterInput(n, has_many() ? count : 1, taps, seed)));
}
void FilterTest::ExpectDelta(uint64_t n, uint64_t count, uint64_t place, float weight) {
  const judge::SeedKey seed = NextSeed();
  if (!ok()) return;
  Take(RunFilter(judge::Suite::Get().runner(Role::kChecked), rung(),
                 MakeDelta(n, has_many() ? count : 1, place, weight, seed)));
}

// The sum.

TEST_P(SumTest, SumsAnyLength) {
  Expect(1000, Pattern::kSmall);
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 5120})) Expect(n, Pattern::kSmall);
  for (const uint64_t n : {7, 97, 1009, 100003}) Expect(n, Pattern::kAlternating);
}

TEST_P(SumTest, WrapsAround) {
  for (const uint64_t n : {3, 1000, 10007}) {
    Expect(n, Pattern::kExtremes);
    Expect(n, Pattern::kLargest);
  }
}

TEST_P(SumTest, SumsAllKindsOfValues) {
  for (const Pattern pattern : {Pattern::kOnes, Pattern::kRamp, Pattern::kSpikeFirst, Pattern::kSpikeLast}) {
    for (const uint64_t n : {2, 1000}) Expect(n, pattern);
  }
}

TEST_P(SumTest, HandlesNothing) {
  // If the rung is not begun, report that first.
  Expect(8, Pattern::kRamp);
  Expect(1, Pattern::kOnes);
  Expect(0, Pattern::kOnes);
}

TEST_P(SumTest, SumsLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  Expect((uint64_t{1} << 22) + 77, Pattern::kExtremes, Role::kPlain);
}

// The norm.

TEST_P(NormTest, HasAnyLength) {
  Expect(1000);
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 5120})) Expect(n);
  for (const uint64_t n : {7, 97, 1009, 100003}) Expect(n);
}

TEST_P(NormTest, TakesRealNumbers) {
  for (const uint64_t n : {10, 1000, 4099}) {
    const judge::SeedKey seed = NextSeed();
    ExpectOf(MakeReals(n, seed));
  }
}

TEST_P(NormTest, TakesOneThatIsNotZero) {
  for (const uint64_t place : {0, 499, 999}) {
    Input<float> input{std::vector<float>(1000), "-2.5 at " + Grouped(place) + ", 0 elsewhere"};
    input.values[place] = -2.5f;
    ExpectOf(input);
  }
}

TEST_P(NormTest, HandlesNothing) {
  Expect(8);
  Expect(1);
  Expect(0);
}

TEST_P(NormTest, TakesLargeArrays) {
  Expect(1000, Role::kPlain);
  Expect((uint64_t{1} << 22) + 77, Role::kPlain);
}

// The scan.

TEST_P(ScanTest, ScansAnyLength) {
  Expect(1000, Pattern::kSmall);
  for (const uint64_t n : judge::Around({2, 32, 256, 1024, 1920, 5120})) Expect(n, Pattern::kSmall);
  for (const uint64_t n : {7, 97, 1009, 100003}) Expect(n, Pattern::kAlternating);
}

TEST_P(ScanTest, WrapsAround) {
  for (const uint64_t n : {3, 1000, 10007}) {
    Expect(n, Pattern::kExtremes);
    Expect(n, Pattern::kLargest);
  }
}

TEST_P(ScanTest, HandlesNothing) {
  Expect(8, Pattern::kRamp);
  Expect(1, Pattern::kSmall);
  Expect(0, Pattern::kOnes);
}

TEST_P(ScanTest, ScansLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  Expect((uint64_t{1} << 22) + 77, Pattern::kExtremes, Role::kPlain);
}

// The transpose.

TEST_P(TransposeTest, TransposesRectangles) {
  for (const Shape shape : {Shape{2, 3}, Shape{3, 2}, Shape{5, 40}, Shape{64, 33}, Shape{300, 200}, Shape{7, 1000}}) {
    Expect(shape);
  }
}

TEST_P(TransposeTest, TransposesSquares) {
  for (const uint64_t n : judge::Around({2, 32, 64})) Expect({n, n});
}

TEST_P(TransposeTest, TransposesSingleRowsAndColumns) {
  Expect({2, 3});
  for (const uint64_t n : {2, 31, 1000}) {
    Expect({1, n});
    Expect({n, 1});
  }
  Expect({1, 1});
}

TEST_P(TransposeTest, HandlesNothing) {
  Expect({2, 3});
  for (const Shape shape : {Shape{0, 0}, Shape{0, 5}, Shape{5, 0}}) Expect(shape);
}

TEST_P(TransposeTest, TransposesLargeMatrices) {
  Expect({30, 50}, Role::kPlain);
  Expect({1500, 2001}, Role::kPlain);
}

// The filters. If a launcher gets only one signal, it is the first.

TEST_P(FilterTest, FiltersAnyLength) {
  Expect(30, 3, 30);
  for (const uint64_t n : {8, 12, 7, 25, 100, 105, 256, 343, 1000}) Expect(n, 5, n);
}

TEST_P(FilterTest, Shifts) {
  Expect(30, 3, 30);
  for (const uint64_t n : {10, 64, 225, 1024}) {
    for (const uint64_t place : {uint64_t{0}, uint64_t{1}, uint64_t{3}, n / 2, n - 1}) ExpectDelta(n, 4, place, 1);
  }
  ExpectDelta(100, 3, 7, -2.5f);
}

TEST_P(FilterTest, FiltersVeryShortSignals) {
  Expect(30, 3, 30);
  for (const uint64_t n : {4, 3, 2, 1}) Expect(n, 6, n);
}

TEST_P(FilterTest, HandlesNothing) {
  Expect(30, 3, 30);
  Expect(0, 4, 0);
  if (has_many()) Expect(16, 0, 16);
}

TEST_P(FilterTest, FiltersLongSignals) {
  Expect(30, 3, 30, Role::kPlain);
  Expect(4200, 8, 4200, Role::kPlain);
  Expect(19683, 3, 100, Role::kPlain);
  Expect(uint64_t{1} << 18, 3, 16, Role::kPlain);
}

TEST_P(ManyFilterTest, FiltersManySignals) {
  Expect(30, 3, 30);
  Expect(32, 30, 32);
  Expect(625, 101, 625);
  Expect(1024, 300, 64, Role::kPlain);
}

TEST_P(ManyFilterTest, FiltersOneSignal) {
  for (const uint64_t n : {30, 49, 512}) Expect(n, 1, n);
}

INSTANTIATE_TEST_SUITE_P(, SumTest, testing::ValuesIn(LibraryRungs({"libraries1"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, NormTest, testing::ValuesIn(LibraryRungs({"libraries2"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, ScanTest, testing::ValuesIn(LibraryRungs({"libraries3"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, TransposeTest, testing::ValuesIn(LibraryRungs({"libraries4"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, FilterTest, testing::ValuesIn(LibraryRungs({"libraries5", "libraries6"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, ManyFilterTest, testing::ValuesIn(LibraryRungs({"libraries6"})), judge::RungName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(SumTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(NormTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ScanTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TransposeTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FilterTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ManyFilterTest);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  using namespace suites;
  const std::string small(NameOf(Pattern::kSmall));
  if (rung.starts_with("libraries1"))
    return RunSum(runner, rung, {MakeInts(Pattern::kSmall, one.elements, one.seed), small});
  if (rung.starts_with("libraries2")) {
    return RunNorm(runner, rung, (one.drawn ? MakeReals : MakeWholeNumbers)(one.elements, one.seed));
  }
  if (rung.starts_with("libraries3"))
    return RunScan(runner, rung, {MakeInts(Pattern::kSmall, one.elements, one.seed), small});
  if (rung.starts_with("libraries4")) {
    Shape shape = EvidenceShape(one.elements);
    if (one.drawn && Random(SeedFor(one.seed, "shape")).Next() % 2 == 0) std::swap(shape.rows, shape.columns);
    EvidenceRun run = RunTranspose(runner, rung, shape, MakeMatrix(shape, one.seed));
    run.elements = shape.elements();
    return run;
  }
  const bool has_many = rung.starts_with("libraries6");
  uint64_t n = has_many ? std::min(kEvidenceSignal, one.elements) : one.elements;
  if (one.drawn && has_many) n -= static_cast<uint64_t>(Random(SeedFor(one.seed, "length")).Next()) % (n / 2 + 1);
  if (one.drawn) n = SmoothUpTo(n);
  const uint64_t count = has_many ? one.elements / n : 1;
  // No element of the filter is 0: a sum over a few of them is no transform.
  EvidenceRun run = RunFilter(runner, rung, MakeFilterInput(n, count, n, one.seed));
  run.elements = n * count;
  return run;
}

}  // namespace lockstep::judge
