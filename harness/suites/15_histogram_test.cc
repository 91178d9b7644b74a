// Assignment 15, the histogram: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include "judge/device/compare.h"
#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/run/runner.h"
#include "judge/suite/array_call.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/main.h"
#include "suites/15_histogram_explain.h"
#include "suites/15_histogram_fixture.h"

namespace lockstep::suites {
namespace {

bool IsWeighted(const std::string& rung) { return rung.starts_with("histogram3"); }
bool IsWide(const std::string& rung) { return rung.starts_with("histogram5"); }
constexpr uint64_t kSectorBytes = 32;
uint64_t BinsOf(const std::string& rung) { return IsWide(rung) ? kWideBins : kBins; }

std::optional<Problem> CheckResult(const judge::CallContext& context, const judge::CallReport& report,
                                   const Input& input, std::span<const uint32_t> found) {
  const std::vector<uint32_t> expected = Histogram(input, found.size());
  const bool launched = !report.observed || !report.launches.empty();
  const auto mismatch = judge::CompareExact<uint32_t>(expected, found);
  if (!mismatch)
    return launched || input.values.empty() ? std::nullopt : std::optional(judge::NoKernelProblem(context));
  if (!launched && !input.values.empty()) return judge::UnfinishedProblem(context);
  return judge::MakeProblem(Verdict::kWrong, context,
                            {"bin " + Grouped(mismatch->index) + " of d_bins is wrong (" + Grouped(mismatch->count) +
                                 " of " + Grouped(found.size()) + " bins in total)",
                             {"expect", mismatch->expected},
                             {"found", mismatch->found}},
                            input.values.empty() ? "without elements every bin is 0: clear d_bins before you return"
                                                 : HintOfBins(input, found));
}

Input MakeInput(const std::string& rung, uint64_t n, Values values, const judge::SeedKey& seed) {
  const uint64_t bins = BinsOf(rung);
  judge::Random random(judge::SeedFor(seed, "values"));
  uint16_t hot[4];
  for (uint16_t& value : hot) value = static_cast<uint16_t>(random.Next() % bins);
  const auto share = static_cast<uint32_t>(random.Between(224, 240));  // of 256
  constexpr const char* kNames[] = {"random values",           "all of one value", "four values",
                                    "nearly all of one value", "sorted values",    "nearly all of two values"};
  Input input{{}, std::vector<uint32_t>(n, 1), kNames[static_cast<int>(values)]};
  const std::vector<uint32_t> words = judge::MakeWords(n, judge::SeedFor(seed, "in"));
  for (uint64_t i = 0; i < n; ++i) {
    uint64_t value = (words[i] >> 8) % bins;
    if (values == Values::kOne || (values == Values::kSkewed && words[i] % 256 < share)) value = hot[0];
    if (values == Values::kTwo && words[i] % 256 < share) value = hot[words[i] % 2];
    if (values == Values::kFew) value = hot[words[i] % 4];
    if (values == Values::kSorted) value = i * bins / n;
    input.values.push_back(static_cast<uint16_t>(value));
  }
  if (IsWeighted(rung)) input.weights = judge::MakeWords(n, judge::SeedFor(seed, "weights"));
  return input;
}

// A rung's buffers, for inputs of up to `most` elements of type T.
template <class T>
struct Buffers {
  Buffers(judge::JudgeDevice& device, const std::string& rung, uint64_t most, Offsets offsets)
      : offsets(offsets),
        in(device, most, "d_in", offsets.in),
        weights(device, IsWeighted(rung) ? most : 0, "d_weights", offsets.in),
        bins(device, BinsOf(rung), "d_bins", offsets.bins) {}

  Offsets offsets;
  judge::DeviceArray<T> in;
  judge::DeviceArray<uint32_t> weights, bins;
};

// Runs the call on this input, and collects all its problems.
template <class T>
judge::EvidenceRun CountIn(judge::Runner& runner, const std::string& rung, Buffers<T>& buffers, const Input& input,
                           bool repeats) {
  auto& [offsets, in, weights, bins] = buffers;
  const uint64_t n = input.values.size();
  std::string text = "n = " + Grouped(n) + ", " + input.what;
  if (offsets.in + offsets.bins > 0) {
    text += "; d_in and d_bins begin " + std::to_string(offsets.in) + " and " + std::to_string(offsets.bins) +
            " elements into their allocations";
  }
  const judge::CallContext context{rung, text, judge::Suite::Get().assignment().submission};
  const std::vector<T> values(input.values.begin(), input.values.end());
  const auto before = in.Fill(values);
  const std::vector<uint32_t> none;
  const auto weights_before = weights.Fill(IsWeighted(rung) ? input.weights : none);  // a view of these
  bins.Poison();
  runner.LimitInstructions(n + bins.size());
  std::vector<worker::Argument> arguments = {in.argument(), bins.argument(),
                                             worker::Argument::Integer(static_cast<unsigned>(n))};
  std::vector<judge::TaskBytes> read = {judge::FirstOf(in, n)};
  if (IsWeighted(rung)) {
    arguments.insert(arguments.begin() + 1, weights.argument());
    read.push_back(judge::FirstOf(weights, n));
  }
  judge::EvidenceRun run{runner.Call(rung, arguments), {}};
  run.problems = judge::ProblemsOf(run.report, context);
  judge::ExplainEach(run.problems, HintOfFault);
  const auto result_now = bins.Look();
  if (!run.problems.empty() || result_now.values().size() < bins.size()) return run;
  if (auto problem = CheckResult(context, run.report, input, result_now.values())) {
    run.problems.push_back(std::move(*problem));
  }
  const judge::HintText unchanged = "d_in and d_weights are read-only: the result goes to d_bins";
  judge::CheckUnchanged<T>(in, before.values(), context, unchanged, run.problems);
  judge::CheckUnchanged<uint32_t>(weights, weights_before.values(), context, unchanged, run.problems);
  judge::CheckGuards(context, run.problems, in, weights, bins);
  if (run.problems.empty() && n > 0) {
    // A bin without elements keeps the value from cudaMemset.
    judge::TaskBytes stored = judge::FirstOf(bins, bins.size());
    stored.spare = stored.bytes - (offsets.bins == 0 ? kSectorBytes : 0);
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls, read,
                             std::span(&stored, 1), run.problems);
  }
  if (repeats && run.problems.empty()) judge::CheckNothingHeld(context, run.report, run.problems);
  return run;
}

// Makes all calls in the same buffers.
template <class T>
judge::EvidenceRun CountAs(judge::Runner& runner, const std::string& rung, const std::vector<Input>& inputs,
                           Offsets offsets) {
  uint64_t most = 0;
  for (const Input& input : inputs) most = std::max<uint64_t>(most, input.values.size());
  Buffers<T> buffers(runner.device(), rung, most, offsets);
  return judge::CallInTurn(
      inputs, [&](const Input& input, bool repeats) { return CountIn(runner, rung, buffers, input, repeats); });
}

judge::EvidenceRun Count(judge::Runner& runner, const std::string& rung, const std::vector<Input>& inputs,
                         Offsets offsets) {
  return IsWide(rung) ? CountAs<uint16_t>(runner, rung, inputs, offsets)
                      : CountAs<uint8_t>(runner, rung, inputs, offsets);
}

}  // namespace

void HistogramTest::Expect(const std::vector<uint64_t>& lengths, Values values, Offsets offsets, Role role) {
  if (!ok()) return;
  std::vector<Input> inputs;
  for (const uint64_t n : lengths) {
    inputs.push_back(MakeInput(rung(), n, values, Seed(inputs_++)));
    if (inputs.size() > 1) inputs.back().what += ", at addresses that had other elements before";
  }
  judge::EvidenceRun run = Count(judge::Suite::Get().runner(role), rung(), inputs, offsets);
  Keep(run.report);
  Add(std::move(run.problems));
}

// From the least to the most demanding inputs, so that the first message is the simplest.
TEST_P(HistogramTest, CountsWholeBlocks) {
  for (const uint64_t n : {1024, 256, 4096, 16384}) Expect({n});
}

TEST_P(HistogramTest, CountsAnyLength) {
  const std::vector<uint64_t> lengths = judge::Around({2, 16, 32, 256, 1024, 4096});
  for (auto n = lengths.rbegin(); n != lengths.rend(); ++n) Expect({*n});
}

// All lanes update one bin, or few; 70,000 overflows a 16-bit counter.
TEST_P(HistogramTest, CountsEqualElements) {
  for (const Values values : {Values::kFew, Values::kOne, Values::kSkewed, Values::kSorted}) Expect({5000}, values);
  Expect({70000}, Values::kOne);
}

TEST_P(HistogramTest, CountsAtAnyAddress) {
  for (const Offsets offsets : {Offsets{1, 0}, {0, 1}, {15, 0}, {8, 2}}) {
    for (const uint64_t n : {3000, 5}) Expect({n}, Values::kRandom, offsets);
  }
}

TEST_P(HistogramTest, HandlesNothing) {
  // If the rung can't count one element yet, report that first.
  Expect({1});
  Expect({0});
}

// Even a grid as large as fits on a device at once needs more than one step.
TEST_P(HistogramTest, CountsManyElements) {
  // A quick check that reports a rung not begun.
  Expect({33}, Values::kRandom, {}, Role::kPlain);
  Expect({(uint64_t{1} << 21) + 77}, Values::kSkewed, {}, Role::kPlain);
}

TEST_P(HistogramTest, KeepsNoMemory) { Expect({3000, 3000}); }

INSTANTIATE_TEST_SUITE_P(, HistogramTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

// Inputs drawn at sizes that are not round start at any address.
EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  const bool skewed = suites::IsWeighted(rung) || suites::IsWide(rung);
  // Elsewhere two values are common, which takes more than a register for one.
  const suites::Values common = one.drawn && suites::IsWeighted(rung) ? suites::Values::kTwo : suites::Values::kSkewed;
  const suites::Values values = skewed ? common : suites::Values::kRandom;
  return suites::Count(runner, rung, {suites::MakeInput(rung, one.elements, values, one.seed)},
                       {.in = one.Offset("d_in"), .bins = one.Offset("d_bins")});
}

}  // namespace lockstep::judge
