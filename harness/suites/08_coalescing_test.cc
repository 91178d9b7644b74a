// Assignment 08, the coalescing experiment: the tests that students have. Each runs on every rung of its kind.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "judge/suite/timing.h"
#include "suites/08_coalescing_fixture.h"

namespace lockstep::suites {
namespace {

bool IsPrediction(const std::string& rung) { return rung == "coalesce1_predict" || rung == "coalesce9_in_2006"; }

std::string CountText(const std::string& rung, uint64_t floats) {
  return "n = " + judge::Grouped(floats / FloatsEach(LayoutOf(rung)));
}

std::optional<Problem> CheckResult(const CallContext& context, const CallReport& report, std::span<const uint32_t> in,
                                   std::span<const uint32_t> out) {
  const Sums sums(LayoutOf(context.launcher), in);
  const bool launched = !report.observed || !report.launches.empty();
  const std::optional<uint64_t> wrong = sums.FirstWrong(out);
  if (!wrong) return launched || in.empty() ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  const bool untouched = out[*wrong] == judge::DeviceArray<uint32_t>::FillValue();
  if (!launched && untouched) return judge::UnfinishedProblem(context);
  const std::string found = untouched ? "nothing was written" : judge::ValueText(std::bit_cast<float>(out[*wrong]));
  return WrongAt(*wrong, context,
                 {sums.PlaceText(*wrong) + " is wrong (" + judge::Grouped(sums.CountWrong(out)) + " of " +
                      judge::Counted(in.size(), "float") + " in total)",
                  {"expect", judge::ValueText(sums.Right(*wrong))},
                  {"found", found}},
                 sums.Hint(*wrong, out[*wrong], untouched));
}

std::vector<Argument> ArgumentsOf(const CoalescingBuffers& buffers, const std::string& rung, uint64_t floats) {
  return {buffers.in.argument(), buffers.out.argument(),
          Argument::Integer(static_cast<unsigned>(floats / FloatsEach(LayoutOf(rung))))};
}

}  // namespace

std::vector<std::string> RungsWithKernels() {
  return judge::Suite::Get().SelectedRungs([](const std::string& rung) { return !IsPrediction(rung); });
}
std::vector<std::string> RungsOfPredictions() { return judge::Suite::Get().SelectedRungs(IsPrediction); }

std::vector<uint32_t> MakeFloats(Values values, uint64_t count, const judge::SeedKey& seed) {
  std::vector<uint32_t> words = values == Values::kRamp ? std::vector<uint32_t>(count) : judge::MakeWords(count, seed);
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t whole = values == Values::kRamp ? i : words[i] >> 9;
    words[i] = std::bit_cast<uint32_t>(static_cast<float>(whole + 1));
  }
  return words;
}

CoalescingBuffers::CoalescingBuffers(judge::JudgeDevice& device, uint64_t capacity)
    : in(device, capacity, "d_in"), out(device, capacity, "d_out") {}

judge::EvidenceRun Increment(judge::Runner& runner, const std::string& rung, CoalescingBuffers& buffers,
                             const std::vector<uint32_t>& floats, const std::string& what) {
  const CallContext context{rung, CountText(rung, floats.size()) + ", " + what,
                            judge::Suite::Get().assignment().submission};
  return judge::RunArrayCall<uint32_t>(
      runner, context,
      {.in = buffers.in,
       .out = buffers.out,
       .values = floats,
       .arguments = ArgumentsOf(buffers, rung, floats.size()),
       .unchanged_hint = "d_in is read-only: the result goes to d_out",
       .frees = true,
       .is_work = !floats.empty(),
       .text_of = [](uint32_t word) { return judge::ValueText(std::bit_cast<float>(word)); },
       .explain =
           [&](const CallReport&, std::vector<Problem>& problems) {
             judge::ExplainEach(problems, [&](const Problem& one) { return HintOfFault(rung, one); });
           },
       .check = [&](const CallReport& report,
                    std::span<const uint32_t> found) { return CheckResult(context, report, floats, found); }});
}

void CoalescingTest::ExpectIn(CoalescingBuffers& buffers, const std::vector<uint32_t>& floats, const std::string& what,
                              Role role) {
  if (!ok()) return;
  judge::EvidenceRun run = Increment(judge::Suite::Get().runner(role), rung(), buffers, floats, what);
  Keep(run.report);
  Add(std::move(run.problems));
}

void CoalescingTest::Expect(uint64_t n, Values values, Role role) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  CoalescingBuffers buffers(judge::Suite::Get().runner(role).device(), each() * n);
  ExpectIn(buffers, MakeFloats(values, each() * n, seed),
           values == Values::kRamp ? "floats 1, 2, 3 ..." : "random whole numbers", role);
}

TEST_P(CoalescingTest, IncrementsOneBlock) {
  for (const uint64_t n : {32, 64, 128, 256}) Expect(n);
}

TEST_P(CoalescingTest, IncrementsManyBlocks) {
  for (const uint64_t n : {512, 1024, 4096, 65536}) Expect(n);
}

TEST_P(CoalescingTest, IncrementsAnyLength) {
  for (const uint64_t n : judge::Around({2, 16, 32, 64, 256, 512, 1024})) Expect(n);
}

TEST_P(CoalescingTest, IncrementsPrimeLengths) {
  for (const uint64_t n : {3, 5, 7, 97, 257, 1009, 10007}) Expect(n, Values::kRandom);
}

TEST_P(CoalescingTest, HandlesNothing) {
  // If the rung can't increment yet, report that first.
  Expect(8);
  Expect(0);
}

// Too large for checkers that inspect every access; out-of-bounds accesses are still found.
TEST_P(CoalescingTest, IncrementsLargeArrays) {
  // A quick check that reports a rung not begun.
  Expect(1000, Values::kRamp, Role::kPlain);
  constexpr uint64_t kLarge = uint64_t{1} << 19;
  for (const uint64_t n : {kLarge - 1, kLarge + 1}) Expect(n, Values::kRandom, Role::kPlain);
}

TEST_P(CoalescingTest, LeavesTheInputUnchanged) {
  // Every test checks that the input is unchanged; here all of it must survive two calls with the same result.
  const uint64_t count = each() * 1501;
  CoalescingBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), count);
  const std::vector<uint32_t> floats = MakeFloats(Values::kRandom, count, Seed());
  ExpectIn(buffers, floats, "random whole numbers, first call");
  ExpectIn(buffers, floats, "the same floats again, second call");
}

std::vector<Problem> PredictionTest::ProblemsOf(const PredictionCase& one, const Argument& argument,
                                                const CallReport& report) {
  const CallContext context{rung(), RequestText(one.request), judge::Suite::Get().assignment().submission};
  Keep(report);
  std::vector<Problem> problems = judge::ProblemsOf(report, context);
  if (!report.trace.empty()) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"it called " + judge::Printable(report.trace.front().function)},
                                   "a prediction comes before the measurement: make no CUDA calls"));
  }
  if (!problems.empty()) return problems;
  const int64_t found = report.value.AsInteger();
  if (found == kNotBegun) return {judge::UnfinishedProblem(context, "returned kNotBegun")};
  judge::NoteBegun(rung());
  if (report.arrays.at(0) != argument.bytes) {
    return {MakeProblem(Verdict::kWrong, context, {"it changed its input"}, "*request is read-only")};
  }
  const bool of_sectors = rung() == "coalesce1_predict";
  const int expected = of_sectors ? one.sectors : one.transactions;
  if (found == expected) return {};
  const auto told = static_cast<int>(std::clamp<int64_t>(found, -2, 1000));
  return {
      MakeProblem(Verdict::kWrong, context,
                  {{"expect", judge::Counted(static_cast<uint64_t>(expected), of_sectors ? "sector" : "transaction")},
                   {"found", std::to_string(found)}},
                  of_sectors ? SectorsHint(one.request, told) : TransactionsHint(one.request, expected, told))};
}

void PredictionTest::ExpectAll() {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  const std::vector<PredictionCase> cases = CasesOf(name.substr(0, name.find('/')), Seed());
  std::vector<std::vector<Argument>> calls;
  for (const PredictionCase& one : cases) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&one.request);
    calls.push_back({Argument::HostArray(std::vector<uint8_t>(bytes, bytes + sizeof one.request))});
  }
  const std::vector<CallReport> reports = judge::Suite::Get().runner(Role::kChecked).CallAll(rung(), calls);
  for (size_t k = 0; k < cases.size() && ok(); ++k) Add(ProblemsOf(cases[k], calls[k].front(), reports[k]));
}

// From the least to the most demanding requests.
TEST_P(PredictionTest, PredictsThePatterns) { ExpectAll(); }
TEST_P(PredictionTest, PredictsAnyOffset) { ExpectAll(); }
TEST_P(PredictionTest, PredictsAnyStride) { ExpectAll(); }
TEST_P(PredictionTest, PredictsIdleThreads) { ExpectAll(); }
TEST_P(PredictionTest, PredictsAnyOrder) { ExpectAll(); }
TEST_P(PredictionTest, PredictsAnyRequest) { ExpectAll(); }

// The timed workload: each call has floats of its own, with lengths that alternate between multiples of a block and of
// nothing.
class CoalescingWorkload : public judge::Workload {
 public:
  CoalescingWorkload(judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t call)
      : rung_(rung), buffers_(device, FloatsEach(LayoutOf(rung)) * (elements - (call % 2 == 0 ? 0 : 5))) {}

  judge::GpuJob Job() const override {
    const Layout layout = LayoutOf(rung_);
    return {.in = buffers_.in.address(),
            .out = buffers_.out.address(),
            .n = buffers_.in.size(),
            .parameter = layout == Layout::kArrays ? buffers_.in.size() / 3 : 1,
            .values = judge::GpuValues::kSmallFloats,
            .task = layout == Layout::kElements ? judge::GpuTask::kIncrement : judge::GpuTask::kNextComponent};
  }
  void Poison() override { buffers_.out.Poison(); }
  std::vector<Argument> Arguments() const override { return ArgumentsOf(buffers_, rung_, buffers_.in.size()); }
  uint64_t LeastBytes() const override { return 2 * sizeof(float) * buffers_.in.size(); }

 private:
  std::string rung_;
  CoalescingBuffers buffers_;
};

const bool kTimed =
    judge::RegisterWorkload([](judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t call) {
      return std::make_unique<CoalescingWorkload>(device, rung, elements, call);
    });

INSTANTIATE_TEST_SUITE_P(, PredictionTest, testing::ValuesIn(RungsOfPredictions()), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, CoalescingTest, testing::ValuesIn(RungsWithKernels()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  if (suites::IsPrediction(rung)) throw HarnessError(rung + " launches nothing that could be measured");
  const uint64_t count = one.elements * suites::FloatsEach(suites::LayoutOf(rung));
  suites::CoalescingBuffers buffers(runner.device(), count);
  return suites::Increment(runner, rung, buffers, suites::MakeFloats(suites::Values::kRandom, count, one.seed),
                           "random whole numbers");
}

}  // namespace lockstep::judge
