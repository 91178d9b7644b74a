// Assignment 09, overlapping copies and kernels: the tests that students have.
#include <gtest/gtest.h>

#include <algorithm>
#include <bitset>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>

#include "judge/input/inputs.h"
#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/host_call.h"
#include "judge/suite/main.h"
#include "streams.h"
#include "suites/09_streams_fixture.h"

namespace lockstep::suites {
namespace {

constexpr int kEvidenceStreams = 4;

const std::vector<std::string> kShownFunctions = {"cudaStream", "cudaEvent", "cudaDeviceSynchronize", "cudaMallocHost",
                                                  "cudaHost"};

bool IsChunked(const std::string& rung) { return rung.starts_with("streams2"); }
bool IsChained(const std::string& rung) { return rung.starts_with("streams4"); }

float SimulatedOf(float value) {
  double x = value;
  for (int step = 0; step < kSteps; ++step) x = 3.99 * std::fma(-x, x, x);
  return static_cast<float>(x);
}

std::vector<float> ExpectedOf(const std::vector<float>& values, bool chained) {
  std::vector<float> expected(values.size());
  float carry = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const float simulated = SimulatedOf(values[i]);
    expected[i] = chained ? 0.5f * (simulated + carry) : simulated;
    if (chained && (i + 1) % kPiece == 0) carry = expected[i];
  }
  return expected;
}

// Explains the first wrong element.
std::string HintOf(const std::vector<float>& values, const std::vector<float>& expected,
                   const std::vector<float>& found, uint64_t at, bool chained) {
  if (judge::HasBytes(found[at], judge::kNotArrived)) {
    return "bytes 0xd7 mean that a copy has not arrived: wait for its stream (cudaStreamSynchronize), then read the "
           "page-locked buffer";
  }
  if (judge::HasBytes(found[at], judge::kPoisonByte)) {
    return at == 0 ? "nothing was copied to h_out" : "nothing was copied there: do the chunks cover all n elements?";
  }
  if (found[at] == values[at])
    return "that is h_in's element: no kernel changed it, or the buffer that was copied back is not the kernel's";
  if (chained && found[at] == 0.5f * SimulatedOf(values[at])) {
    return "that is what a carry of 0 gives: piece c takes the carry that piece c - 1 has stored";
  }
  if (chained && found[at] == SimulatedOf(values[at])) return "rung 4 launches chain_kernel, not simulate_kernel";
  const auto elsewhere = std::find(expected.begin(), expected.end(), found[at]);
  if (elsewhere != expected.end()) {
    return "that is the result of element " + Grouped(static_cast<uint64_t>(elsewhere - expected.begin())) +
           ": an offset of bytes where elements are meant, or a buffer that is used again too early?";
  }
  return "each copy, launch and copy back of a chunk has the same offset, and they follow each other in one stream";
}

// Checks that kernels did the simulation: each element takes a double-precision multiplication and multiply-add per
// step. Empty if kernel instructions were not counted.
std::optional<Problem> CheckSimulated(const CallContext& context, const CallReport& report, uint64_t n) {
  vgpu::Counters counted;
  for (const vgpu::LaunchRecord& launch : report.launches) counted += launch.counters;
  const uint64_t least = 2 * kSteps * ((n + vgpu::kWarpSize - 1) / vgpu::kWarpSize);
  if (counted.warp_instructions == 0 || counted.float64_instructions >= least) return std::nullopt;
  return MakeProblem(
      Verdict::kRejected, context,
      {"h_out is right, but the kernels executed " + judge::Counted(counted.float64_instructions, "instruction") +
       " in double precision, and " + Grouped(least) + " are the least that the simulation takes"},
      "launch simulate_kernel or chain_kernel for every element");
}

// The operations that must end before operation k begins: one bit each.
class Before {
 public:
  static constexpr size_t kMost = 4096;  // operations; a right call has some hundreds

  explicit Before(const std::vector<worker::StreamedOperation>& operations) : sets_(operations.size()) {
    for (size_t k = 0; k < sets_.size(); ++k) {
      for (const uint32_t after : operations[k].after) {
        sets_[k] |= sets_[after];
        sets_[k].set(after);
      }
    }
  }
  // Whether j has ended when k begins.
  bool Has(size_t k, size_t j) const { return sets_[k][j]; }

 private:
  std::vector<std::bitset<kMost>> sets_;
};

// A piece needs the previous one's result, which a kernel computes. So all launches that simulate form one chain of
// dependent launches; if the longest chain has fewer, the host has computed some inputs.
std::optional<Problem> CheckChained(const CallContext& context, const CallReport& report) {
  if (report.operations.size() > Before::kMost) {
    return MakeProblem(Verdict::kRejected, context,
                       {"h_out is right, but the call has " + Grouped(report.operations.size()) + " operations"},
                       "a few hundred copies and launches are enough for any length");
  }
  const Before before(report.operations);
  std::vector<uint64_t> behind(report.operations.size());  // length of the longest chain of launches ending here
  uint64_t simulating = 0, longest = 0;
  for (size_t k = 0; k < report.operations.size(); ++k) {
    const worker::StreamedOperation& operation = report.operations[k];
    if (operation.kind != worker::StreamedKind::kLaunch) continue;
    uint64_t simulates = 0;
    for (size_t l = operation.first_launch; l < operation.first_launch + operation.launches; ++l) {
      if (l < report.launches.size()) simulates += report.launches[l].counters.float64_instructions;
    }
    simulating += simulates > 0;
    for (size_t j = 0; j < k; ++j) {
      if (before.Has(k, j)) behind[k] = std::max(behind[k], behind[j]);
    }
    longest = std::max(longest, ++behind[k]);
  }
  if (longest >= simulating) return std::nullopt;
  return MakeProblem(
      Verdict::kRejected, context,
      {"h_out is right, but of " + judge::Counted(simulating, "launch", "launches") + " that simulate no more than " +
       Grouped(longest) + " follow one another"},
      "piece c takes what the kernel of piece c - 1 has stored: kernels have to compute the carries and wait for them");
}

// Bytes that the operation copies, or that its kernels store.
uint64_t BytesOf(const CallReport& report, const worker::StreamedOperation& operation) {
  uint64_t bytes = operation.bytes;
  for (size_t l = operation.first_launch; l < operation.first_launch + operation.launches; ++l) {
    if (l < report.launches.size()) bytes += report.launches[l].counters.global_store_bytes;
  }
  return bytes;
}

// How many of these have a share of the work, and are no crumbs beside the largest.
uint64_t Sharing(const std::vector<uint64_t>& bytes) {
  constexpr uint64_t kCrumb = 8;
  const uint64_t most = bytes.empty() ? 0 : std::ranges::max(bytes);
  return static_cast<uint64_t>(
      std::ranges::count_if(bytes, [&](uint64_t one) { return most > 0 && kCrumb * one >= most; }));
}

// The largest number of operations in progress at once that their order allows: a dependent operation takes its
// predecessor's place.
uint64_t LanesOf(const CallReport& report) {
  if (report.operations.size() > Before::kMost) return 0;
  const Before before(report.operations);
  std::vector<size_t> last;  // of each lane
  std::vector<uint64_t> bytes;
  for (size_t k = 0; k < report.operations.size(); ++k) {
    auto lane = last.end();
    for (auto it = last.begin(); it != last.end(); ++it) {
      if (before.Has(k, *it) && (lane == last.end() || *it > *lane)) lane = it;
    }
    const auto number = static_cast<size_t>(lane - last.begin());
    if (lane == last.end()) {
      last.push_back(k);
      bytes.push_back(0);
    } else {
      *lane = k;
    }
    bytes[number] += BytesOf(report, report.operations[k]);
  }
  return Sharing(bytes);
}

void CheckResult(const CallContext& context, const CallReport& report, const std::vector<float>& values, bool chained,
                 std::vector<Problem>& problems) {
  const std::vector<float> expected = ExpectedOf(values, chained), found = judge::ValuesOf<float>(report.arrays.at(1));
  const std::vector<double> exact(expected.begin(), expected.end()), bound(expected.size());
  if (const auto mismatch = judge::CompareBounded<float>(exact, found, bound)) {
    problems.push_back(MakeProblem(Verdict::kWrong, context,
                                   {"h_out: " + judge::MismatchText(*mismatch, values.size())},
                                   HintOf(values, expected, found, mismatch->index, chained)));
    return;
  }
  if (!report.observed || values.empty()) return;
  if (report.launches.empty()) {
    problems.push_back(judge::NoKernelProblem(context));
    return;
  }
  judge::CheckCameFromDevice(report, context, report.arrays.at(1), "h_out", true, problems);
  if (problems.empty()) judge::CheckWentToDevice(report, context, judge::BytesOf(values), "h_in", problems);
  if (problems.empty()) {
    if (auto problem = CheckSimulated(context, report, values.size())) problems.push_back(std::move(*problem));
  }
  if (problems.empty() && chained) {
    if (auto problem = CheckChained(context, report)) problems.push_back(std::move(*problem));
  }
}

CallContext ContextOf(const std::string& rung, uint64_t n, int streams) {
  std::string input = "n = " + Grouped(n);
  if (IsChunked(rung)) input += ", " + judge::Counted(static_cast<uint64_t>(streams), "stream");
  CallContext context{rung, input, judge::Suite::Get().assignment().submission};
  context.host_bytes = UINT64_MAX;  // the results are copied there
  return context;
}

// Streams that have a share of the call's work, without the default stream.
uint64_t StreamsOf(const CallReport& report) {
  std::map<std::string, uint64_t> bytes;
  for (const worker::StreamedOperation& operation : report.operations) {
    if (operation.stream != "the default stream") bytes[operation.stream] += BytesOf(report, operation);
  }
  const auto values = std::views::values(bytes);
  return Sharing({values.begin(), values.end()});
}

}  // namespace

std::vector<float> MakeFractions(uint64_t n, const judge::SeedKey& seed) {
  const std::vector<uint32_t> words = judge::MakeWords(n, seed);
  std::vector<float> values(n);
  // Not 0: a step would leave it unchanged.
  for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<float>((words[i] >> 8) | 1) * 0x1p-24f;
  return values;
}

judge::EvidenceRun StreamOnce(judge::Runner& runner, const std::string& rung, const std::vector<float>& values,
                              int streams) {
  const CallContext context = ContextOf(rung, values.size(), streams);
  const std::vector<uint8_t> in = judge::BytesOf(values);
  const std::vector<uint8_t> poisoned(in.size(), judge::kPoisonByte);
  std::vector<Argument> arguments = {Argument::HostArray(in), Argument::HostArray(poisoned),
                                     Argument::Integer(uint64_t{values.size()})};
  if (IsChunked(rung)) arguments.push_back(Argument::Integer(streams));
  runner.LimitInstructions(values.size());
  judge::EvidenceRun run{runner.Call(rung, arguments), {}};
  const CallReport& report = run.report;
  const bool returned = report.outcome == worker::Outcome::kReturned && report.arrays.size() == 2;
  if (returned && judge::DidNothing(report) && !values.empty() && report.arrays[1] == poisoned) {
    run.problems = {judge::UnfinishedProblem(context)};
    return run;
  }
  run.problems = judge::ProblemsOf(report, context);
  if (returned && run.problems.empty()) CheckResult(context, report, values, IsChained(rung), run.problems);
  if (returned && report.arrays[0] != in) {
    run.problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_in was changed"}, "h_in is read-only"));
  }
  if (run.problems.empty()) judge::CheckNothingHeld(context, report, run.problems);
  if (run.problems.empty()) judge::CheckNoPageLockedHeld(context, report, run.problems);
  if (run.problems.empty()) judge::CheckNoneLeft(context, report, run.problems);
  if (report.observed) judge::AddCalls(run.problems, report.trace, kShownFunctions);
  return run;
}

std::vector<std::string> StreamRungs(bool chunked) {
  return judge::Suite::Get().SelectedRungs([&](const std::string& rung) { return !chunked || IsChunked(rung); });
}

void StreamsTest::ExpectWith(uint64_t n, int streams, Role role) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::EvidenceRun run =
      StreamOnce(judge::Suite::Get().runner(role), rung(), MakeFractions(n, seed), IsChunked(rung()) ? streams : 0);
  Keep(run.report);
  Add(std::move(run.problems));
}

void StreamsTest::Expect(uint64_t n, Role role) {
  for (const int streams : {4, 1, 2, 8}) {
    ExpectWith(n, streams, role);
    if (!IsChunked(rung())) return;
  }
}

void ChunksTest::ExpectStreams(uint64_t n, int streams, Role role) {
  const judge::SeedKey seed = Seed(static_cast<uint64_t>(streams));
  if (!ok()) return;
  judge::EvidenceRun run = StreamOnce(judge::Suite::Get().runner(role), rung(), MakeFractions(n, seed), streams);
  if (run.problems.empty() && run.report.observed) {
    // There may be fewer large chunks than streams. A graph can run branches concurrently without a stream each.
    const auto most = static_cast<uint64_t>(streams);
    std::vector<uint64_t> chunks;
    for (const auto& launch : run.report.launches) chunks.push_back(launch.counters.global_store_bytes);
    const uint64_t least = std::min<uint64_t>(most, std::max<uint64_t>(Sharing(chunks), 2));
    const auto is_asked = [&](uint64_t count) { return least <= count && count <= most; };
    const uint64_t used = StreamsOf(run.report);
    if (!is_asked(used) && (used == 0 || !is_asked(LanesOf(run.report)))) {
      const std::string asked = (least == most ? "" : std::to_string(least) + " to ") + std::to_string(most);
      run.problems.push_back(
          MakeProblem(Verdict::kRejected, ContextOf(rung(), n, streams),
                      {"the results are right, but " + judge::Counted(used, "stream") + " had work, not " + asked},
                      {"create `streams` streams, and let chunk c go through stream c % streams", {"streams"}}));
    }
  }
  Keep(run.report);
  Add(std::move(run.problems));
}

TEST_P(StreamsTest, SimulatesOnePiece) {
  for (const uint64_t n : {256, 32, 1000}) Expect(n);
}

TEST_P(StreamsTest, SimulatesManyPieces) {
  for (const uint64_t n : {131072, 262144}) Expect(n);
}

TEST_P(StreamsTest, SimulatesAnyLength) {
  for (const uint64_t n : judge::Around({2, 64, 256, 32768, 65536})) ExpectWith(n, 4);
  for (const uint64_t n : {7, 1009, 100003}) Expect(n);
}

TEST_P(StreamsTest, HandlesNothing) {
  Expect(8);
  Expect(0);
}

// Buffers must not keep an earlier call's values.
TEST_P(StreamsTest, SimulatesAgain) {
  for (const uint64_t n : {100000, 70000, 100000}) ExpectWith(n, 2);
}

TEST_P(StreamsTest, SimulatesLargeArrays) {
  Expect(1000, Role::kPlain);
  ExpectWith((uint64_t{1} << 20) + 77, 4, Role::kPlain);
}

TEST_P(ChunksTest, UsesTheStreams) {
  const auto n = static_cast<uint64_t>(judge::Random(Seed(0)).Between(450'000, 600'000));
  for (const int streams : {1, 2, 4, 8}) ExpectStreams(n, streams);
}

INSTANTIATE_TEST_SUITE_P(, StreamsTest, testing::ValuesIn(StreamRungs(false)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, ChunksTest, testing::ValuesIn(StreamRungs(true)), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  const bool any = one.drawn && !one.round;
  Random random(SeedFor(one.seed, "streams"));
  const auto drawn = static_cast<int>(one.wide ? 2 : random.Between(3, 8));
  const int streams = any ? drawn : suites::kEvidenceStreams;
  const uint64_t n = one.wide ? one.elements * 5 / 8 : one.elements;  // from a quarter of the assignment's size
  EvidenceRun run = suites::StreamOnce(runner, rung, suites::MakeFractions(n, one.seed), streams);
  run.elements = n;
  run.room = one.wide && suites::IsChunked(rung) ? 1.5 : 0;  // two streams overlap less than four
  return run;
}

}  // namespace lockstep::judge
