// Assignment 05, scan: the tests that students have. Each runs on every rung, at the lengths that the rung supports.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "judge/device/compare.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "judge/suite/timing.h"
#include "scan.h"
#include "suites/05_scan_explain.h"
#include "suites/05_scan_fixture.h"

namespace lockstep::suites {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 27;
constexpr std::string_view kMaxRung = "scan6_max";
constexpr std::string_view kInclusiveRung = "scan6_inclusive";

// An exclusive scan does not need the last element, which may be alone in a sector.
constexpr uint64_t kSpareInput = 32;

// Computes the expected elements and their error bounds.
class Oracle {
 public:
  Oracle(const std::string& rung, const ScanInput& input)
      : input_(input),
        inclusive_(rung == kInclusiveRung || rung == kMaxRung),
        max_(rung == kMaxRung),
        exact_(max_ || input.precision == Precision::kExact) {}

  // Fills both spans, with the values and bounds of the next elements.
  void Next(std::span<double> values, std::span<double> bounds) {
    Terms terms = terms_;  // a copy stays in registers
    for (uint64_t i = 0; i < values.size(); ++i) {
      if (inclusive_) terms.Add(input_.values[terms.count]);
      values[i] = max_ ? terms.largest : terms.sum;
      bounds[i] = exact_ ? 0 : static_cast<double>(terms.count) * kEpsilon * terms.magnitude;
      if (!inclusive_) terms.Add(input_.values[terms.count]);
    }
    terms_ = terms;
  }

 private:
  static constexpr double kEpsilon = std::numeric_limits<float>::epsilon();

  struct Terms {
    uint64_t count = 0;
    double sum = 0, magnitude = 0, largest = -std::numeric_limits<double>::infinity();

    void Add(float term) {
      const auto value = static_cast<double>(term);
      ++count;
      sum += value;
      magnitude += std::abs(value);
      largest = std::max(largest, value);
    }
  };

  const ScanInput& input_;
  const bool inclusive_, max_, exact_;
  Terms terms_;
};

// In pieces: an array of doubles for all elements would not fit into the cache.
std::optional<judge::Mismatch> Compare(const std::string& rung, const ScanInput& input, std::span<const float> found) {
  constexpr uint64_t kPiece = 4096;
  std::vector<double> values(kPiece), bounds(kPiece);
  Oracle oracle(rung, input);
  std::optional<judge::Mismatch> all;
  for (uint64_t begin = 0; begin < found.size(); begin += kPiece) {
    const uint64_t length = std::min(kPiece, found.size() - begin);
    oracle.Next(std::span(values).first(length), std::span(bounds).first(length));
    bool right = true;
    for (uint64_t i = 0; i < length; ++i) right &= static_cast<double>(found[begin + i]) == values[i];
    if (right) continue;
    auto mismatch = judge::CompareBounded<float>(std::span(values).first(length), found.subspan(begin, length),
                                                 std::span(bounds).first(length));
    if (!mismatch) continue;
    mismatch->index += begin;
    if (all) {
      all->count += mismatch->count;
    } else {
      all = std::move(mismatch);
    }
  }
  return all;
}

std::optional<Problem> CheckResult(const std::string& rung, const judge::CallContext& context,
                                   const judge::CallReport& report, const ScanInput& input,
                                   std::span<const float> found) {
  const uint64_t n = input.values.size();
  const bool launched = !report.observed || !report.launches.empty();
  const auto mismatch = Compare(rung, input, found);
  if (!mismatch) {
    // One element needs no addition; two have to be added, and not by the host.
    if (launched || n < 2) return std::nullopt;
    return judge::NoKernelProblem(context);
  }
  if (!launched && std::all_of(found.begin(), found.end(), IsUnwritten)) return judge::UnfinishedProblem(context);
  std::vector<double> expected(n), bounds(n);
  Oracle(rung, input).Next(expected, bounds);
  return judge::WrongAt(mismatch->index, context, {judge::MismatchText(*mismatch, n)},
                        ExplainScan(input.values, expected, found, mismatch->index, rung != kMaxRung));
}

std::vector<worker::Argument> ArgumentsOf(const ScanBuffers& buffers, uint64_t n) {
  return {buffers.in.argument(), buffers.out.argument(), worker::Argument::Integer(static_cast<unsigned>(n)),
          buffers.work.argument()};
}

// Decomposes a wrong element that matches no known mistake: the call is repeated with powers of 8 as input, so that a
// sum shows how often each was added. "": a float has too few digits for n powers, or the rung adds nothing.
std::string PartsOf(judge::Runner& runner, const std::string& rung, ScanBuffers& buffers, uint64_t n,
                    uint64_t element) {
  if (n > 8 || rung == kMaxRung) return "";
  std::vector<float> powers;
  for (uint64_t k = 0; k < n; ++k) powers.push_back(static_cast<float>(uint64_t{1} << 3 * k));
  buffers.in.Fill(powers);
  buffers.out.Poison();
  runner.Call(rung, ArgumentsOf(buffers, n));
  const std::vector<float> out = buffers.out.Get();
  if (out.size() <= element || !(out[element] >= 0 && out[element] < 0x1p24f)) return "";
  const auto parts = [n](uint64_t sum) {
    std::string text;
    for (uint64_t k = 0; k < n; ++k) {
      const uint64_t times = sum >> 3 * k & 7;
      if (times == 0) continue;
      text += (text.empty() ? "" : " + ") + (times > 1 ? std::to_string(times) + " * " : std::string()) + "d_in[" +
              std::to_string(k) + "]";
    }
    return text.empty() ? "0" : text;
  };
  uint64_t right = 0;
  for (uint64_t k = 0; k < element + (rung == kInclusiveRung ? 1 : 0); ++k) right += uint64_t{1} << 3 * k;
  return "element " + std::to_string(element) + " is " + parts(static_cast<uint64_t>(out[element])) + " instead of " +
         parts(right) + ": in which step is something else added?";
}

}  // namespace

uint64_t MostElements(const std::string& rung) {
  if (rung == "scan1_hillis_steele") return kBlock;
  if (rung == "scan2_work_efficient" || rung == "scan3_padded") return kTile;
  return kMost;
}

std::vector<std::string> SelectedLongRungs() {
  return judge::Suite::Get().SelectedRungs([](const std::string& rung) { return MostElements(rung) >= kMost; });
}

std::vector<std::string> SelectedLargestRungs() {
  return judge::Suite::Get().SelectedRungs([](const std::string& rung) { return rung == kMaxRung; });
}

ScanBuffers::ScanBuffers(judge::JudgeDevice& device, uint64_t capacity, uint64_t in_offset, uint64_t out_offset)
    : in(device, capacity, "d_in", in_offset),
      out(device, capacity, "d_out", out_offset),
      work(device, WorkWords(capacity), "d_work") {}

ScanInput MakeIntegers(const std::string& rung, Pattern pattern, uint64_t n, const judge::SeedKey& seed) {
  const std::vector<int32_t> integers = judge::MakeInts(pattern, n, seed);
  ScanInput input{std::vector<float>(n), Precision::kExact, std::string(judge::NameOf(pattern))};
  for (uint64_t i = 0; i < n; ++i) {
    // A spike may be any number: only zeros are added to it.
    input.values[i] = static_cast<float>(integers[i]);
    if (rung == kMaxRung) {
      const float rising = static_cast<float>(static_cast<int64_t>(i / 16) - static_cast<int64_t>(n / 16));
      input.values[i] = std::clamp(input.values[i], -1000.0f, 1000.0f) + rising - 2000;
    }
  }
  if (n > 0 && input.values[0] == 0) input.values[0] = 1;
  if (rung == kMaxRung) input.what += ", rising";
  return input;
}

ScanInput MakeReals(const std::string& rung, double low, uint64_t n, const judge::SeedKey& seed) {
  const std::vector<uint32_t> words = judge::MakeWords(n, seed);
  ScanInput input{std::vector<float>(n), Precision::kBounded, "random real numbers from " + judge::NumberText(low)};
  constexpr uint64_t kSteps = 1 << 24;
  for (uint64_t i = 0; i < n; ++i) {
    const auto step = static_cast<double>(1 + judge::Within(words[i], kSteps - 1));
    input.values[i] = static_cast<float>(low + step / kSteps);
    if (rung == kMaxRung) input.values[i] -= 2;
  }
  return input;
}

judge::CallContext ContextOf(const std::string& rung, const ScanInput& input) {
  return {rung, "n = " + judge::Grouped(input.values.size()) + ", " + input.what,
          judge::Suite::Get().assignment().submission};
}

judge::EvidenceRun Scan(judge::Runner& runner, const std::string& rung, ScanBuffers& buffers, const ScanInput& input) {
  const uint64_t n = input.values.size();
  const judge::CallContext context = ContextOf(rung, input);
  judge::EvidenceRun run = judge::RunArrayCall<float>(
      runner, context,
      {.in = buffers.in,
       .out = buffers.out,
       .values = input.values,
       .arguments = ArgumentsOf(buffers, n),
       .unchanged_hint = "d_in is read-only: the result goes to d_out",
       .spare_input = kSpareInput,
       .explain = [](const judge::CallReport&, std::vector<Problem>& problems) { ExplainFaults(problems); },
       .check = [&](const judge::CallReport& report,
                    std::span<const float> found) { return CheckResult(rung, context, report, input, found); }},
      buffers.work);
  if (run.problems.size() == 1 && run.problems[0].element.value_or(0) > 0 && run.problems[0].hint.empty()) {
    run.problems[0].hint = PartsOf(runner, rung, buffers, n, *run.problems[0].element);
  }
  return run;
}

void ScanTest::ExpectIn(ScanBuffers& buffers, const ScanInput& input, Role role, bool is_repeated) {
  if (!ok() || input.values.size() > MostElements(rung())) return;
  judge::EvidenceRun run = Scan(judge::Suite::Get().runner(role), rung(), buffers, input);
  Keep(run.report);
  if (is_repeated && run.problems.empty()) {
    judge::CheckNothingHeld(ContextOf(rung(), input), run.report, run.problems);
  }
  Add(std::move(run.problems));
}

void ScanTest::Expect(uint64_t n, Pattern pattern, Role role, uint64_t in_offset, uint64_t out_offset) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok() || n > MostElements(rung())) return;
  ScanInput input = MakeIntegers(rung(), pattern, n, seed);
  if (in_offset > 0) input.what += ", d_in " + std::to_string(4 * in_offset) + " bytes into its allocation";
  if (out_offset > 0) input.what += ", d_out " + std::to_string(4 * out_offset) + " bytes into its allocation";
  ScanBuffers buffers(judge::Suite::Get().runner(role).device(), n, in_offset, out_offset);
  ExpectIn(buffers, input, role);
}

void ScanTest::ExpectValues(const ScanInput& input) {
  if (!ok() || input.values.size() > MostElements(rung())) return;
  ScanBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), input.values.size());
  ExpectIn(buffers, input);
}

void ScanTest::ExpectReals(uint64_t n, double low) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (ok() && n <= MostElements(rung())) ExpectValues(MakeReals(rung(), low, n, seed));
}

TEST_P(ScanTest, ScansOneBlock) {
  ExpectValues({{3, 1, 7, 0, 4, 1, 6, 3}, Precision::kExact, "the example in README.md"});
  for (const uint64_t n : {1, 2, 31, 32, 33, 64, 256, 511, 512, 1023, 1024}) Expect(n, Pattern::kSmall);
}

TEST_P(ScanTest, ScansLengthsThatAreNoPowerOfTwo) {
  for (const uint64_t n : {3, 5, 7, 97, 131, 300, 509, 513, 700, 1009}) Expect(n, Pattern::kSmall);
}

TEST_P(ScanTest, ScansAllKindsOfValues) {
  for (const Pattern pattern : {Pattern::kOnes, Pattern::kRamp, Pattern::kAlternating, Pattern::kSpikeFirst}) {
    for (const uint64_t n : {2, 500, 1000}) Expect(n, pattern);
  }
}

// No float is below -INFINITY: a maximum initialised with another number shows where no other value has been seen yet,
// at the start and at tile boundaries.
TEST_P(LargestScanTest, TakesNothingForLessThanInfinity) {
  constexpr float kLeast = -std::numeric_limits<float>::infinity();
  for (const uint64_t n : {1, 33, 5000}) {
    ScanInput input = MakeIntegers(rung(), Pattern::kSmall, n, Seed(n));
    const uint64_t infinite = std::min<uint64_t>(n, 4500);
    std::fill_n(input.values.begin(), infinite, kLeast);
    input.what += ", -INFINITY up to element " + judge::Grouped(infinite - 1);
    ExpectValues(input);
  }
}

TEST_P(ScanTest, ScansRealNumbers) {
  for (const uint64_t n : {5, 512, 1000, 10007}) ExpectReals(n, 0.5);
  for (const uint64_t n : {33, 400, 1024}) ExpectReals(n, -0.5);
}

// The values before the large number must be preserved; subtracting an element from a sum that includes it would lose
// the small ones.
TEST_P(ScanTest, KeepsSmallNumbersBeforeALargeOne) {
  for (const uint64_t n : {2, 100, 512, 5000}) {
    ScanInput input = MakeReals(rung(), 0.5, n, Seed(n));
    input.values[n / 2] = 3e9f;
    input.what += ", with 3e9 in the middle";
    ExpectValues(input);
  }
}

TEST_P(ScanTest, HandlesNothing) {
  // If the rung can't scan two elements yet, report that first.
  Expect(2, Pattern::kRamp);
  Expect(0, Pattern::kOnes);
}

// The buffers still hold results of earlier calls.
TEST_P(ScanTest, ScansAgainInTheSameBuffers) {
  ScanBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 10000);
  uint64_t call = 0;
  for (const uint64_t n : {10000, 500, 501, 500, 10000, 9999}) {
    ScanInput input = MakeIntegers(rung(), Pattern::kSmall, n, Seed(call++));
    input.what += ", in buffers that held other values before";
    ExpectIn(buffers, input);
  }
}

TEST_P(ScanTest, KeepsNoMemory) {
  const uint64_t n = std::min<uint64_t>(10000, MostElements(rung()));
  ScanBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), n);
  ScanInput input = MakeIntegers(rung(), Pattern::kSmall, n, Seed());
  const std::string what = input.what;
  input.what = what + ", first call";
  ExpectIn(buffers, input);
  input.what = what + ", the same again, second call";
  ExpectIn(buffers, input, Role::kChecked, /*is_repeated=*/true);
}

// A vector load or store needs an address that is a multiple of its size, separately for each pointer; the lengths fill
// tiles of any usual size.
TEST_P(ScanTest, ScansFromAnyAddress) {
  for (const uint64_t n : {512, 1024, 32768}) {
    for (const uint64_t offset : {1, 2}) {
      Expect(n, Pattern::kSmall, Role::kChecked, offset, 0);
      Expect(n, Pattern::kSmall, Role::kChecked, 0, offset);
    }
  }
}

TEST_P(LongScanTest, ScansManyTiles) {
  for (const uint64_t n : judge::Around({1024, 2048, 4096, 16 * 1024, 33 * 4096})) Expect(n, Pattern::kSmall);
  for (const uint64_t n : {1500, 10007, 65537, 100003}) Expect(n, Pattern::kAlternating);
}

// One more tile than a tile has elements. For tiles of up to 16,384 elements this is also more tiles than a warp has
// lanes: a look-back must continue past its first window.
TEST_P(LongScanTest, ScansTilesOfTiles) {
  Expect(1024 * 1024 + 1, Pattern::kSmall);
  Expect(1024 * 1024, Pattern::kSmall, Role::kPlain);
}

// Too large for checkers that inspect every access; out-of-bounds accesses are still found.
TEST_P(LongScanTest, ScansLargeArrays) {
  // A quick check that reports a rung not begun.
  Expect(1000, Pattern::kSmall, Role::kPlain);
  // Exceeds all limits at once: three levels of tiles of 256, 65,535 blocks of 256, and the integers that a float
  // represents. Rung 6 is rung 5 with another operator or initial element, and its evidence run has 2^24 elements.
  const bool is_variant = rung() == kInclusiveRung || rung() == kMaxRung;
  Expect((is_variant ? uint64_t{1} << 21 : uint64_t{1} << 24) + 43, Pattern::kSmall, Role::kPlain);
}

// The timed workload: each call scans an array of its own, of small whole numbers whose sums are exact in any order.
// Every other array is three elements shorter: such a length must not cost more.
class ScanWorkload : public judge::Workload {
 public:
  ScanWorkload(judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t call)
      : task_(rung == kMaxRung         ? judge::GpuTask::kMaxScan
              : rung == kInclusiveRung ? judge::GpuTask::kInclusiveScan
                                       : judge::GpuTask::kScan),
        buffers_(device, elements - (call % 2 == 0 ? 0 : 3)) {}

  judge::GpuJob Job() const override {
    return {
        .in = buffers_.in.address(),
        .out = buffers_.out.address(),
        .n = buffers_.in.size(),
        .values = task_ == judge::GpuTask::kMaxScan ? judge::GpuValues::kRisingFloats : judge::GpuValues::kSmallFloats,
        .task = task_};
  }
  void Poison() override {
    buffers_.out.Poison();
    buffers_.work.Poison();
  }
  std::vector<worker::Argument> Arguments() const override { return ArgumentsOf(buffers_, buffers_.in.size()); }
  uint64_t LeastBytes() const override { return 2 * sizeof(float) * buffers_.in.size(); }

 private:
  judge::GpuTask task_;
  ScanBuffers buffers_;
};

const bool kTimed =
    judge::RegisterWorkload([](judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t call) {
      if (elements > MostElements(rung)) {
        throw judge::HarnessError(rung + " is not timed at n = " + judge::Grouped(elements) + ": it scans " +
                                  judge::Grouped(MostElements(rung)) + " at the most");
      }
      return std::make_unique<ScanWorkload>(device, rung, elements, call);
    });

INSTANTIATE_TEST_SUITE_P(, ScanTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, LongScanTest, testing::ValuesIn(SelectedLongRungs()), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, LargestScanTest, testing::ValuesIn(SelectedLargestRungs()), judge::RungName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LongScanTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(LargestScanTest);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  suites::ScanBuffers buffers(runner.device(), one.elements, one.Offset("d_in", kWholeSectors),
                              one.Offset("d_out", kWholeSectors));
  EvidenceRun run =
      suites::Scan(runner, rung, buffers, suites::MakeIntegers(rung, Pattern::kSmall, one.elements, one.seed));
  run.room = one.wide ? kUnalignedRoom : 0;
  return run;
}

}  // namespace lockstep::judge
