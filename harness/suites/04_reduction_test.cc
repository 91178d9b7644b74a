// Assignment 04, the reduction ladder: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>

#include "judge/input/oracle.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "judge/suite/timing.h"
#include "reduction.h"
#include "suites/04_reduction_fixture.h"
#include "vgpu/exec/warp_state.h"

namespace lockstep::suites {
namespace {

int32_t Expected(const std::string& rung, const std::vector<int32_t>& values) {
  if (rung == "reduce8_max") return judge::Largest(values);
  if (rung == "reduce8_min") return judge::Smallest(values);
  return judge::WrappingSum(values);
}

// A possible initial result: if kernels find nothing else, they need not store it again.
bool IsNeutral(const std::string& rung, int32_t result) {
  return result == (rung == "reduce8_max"   ? std::numeric_limits<int32_t>::min()
                    : rung == "reduce8_min" ? std::numeric_limits<int32_t>::max()
                                            : 0);
}

constexpr uint64_t kLarge = 1 << 20;        // more elements than anyone checks by hand
constexpr int32_t kExactInFloat = 1 << 24;  // a float represents every integer up to here

// The sum of the first `kept` of every `period` elements.
int32_t SumOfSome(const std::vector<int32_t>& values, uint64_t period, uint64_t kept) {
  uint32_t sum = 0;
  for (uint64_t i = 0; i < values.size(); ++i) sum += i % period < kept ? static_cast<uint32_t>(values[i]) : 0;
  return static_cast<int32_t>(sum);
}

// Explains a wrong sum with elements added more than once, or values that are not elements.
judge::HintText ExplainSurplus(const std::vector<int32_t>& values, int32_t found) {
  const uint64_t n = values.size();
  uint32_t twice = 0;  // the surplus if blocks take two tiles each, but start only one tile apart
  for (uint64_t begin = 0; begin < n / 2 + kBlock && begin < n; begin += kBlock) {
    if (begin / kBlock >= (n - 1) / (2 * kBlock) + 1) break;
    const std::span<const int32_t> tiles(values.data() + begin, std::min<uint64_t>(2 * kBlock, n - begin));
    twice += static_cast<uint32_t>(judge::WrappingSum(tiles));
  }
  if (n > kBlock && twice == static_cast<uint32_t>(found)) {
    return {"the blocks overlap: each adds up " + judge::Grouped(2 * kBlock) + " elements, and begins only " +
                judge::Grouped(kBlock) + " after the one before: a block's first is blockIdx.x * 2 * blockDim.x",
            {"block index"}};
  }
  const auto surplus = static_cast<uint32_t>(found) - static_cast<uint32_t>(judge::WrappingSum(values));
  constexpr uint32_t kGarbage = 0x01010101u * vgpu::kUnwrittenRegister, kLanes = 32;
  for (uint32_t threads = kLanes; threads <= 1u << 16; threads += kLanes) {
    if (surplus == threads * kGarbage) {
      return {
          "threads began to add with garbage: a variable in a kernel has no value before it is given one (int sum "
          "= 0)",
          {"variable"}};
    }
  }
  uint32_t rest = 0;
  for (uint64_t begin = n; begin-- > kBlock;) {
    rest += static_cast<uint32_t>(values[begin]);
    if (begin % kBlock != 0 || surplus == 0 || surplus != rest) continue;
    return {"the elements from " + judge::Grouped(begin) +
                " on were added twice: a thread has to move on by as many elements as the whole grid adds at once",
            {"loop"}};
  }
  return "";
}

// Explains a wrong sum.
judge::HintText Explain(const std::vector<int32_t>& values, int32_t found) {
  const uint64_t n = values.size();
  struct Prefix {
    uint64_t length;
    const char* hint;
  };
  uint64_t power_of_two = 1;
  while (power_of_two * 2 <= n) power_of_two *= 2;
  const Prefix prefixes[] = {
      {n - 1, "the last element is missing"},
      {n / kBlock * kBlock, "the last, partial block is missing"},
      {n / (2 * kBlock) * 2 * kBlock, "the last, partial block is missing"},
      {power_of_two, "that is the largest power of two up to n: the elements past it are missing"},
      {kBlock, "the other blocks' results are missing: is there one more pass over them?"},
      {2 * kBlock, "the other blocks' results are missing: is there one more pass over them?"},
  };
  if (n > 1 && found == values[0]) {
    return {
        "the result is the first element alone: does every thread load its elements, and does the tree run all its "
        "steps?",
        {"loop"}};
  }
  for (const Prefix& prefix : prefixes) {
    if (prefix.length == 0 || prefix.length >= n) continue;
    if (judge::WrappingSum({values.data(), prefix.length}) != found) continue;
    return "the result is the sum of the first " + judge::Grouped(prefix.length) + " elements; " + prefix.hint;
  }
  const uint64_t first_results = BlocksFor(n);
  if (first_results >= 2 && first_results < n && judge::WrappingSum({values.data(), first_results}) == found) {
    return "the result is the sum of the first " + judge::Grouped(first_results) +
           " elements, as many as the first pass has results: the next pass has to reduce those, and not d_in again";
  }
  for (uint32_t times = 2; times <= 1024 && found != 0; times *= 2) {
    if (static_cast<uint32_t>(found) != times * static_cast<uint32_t>(judge::WrappingSum(values))) continue;
    return {"the result is " + std::to_string(times) +
                " times the sum: is a value added to itself? A shuffle by 32 or more gives a lane its own",
            {"shuffle"}};
  }
  if (judge::HintText added = ExplainSurplus(values, found); !added.empty()) return added;
  for (uint64_t period = 2; period <= 2 * kBlock && period < n; period *= 2) {
    for (uint64_t kept = 1; kept < period; kept *= 2) {
      if (SumOfSome(values, period, kept) != found) continue;
      return "the result is the sum of the elements i with i % " + std::to_string(period) + " < " +
             std::to_string(kept) + ": is a step of the tree missing, its first or its last?";
    }
  }
  // Past the end of d_in there is a guard zone on a real GPU or in a buffer that held more before. Multiples of 51 wrap
  // around to small numbers, which are inconclusive.
  const auto surplus = static_cast<uint32_t>(found) - static_cast<uint32_t>(judge::WrappingSum(values));
  const auto poison = static_cast<uint32_t>(judge::DeviceArray<int32_t>::FillValue());
  for (uint32_t times = 1; times <= 2 * kBlock; ++times) {
    if (times % 51 != 0 && surplus == times * poison) {
      return judge::Counted(times, "element") + " past the end of the input " + (times == 1 ? "was" : "were") +
             " added: check each index against n";
    }
  }
  if (found == 0) {
    return n < 2 * kBlock ? "the result is 0: does a partial block add up its elements, and does the thread that holds "
                            "the sum write it?"
                          : "the result is 0: does the thread that holds the block's sum write it?";
  }
  if (std::abs(int64_t{judge::WrappingSum(values)}) > kExactInFloat &&
      static_cast<double>(found) == static_cast<double>(static_cast<float>(judge::WrappingSum(values)))) {
    return "that is the sum rounded to a float, which keeps only 24 bits: add ints";
  }
  if (n >= kLarge) {
    return "this many elements exceed some limit: a grid or a buffer of fixed size, a 16-bit counter, an index held "
           "in a float?";
  }
  return "";
}

// Explains a wrong maximum or minimum.
std::string ExplainExtreme(const std::vector<int32_t>& values, int32_t found) {
  if (std::find(values.begin(), values.end(), found) == values.end()) {
    return std::to_string(found) +
           " is not one of the elements: where does it come from? Start the maximum from INT_MIN and the minimum from "
           "INT_MAX";
  }
  return std::to_string(found) + " is one of the elements, but not the right one: is every element compared?";
}

std::optional<Problem> CheckResult(const std::string& rung, const judge::CallContext& context,
                                   const judge::CallReport& report, const std::vector<int32_t>& values, int32_t found) {
  const int32_t expected = Expected(rung, values);
  const bool untouched = found == judge::DeviceArray<int32_t>::FillValue() && found != expected;
  const bool launched = !report.observed || !report.launches.empty();
  if (untouched && !launched && !values.empty()) return judge::UnfinishedProblem(context);
  if (found == expected) {
    // One element may be copied; two have to be added, and not by the host.
    if (launched || values.size() < 2) return std::nullopt;
    return judge::NoKernelProblem(context);
  }
  const int64_t difference = int64_t{found} - int64_t{expected};
  Problem problem = judge::MakeProblem(
      Verdict::kWrong, context,
      {{"expect", std::to_string(expected)},
       {"found", (untouched ? "the old contents (nothing was written)"
                            : std::to_string(found) + "  (difference " + std::to_string(difference) + ")")}});
  const bool is_sum = rung != "reduce8_max" && rung != "reduce8_min";
  if (untouched) {
    problem.hint = values.empty() ? "write the result even when n is 0"
                                  : "nothing wrote the result: the last pass must, with one block";
  } else if (values.empty()) {
    problem.hint =
        is_sum ? "the sum of no elements is 0"
               : "with no elements, the maximum is INT_MIN, -2147483648, and the minimum is INT_MAX, 2147483647";
  } else if (is_sum) {
    problem.hint = Explain(values, found);
  } else {
    problem.hint = ExplainExtreme(values, found);
  }
  return problem;
}

judge::CallContext ContextOf(const std::string& rung, const std::vector<int32_t>& values, const std::string& what) {
  return {rung, "n = " + judge::Grouped(values.size()) + ", " + what, judge::Suite::Get().assignment().submission};
}

bool IsAt(const Problem& problem, Verdict verdict, const char* buffer) {
  return problem.verdict == verdict && problem.finding && problem.finding->memory &&
         problem.finding->memory->buffer_name == buffer;
}

std::vector<worker::Argument> ArgumentsOf(const ReductionBuffers& buffers, uint64_t n) {
  return {buffers.in.argument(), buffers.sum.argument(), worker::Argument::Integer(static_cast<unsigned>(n)),
          buffers.work.argument()};
}

}  // namespace

ReductionBuffers::ReductionBuffers(judge::JudgeDevice& device, uint64_t capacity, Offsets offsets)
    : in(device, capacity, "d_in", offsets.in),
      sum(device, 1, "d_sum", offsets.sum),
      work(device, WorkInts(capacity), "d_work", offsets.work) {}

judge::EvidenceRun Reduce(judge::Runner& runner, const std::string& rung, ReductionBuffers& buffers,
                          const std::vector<int32_t>& values, const std::string& what) {
  const judge::CallContext context = ContextOf(rung, values, what);
  const auto before = buffers.in.Fill(values);
  buffers.sum.Poison();
  const std::vector<worker::Argument> arguments = ArgumentsOf(buffers, values.size());
  runner.LimitInstructions(values.size());
  judge::EvidenceRun run{runner.Call(rung, arguments), {}};
  run.problems = judge::ProblemsOf(run.report, context);
  for (Problem& problem : run.problems) {
    if (IsAt(problem, Verdict::kBounds, "d_sum")) {
      problem.hint = "d_sum is one int, d_sum[0]: the results of many blocks go to d_work";
    } else if (IsAt(problem, Verdict::kUninit, "d_work")) {
      problem.hint =
          "this pass reads a result that the one before has not stored: does each block store its own, "
          "d_out[blockIdx.x], and does the pass read no more of them than there were blocks?";
    }
  }
  const std::vector<int32_t> found = buffers.sum.Get();
  if (!run.problems.empty() || found.empty()) return run;
  if (auto problem = CheckResult(rung, context, run.report, values, found[0])) run.problems.push_back(*problem);
  judge::CheckUnchanged<int32_t>(buffers.in, before.values(), context,
                                 "d_in is read-only: intermediate results go to d_work", run.problems);
  judge::CheckGuards(context, run.problems, buffers.in, buffers.sum, buffers.work);
  if (run.problems.size() == 1 && run.problems[0].verdict == Verdict::kWrong && !run.problems[0].unfinished) {
    run.problems[0].trail = judge::TrailOfArrayCall<int32_t>(
        runner, context, {.in = buffers.in, .out = buffers.sum, .values = values, .arguments = arguments}, found[0], 0);
  }
  // The sum of one element is a copy, that of none a constant.
  if (values.size() > 1 && run.problems.empty()) {
    judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls,
                             {{judge::FirstOf(buffers.in, values.size())}},
                             {{judge::FirstOf(buffers.sum, IsNeutral(rung, found[0]) ? 0 : 1)}}, run.problems);
  }
  return run;
}

void ReductionTest::ExpectIn(ReductionBuffers& buffers, const std::vector<int32_t>& values, const std::string& what,
                             Role role, bool is_repeated) {
  if (!ok()) return;
  judge::EvidenceRun run = Reduce(judge::Suite::Get().runner(role), rung(), buffers, values, what);
  Keep(run.report);
  if (is_repeated && run.problems.empty()) {
    judge::CheckNothingHeld(ContextOf(rung(), values, what), run.report, run.problems);
  }
  Add(std::move(run.problems));
}

void ReductionTest::ExpectOf(const std::vector<int32_t>& values, const std::string& what) {
  if (!ok()) return;
  ReductionBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), values.size());
  ExpectIn(buffers, values, what);
}

void ReductionTest::Expect(uint64_t n, Pattern pattern, Role role, Offsets offsets) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  const std::vector<int32_t> values = judge::MakeInts(pattern, n, seed);
  ReductionBuffers buffers(judge::Suite::Get().runner(role).device(), n, offsets);
  std::string what(judge::NameOf(pattern));
  if (offsets.in + offsets.sum + offsets.work > 0) {
    what += "; d_in, d_sum and d_work begin " + std::to_string(4 * offsets.in) + ", " +
            std::to_string(4 * offsets.sum) + " and " + std::to_string(4 * offsets.work) +
            " bytes into their allocations";
  }
  ExpectIn(buffers, values, what, role);
}

TEST_P(ReductionTest, SumsOneBlock) {
  for (const uint64_t n : {1, 2, 31, 32, 33, 64, 127, 128}) {
    Expect(n, Pattern::kRamp);
    Expect(n, Pattern::kSmall);
  }
}

TEST_P(ReductionTest, SumsAnyLength) {
  for (const uint64_t n : judge::Around({32, 128, 256, 1024, 128 * 128, 256 * 256})) Expect(n, Pattern::kSmall);
}

TEST_P(ReductionTest, SumsLengthsThatAreNoPowerOfTwo) {
  for (const uint64_t n : {3, 97, 131, 300, 1009, 4099, 10007, 100000, 100003}) Expect(n, Pattern::kSmall);
}

TEST_P(ReductionTest, SumsAllKindsOfValues) {
  for (const Pattern pattern : {Pattern::kOnes, Pattern::kAlternating, Pattern::kSpikeFirst, Pattern::kSpikeLast}) {
    for (const uint64_t n : {2, 1000}) Expect(n, pattern);
  }
}

// The maximum is negative too.
TEST_P(ReductionTest, ReducesNegativeValues) {
  for (const uint64_t n : {1, 33, 1000}) {
    std::vector<int32_t> values = judge::MakeInts(Pattern::kRamp, n, Seed());
    for (int32_t& value : values) value = -value;
    ExpectOf(values, "a ramp of negative numbers");
  }
}

// Too large for checkers that inspect every access; out-of-bounds accesses are still found.
TEST_P(ReductionTest, SumsLargeArrays) {
  // A quick check that reports a rung not begun.
  Expect(1000, Pattern::kSmall, Role::kPlain);
  // More than 65,535 blocks on every rung: of kBlock elements up to rung 3, of twice as many from rung 4 on. From there
  // this is also more elements than a float can index. Earlier rungs have one thread per element.
  const bool has_one_a_thread = rung() < "reduce4";
  Expect((has_one_a_thread ? uint64_t{1} << 23 : uint64_t{1} << 24) + 43, Pattern::kSmall, Role::kPlain);
}

TEST_P(ReductionTest, HandlesNothing) {
  // If the rung can't sum one element yet, report that first.
  Expect(1, Pattern::kOnes);
  Expect(0, Pattern::kOnes);
}

TEST_P(ReductionTest, LeavesTheInputUnchanged) {
  // Every test checks that the input is unchanged; here all of it must survive two calls with the same sum.
  ReductionBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 5000);
  const std::vector<int32_t> values = judge::MakeInts(Pattern::kSmall, 5000, Seed());
  ExpectIn(buffers, values, "small random integers, first call");
  ExpectIn(buffers, values, "the same integers again, second call");
}

TEST_P(ReductionTest, KeepsNoMemory) {
  ReductionBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 1000);
  const std::vector<int32_t> values = judge::MakeInts(Pattern::kSmall, 1000, Seed());
  ExpectIn(buffers, values, "small random integers, first call");
  ExpectIn(buffers, values, "the same integers again, second call", Role::kChecked, /*is_repeated=*/true);
}

// The timed workload: each call reduces an array of its own.
class ReductionWorkload : public judge::Workload {
 public:
  ReductionWorkload(judge::JudgeDevice& device, const std::string& rung, uint64_t elements)
      : task_(rung == "reduce8_max"   ? judge::GpuTask::kMax
              : rung == "reduce8_min" ? judge::GpuTask::kMin
                                      : judge::GpuTask::kSum),
        buffers_(device, elements) {}

  judge::GpuJob Job() const override {
    return {.in = buffers_.in.address(),
            .out = buffers_.sum.address(),
            .n = buffers_.in.size(),
            .values = judge::GpuValues::kInts,
            .task = task_};
  }
  void Poison() override {
    buffers_.sum.Poison();
    buffers_.work.Poison();
  }
  std::vector<worker::Argument> Arguments() const override { return ArgumentsOf(buffers_, buffers_.in.size()); }
  uint64_t LeastBytes() const override { return sizeof(int32_t) * (buffers_.in.size() + 1); }

 private:
  judge::GpuTask task_;
  ReductionBuffers buffers_;
};

const bool kTimed =
    judge::RegisterWorkload([](judge::JudgeDevice& device, const std::string& rung, uint64_t elements, uint32_t) {
      return std::make_unique<ReductionWorkload>(device, rung, elements);
    });

INSTANTIATE_TEST_SUITE_P(, ReductionTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  suites::ReductionBuffers buffers(runner.device(), one.elements, {.in = one.Offset("d_in", kWholeSectors)});
  EvidenceRun run = suites::Reduce(runner, rung, buffers, MakeInts(Pattern::kSmall, one.elements, one.seed),
                                   std::string(NameOf(Pattern::kSmall)));
  run.room = one.wide && (rung.starts_with("reduce3") || rung.starts_with("reduce8")) ? 1 : 0;
  return run;
}

}  // namespace lockstep::judge
