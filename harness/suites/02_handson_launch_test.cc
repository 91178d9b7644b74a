// Assignment 02, launching kernels: the tests that students have.
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/run/failure.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/buffer_check.h"
#include "judge/suite/main.h"
#include "launch.h"
#include "suites/02_handson_launch_explain.h"
#include "suites/02_handson_launch_fixture.h"

namespace lockstep::suites {
namespace {

using vgpu::Dim3;

// Bytes that a launcher may copy to the device per call: enough for parameters in constant memory, but not for array
// values.
constexpr uint64_t kParameterBytes = 64;
constexpr uint32_t kManyBlocks = 65'537;  // in 2006 a grid had at most 65,535 blocks

int NumberOf(const std::string& rung) { return rung.at(std::string("launch").size()) - '0'; }

// The last launch's threads; 0: unknown.
uint64_t ThreadsOfLast(const CallReport& report) {
  if (report.launches.empty()) return 0;
  const vgpu::LaunchRecord& launch = report.launches.back();
  return launch.grid.Count() * launch.block.Count();
}

// Checks that every element has its value, that kernels stored it, and that the grid and blocks are as required.
void CheckFilled(int number, const CallContext& context, const CallReport& report, const Shape& shape,
                 std::span<const int32_t> found, std::vector<Problem>& problems) {
  const Filling right = number == 6 ? TiledFilling(shape) : LinearFilling(shape);
  std::vector<int32_t> expected(found.size());
  for (uint64_t i = 0; i < expected.size(); ++i) expected[i] = right(i);
  if (const auto mismatch = judge::CompareExact<int32_t>(expected, found)) {
    problems.push_back(MakeProblem(Verdict::kWrong, context,
                                   {(number == 3 ? "h_out: " : "d_a: ") + judge::MismatchText(*mismatch, found.size())},
                                   Explain(number, shape, right, found, ThreadsOfLast(report))));
    return;
  }
  if (!report.observed || found.empty()) return;
  if (report.launches.empty()) {
    problems.push_back(judge::NoKernelProblem(context));
    return;
  }
  if (report.api.bytes_to_device > kParameterBytes) {
    problems.push_back(
        MakeProblem(Verdict::kRejected, context,
                    {judge::Counted(report.api.bytes_to_device, "byte") + " were copied from the host to the device"},
                    "the kernel's threads can compute what to store: copy nothing to the device"));
    return;
  }
  const Dim3 block = number == 6 ? Dim3{kTile, kTile, 1} : Dim3{shape.block, 1, 1};
  const Dim3 grid = number == 6 ? Dim3{BlocksFor(shape.width, kTile), BlocksFor(shape.height, kTile), 1}
                                : Dim3{BlocksFor(shape.n, shape.block), 1, 1};
  for (const vgpu::LaunchRecord& launch : report.launches) {
    // Superfluous blocks are waste, which the evidence measures. For one-dimensional data only the numbers of blocks
    // and threads matter, in any number of dimensions.
    const bool as_asked =
        number == 6 ? launch.block == block && launch.grid.z == 1 && launch.grid.x >= grid.x && launch.grid.y >= grid.y
                    : launch.block.Count() == block.Count() && (launch.grid.Count() >= grid.Count() || number == 5);
    if (as_asked) continue;
    problems.push_back(MakeProblem(
        Verdict::kRejected, context,
        {"the values are right, but the launch was " + judge::LaunchText(launch.kernel, launch.grid, launch.block),
         {"expect", judge::LaunchText(launch.kernel, grid, block)}},
        "give each element its own thread: use the block size you are given, and as many blocks as that takes"));
    return;
  }
}

std::string Describe(int number, const Shape& shape) {
  if (number == 6) return Grouped(shape.width) + " columns, " + Grouped(shape.height) + " rows";
  return "n = " + Grouped(shape.n) + ", blocks of " + Grouped(shape.block);
}

bool DidNothing(const CallReport& report) {
  return report.outcome == worker::Outcome::kReturned && report.value.AsInteger() == cudaErrorNotReady &&
         (!report.observed || report.trace.empty());
}

// An impossible grid or block: cudaErrorInvalidConfiguration, since CUDA 13 cudaErrorInvalidValue.
bool IsImpossibleLaunch(int64_t error) {
  return error == cudaErrorInvalidConfiguration || error == cudaErrorInvalidValue;
}

enum class Expect : uint8_t { kSuccess, kImpossibleLaunch, kNoMemory, kFailedCopy, kFailedLaunch };

bool Meets(int64_t error, Expect expect) {
  switch (expect) {
    case Expect::kImpossibleLaunch:
      return IsImpossibleLaunch(error);
    case Expect::kNoMemory:
      return error == cudaErrorMemoryAllocation;
    case Expect::kFailedCopy:
      return error == cudaErrorInvalidValue;
    case Expect::kFailedLaunch:
      return error == cudaErrorLaunchOutOfResources;
    case Expect::kSuccess:
      break;
  }
  return error == cudaSuccess;
}

// Problems of the call itself. A launcher that returned the error of a launch must also have cleared it by
// cudaGetLastError(), and so have asked for it. It need not clear other errors that it returned.
std::vector<Problem> ProblemsOfCall(CallReport& report, const CallContext& context, Expect expect) {
  if (DidNothing(report)) return {judge::UnfinishedProblem(context)};
  const int64_t error = report.value.AsInteger();
  const bool launch_fails = expect == Expect::kImpossibleLaunch || expect == Expect::kFailedLaunch;
  if (launch_fails && error == cudaSuccess && !report.cuda_error.empty()) {
    return {MakeProblem(Verdict::kApi, context,
                        {expect == Expect::kFailedLaunch ? "it returned cudaSuccess, though its launch failed"
                                                         : "it returned cudaSuccess, though its launch was impossible",
                         judge::FirstFailure(report, context).evidence},
                        "a launch returns nothing: return what cudaGetLastError() says right after it")};
  }
  const std::string left = error != cudaSuccess ? std::exchange(report.cuda_error, "") : "";
  std::vector<Problem> problems = judge::ProblemsOf(report, context);
  // cudaGraphLaunch returns the error of its launch.
  const bool must_ask =
      expect == Expect::kImpossibleLaunch ||
      (expect == Expect::kFailedLaunch && std::ranges::any_of(report.trace, [](const worker::ApiCall& call) {
         return call.failed && call.function != "cudaGraphLaunch";
       }));
  if (problems.empty() && must_ask && Meets(error, expect) && !left.empty()) {
    return {MakeProblem(
        Verdict::kApi, context,
        {"it returned " + judge::ErrorText(error) + ", and left " + left + " behind for the next call"},
        "cudaPeekAtLastError() does not clear the error: use cudaGetLastError(), or the next launch reports it again")};
  }
  if (!problems.empty() || Meets(error, expect)) return problems;
  const std::string returned = "it returned " + judge::ErrorText(error);
  const judge::Failure failure = judge::FirstFailure(report, context);
  std::string evidence = returned;
  judge::HintText hint;
  switch (expect) {
    case Expect::kSuccess:
      hint = failure.hint.empty() ? judge::HintOfReturned(error) : failure.hint;
      break;
    case Expect::kImpossibleLaunch:
      evidence += ", but the launch failed: a block has at most 1,024 threads";
      hint = "a launch returns no error code: call cudaGetLastError() right after it";
      break;
    case Expect::kNoMemory:
      evidence += ", not the allocation's error, cudaErrorMemoryAllocation";
      hint = "return the error of a failed call as soon as it fails";
      break;
    case Expect::kFailedCopy:
      evidence += ", not the copy's error, cudaErrorInvalidValue";
      hint = "cudaMemcpy returns an error code as well: return it";
      break;
    case Expect::kFailedLaunch:
      evidence += ", not the launch's error, cudaErrorLaunchOutOfResources";
      hint = "a launch can fail for any reason: return what cudaGetLastError() says right after it";
      break;
  }
  return {MakeProblem(Verdict::kApi, context, {evidence, failure.evidence}, hint)};
}

CallContext ContextOf(const std::string& rung, const std::string& input) {
  return {rung, input, judge::Suite::Get().assignment().submission};
}

std::vector<int32_t> IntsOf(const std::vector<uint8_t>& bytes) {
  std::vector<int32_t> values(bytes.size() / sizeof(int32_t));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(int32_t));
  return values;
}

bool CopiedTooEarly(const CallReport& report) {
  const auto first = [&](worker::ApiKind kind) {
    return std::find_if(report.trace.begin(), report.trace.end(),
                        [&](const worker::ApiCall& call) { return call.kind == kind; });
  };
  return first(worker::ApiKind::kDeviceToHost) < first(worker::ApiKind::kLaunch);
}

// Rung 3: the launcher owns the array and copies it to host memory.
judge::EvidenceRun FillHost(judge::Runner& runner, const std::string& rung, const Shape& shape, CallContext context,
                            Expect expect) {
  context.host_bytes = uint64_t{shape.n} * sizeof(int32_t);
  const std::vector<uint8_t> poisoned(context.host_bytes, judge::kPoisonByte);
  judge::EvidenceRun run{
      runner.Call(rung, {{Argument::HostArray(poisoned), Argument::Integer(shape.n), Argument::Integer(shape.block)}}),
      {}};
  CallReport& report = run.report;
  // With managed memory there is no copy that could fail.
  if (expect == Expect::kFailedCopy && report.api.failed_calls == 0) expect = Expect::kSuccess;
  run.problems = ProblemsOfCall(report, context, expect);
  if (run.problems.empty()) {
    const std::vector<int32_t> found = IntsOf(report.arrays.at(0));
    if (expect == Expect::kSuccess) {
      CheckFilled(3, context, report, shape, found, run.problems);
      if (!run.problems.empty() && CopiedTooEarly(report)) {
        run.problems.front().hint = "the copy to the host was made before the kernel was launched";
      }
    } else if (report.arrays.at(0) != poisoned) {
      run.problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_out was written although a call failed"},
                                         "leave h_out unchanged when you return an error"));
    }
  }
  if (run.problems.empty()) judge::CheckNothingHeld(context, report, run.problems);
  if (run.problems.empty()) judge::CheckNoPageLockedHeld(context, report, run.problems);
  const bool allocates = expect != Expect::kSuccess || shape.n == 0 || report.api.allocations > 0;
  if (run.problems.empty() && report.observed && !allocates) {
    run.problems.push_back(MakeProblem(Verdict::kRejected, context, {"h_out is right, but nothing was allocated"},
                                       "allocate the array with cudaMalloc; a __device__ array does not count"));
  }
  if (run.problems.empty() && expect == Expect::kSuccess) {
    judge::CheckCameFromDevice(report, context, report.arrays.at(0), "h_out", true, run.problems);
  }
  judge::AddCalls(run.problems, report.trace);
  return run;
}

// The other rungs: the test owns the array.
judge::EvidenceRun FillArray(judge::Runner& runner, const std::string& rung, const Shape& shape,
                             judge::DeviceArray<int32_t>& d_a, const CallContext& context, Expect expect) {
  const int number = NumberOf(rung);
  d_a.Poison();
  const uint32_t first = number == 6 ? shape.width : shape.n, second = number == 6 ? shape.height : shape.block;
  judge::EvidenceRun run{runner.Call(rung, {{d_a.argument(), Argument::Integer(first), Argument::Integer(second)}}),
                         {}};
  run.problems = ProblemsOfCall(run.report, context, expect);
  const auto contents = d_a.Look();
  const std::span<const int32_t> found = contents.values();
  if (!run.problems.empty() || found.size() != shape.n) return run;
  if (expect == Expect::kSuccess) {
    CheckFilled(number, context, run.report, shape, found, run.problems);
    if (run.problems.empty()) {
      judge::CheckKernelsDidIt(run.report, context, judge::Suite::Get().assignment().device_calls, {},
                               {{judge::FirstOf(d_a, shape.n)}}, run.problems);
    }
  }
  judge::CheckGuards(context, run.problems, d_a);
  return run;
}

judge::EvidenceRun FillWith(judge::Runner& runner, const std::string& rung, const Shape& shape, const std::string& note,
                            Expect expect) {
  const CallContext context = ContextOf(rung, Describe(NumberOf(rung), shape) + note);
  runner.LimitInstructions(shape.n);
  if (NumberOf(rung) == 3) return FillHost(runner, rung, shape, context, expect);
  judge::DeviceArray<int32_t> d_a(runner.device(), shape.n, "d_a");
  return FillArray(runner, rung, shape, d_a, context, expect);
}

// Explains a wrong count. atomics: number of atomic instructions executed.
judge::HintText ExplainCount(uint32_t n, uint32_t block, uint64_t wrong, uint64_t found,
                             std::optional<uint64_t> atomics) {
  const uint64_t padded = uint64_t{BlocksFor(n, block)} * block;
  if (found == static_cast<uint32_t>(kPoison)) {
    return wrong == 0 ? "set *d_wrong to 0 even when no element is wrong" : "nothing wrote to *d_wrong";
  }
  if (found == static_cast<uint32_t>(kPoison) + wrong)
    return {"*d_wrong started as garbage: set it to 0 before you count", {"variable"}};
  for (unsigned bytes = 1; bytes < sizeof(uint32_t); ++bytes) {
    const uint32_t kept = static_cast<uint32_t>(kPoison) & ~((1u << 8 * bytes) - 1);
    if (found == static_cast<uint32_t>(kept + wrong)) {
      return {judge::Counted(bytes, "byte") +
                  " of *d_wrong was set to 0, and the rest held garbage: cudaMemset counts "
                  "bytes, and an int has sizeof(int) of them",
              {"variable"}};
    }
  }
  if (padded > n && found == wrong + (padded - n)) return "threads with i ≥ n were counted too: they have no element";
  if (found == n - wrong) return "that is the number of elements that are right";
  if (found == 0) return "nothing was counted: does a kernel compare each element and add to *d_wrong?";
  if (found == wrong % 256 || found == wrong % 65536) {
    return "that is the count without its high bits: is it stored in a type too small for it?";
  }
  if (found < wrong && atomics == uint64_t{0}) {
    return "some updates got lost: ++*d_wrong is not atomic; use atomicAdd";
  }
  if (found < wrong)
    return "some were not counted: is every element compared, and can each counter hold a whole block's count?";
  return "";
}

// Empty if not counted.
std::optional<uint64_t> AtomicsOf(const CallReport& report) {
  vgpu::Counters sum;
  for (const vgpu::LaunchRecord& launch : report.launches) sum += launch.counters;
  if (sum.warp_instructions == 0) return std::nullopt;
  return sum.atomics;
}

// A more specific hint if a race is on the counter itself; otherwise the problem's own.
judge::HintText HintOfRace(const Problem& problem) {
  bool at_count = false, atomic = false;
  if (problem.finding && problem.finding->second && problem.finding->memory) {
    at_count = problem.finding->memory->buffer_name == "d_wrong";
    const bool first = problem.finding->first.access == vgpu::AccessKind::kAtomic;
    const bool second = problem.finding->second->access == vgpu::AccessKind::kAtomic;
    atomic = first != second;
  }
  if (!at_count) return problem.hint;
  return atomic ? "one thread stores to *d_wrong while others add to it: set it to 0 before you launch the kernel"
                : "many threads count at once, and updates get lost: use atomicAdd(d_wrong, …)";
}

judge::EvidenceRun VerifyWith(judge::Runner& runner, const std::string& rung, uint32_t n, uint32_t block,
                              const std::vector<uint32_t>& wrong, Expect expect) {
  const CallContext context =
      ContextOf(rung, Describe(4, {n, block}) + ", " + Grouped(wrong.size()) + " of the elements wrong");
  std::vector<int32_t> contents(n);
  const Filling right = LinearFilling({n, block});
  for (uint64_t i = 0; i < n; ++i) contents[i] = right(i);
  for (const uint32_t i : wrong) contents[i] ^= static_cast<int32_t>(1u << (i % 32));
  judge::DeviceArray<int32_t> d_a(runner.device(), n, "d_a");
  judge::DeviceArray<uint32_t> d_wrong(runner.device(), 1, "d_wrong");
  d_a.Set(contents);
  runner.LimitInstructions(n);
  judge::EvidenceRun run{
      runner.Call(rung, {{d_a.argument(), Argument::Integer(n), Argument::Integer(block), d_wrong.argument()}}), {}};
  const CallReport& report = run.report;
  run.problems = ProblemsOfCall(run.report, context, expect);
  for (Problem& problem : run.problems) {
    if (problem.verdict == Verdict::kRace) problem.hint = HintOfRace(problem);
  }
  const std::vector<uint32_t> found = d_wrong.Get();
  if (!run.problems.empty() || found.empty() || expect != Expect::kSuccess) return run;
  if (found[0] != wrong.size()) {
    run.problems.push_back(MakeProblem(
        Verdict::kWrong, context,
        {{"expect", "*d_wrong = " + Grouped(wrong.size())},
         {"found",
          (found[0] == static_cast<uint32_t>(kPoison) ? "the old contents (nothing was written)" : Grouped(found[0]))}},
        ExplainCount(n, block, wrong.size(), found[0], AtomicsOf(report))));
  } else if (report.observed && report.launches.empty() && n > 0) {
    run.problems.push_back(judge::NoKernelProblem(context));
  } else if (n > 0) {
    judge::CheckKernelsDidIt(report, context, judge::Suite::Get().assignment().device_calls, {{judge::FirstOf(d_a, n)}},
                             // If there is nothing wrong, kernels need not update the counter.
                             {{judge::FirstOf(d_wrong, wrong.empty() ? 0 : 1)}}, run.problems);
  }
  judge::CheckUnchanged<int32_t>(d_a, contents, context, "d_a is read-only", run.problems);
  if (run.problems.empty()) judge::CheckNothingHeld(context, report, run.problems);
  judge::CheckGuards(context, run.problems, d_a, d_wrong);
  return run;
}

// Every k-th element, from the first one on.
std::vector<uint32_t> Every(uint32_t k, uint32_t n) {
  std::vector<uint32_t> indices;
  for (uint64_t i = 0; i < n; i += k) indices.push_back(static_cast<uint32_t>(i));
  return indices;
}

// About every other element, as the seed draws them.
std::vector<uint32_t> AboutHalf(uint32_t n, const judge::SeedKey& seed) {
  const std::vector<uint32_t> words = judge::MakeWords(n, seed);
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < n; ++i) {
    if (words[i] % 2 == 0) indices.push_back(i);
  }
  return indices;
}

}  // namespace

judge::EvidenceRun Fill(judge::Runner& runner, const std::string& rung, const Shape& shape) {
  return FillWith(runner, rung, shape, "", Expect::kSuccess);
}

judge::EvidenceRun Verify(judge::Runner& runner, const std::string& rung, uint32_t n, uint32_t block,
                          const std::vector<uint32_t>& wrong) {
  return VerifyWith(runner, rung, n, block, wrong, Expect::kSuccess);
}

std::vector<std::string> SelectedOf(std::initializer_list<int> numbers) {
  return judge::Suite::Get().SelectedRungs([&](const std::string& rung) {
    return std::find(numbers.begin(), numbers.end(), NumberOf(rung)) != numbers.end();
  });
}

void LaunchTest::ExpectFilled(uint32_t n, uint32_t block, Role role) {
  if (!ok()) return;
  if (number() == 1) n = std::max(1u, BlocksFor(n, block)) * block;
  judge::EvidenceRun run = Fill(judge::Suite::Get().runner(role), rung(), {n, block});
  Keep(run.report);
  Add(std::move(run.problems));
}

void LaunchTest::ExpectRefused(uint32_t n, uint32_t block) {
  if (!ok()) return;
  judge::Runner& runner = judge::Suite::Get().runner(Role::kChecked);
  judge::EvidenceRun run =
      number() == 4 ? VerifyWith(runner, rung(), n, block, {}, Expect::kImpossibleLaunch)
                    : FillWith(runner, rung(), {n, block}, ", which can't be launched", Expect::kImpossibleLaunch);
  Keep(run.report);
  Add(std::move(run.problems));
}

void LaunchTest::ExpectFailure(uint32_t n, Failing failing) {
  judge::Runner& runner = judge::Suite::Get().runner(Role::kChecked);
  // A real device has room, and its copies and launches do not fail.
  if (!ok() || runner.device().virtual_device() == nullptr) return;
  const auto [fail, note, expect] =
      failing == Failing::kAllocation
          ? std::tuple(&judge::Runner::FailAllocation, "; allocation 1 runs out of memory", Expect::kNoMemory)
      : failing == Failing::kCopy
          ? std::tuple(&judge::Runner::FailCopy, "; the first copy fails", Expect::kFailedCopy)
          : std::tuple(&judge::Runner::FailLaunch, "; the GPU lacks resources for the launch", Expect::kFailedLaunch);
  (runner.*fail)(1);
  judge::EvidenceRun run =
      number() == 4 ? VerifyWith(runner, rung(), n, 128, {}, expect) : FillWith(runner, rung(), {n, 128}, note, expect);
  Keep(run.report);
  Add(std::move(run.problems));
}

void VerifyTest::ExpectCounted(uint32_t n, uint32_t block, const std::vector<uint32_t>& wrong, Role role) {
  if (!ok()) return;
  judge::EvidenceRun run = Verify(judge::Suite::Get().runner(role), rung(), n, block, wrong);
  Keep(run.report);
  Add(std::move(run.problems));
}

void Grid2dTest::ExpectFilled2d(uint32_t width, uint32_t height, Role role) {
  if (!ok()) return;
  judge::EvidenceRun run = Fill(judge::Suite::Get().runner(role), rung(), {width * height, 0, width, height});
  Keep(run.report);
  Add(std::move(run.problems));
}

TEST_P(LaunchTest, FillsWholeBlocks) {
  for (const uint32_t blocks : {3, 1, 2, 64, 65}) ExpectFilled(blocks * 128, 128);
}

TEST_P(LaunchTest, FillsWithBlocksOfAnySize) {
  for (const uint32_t block : {32, 256, 1024, 33, 100, 7, 1}) ExpectFilled(10 * block, block);
}

// Before each call, the array that the call before has filled gets other values.
TEST_P(LaunchTest, FillsAgain) {
  const Shape shape{1280, 128};
  judge::Runner& runner = judge::Suite::Get().runner(Role::kChecked);
  judge::DeviceArray<int32_t> d_a(runner.device(), shape.n, "d_a");
  for (int call = 1; call <= 3 && ok(); ++call) {
    const CallContext context = ContextOf(rung(), Describe(number(), shape) + ", call " + std::to_string(call));
    judge::EvidenceRun run = number() == 3 ? FillHost(runner, rung(), shape, context, Expect::kSuccess)
                                           : FillArray(runner, rung(), shape, d_a, context, Expect::kSuccess);
    Keep(run.report);
    Add(std::move(run.problems));
  }
}

TEST_P(LaunchTest, FillsLargeArrays) {
  ExpectFilled(1024, 128, Role::kPlain);
  // More than 65,535 blocks, not a power of two, each of 33 threads, which is not a multiple of a warp.
  ExpectFilled(kManyBlocks * 33, 33, Role::kPlain);
}

TEST_P(AnyLengthTest, FillsAnyLength) {
  ExpectFilled(128, 128);
  for (const uint64_t n : judge::Around({2, 32, 128, 256, 1024, 64 * 128, 65536}))
    ExpectFilled(static_cast<uint32_t>(n), 128);
  for (const uint32_t n : {97, 1009, 100003}) ExpectFilled(n, 192);
}

TEST_P(AnyLengthTest, HandlesNothing) {
  ExpectFilled(1, 32);
  ExpectFilled(0, 32);
}

TEST_P(AnyLengthTest, ReportsAnImpossibleLaunch) {
  ExpectFilled(5000, 1024);
  for (const uint32_t block : {1025, 2048}) ExpectRefused(5000, block);
  // An error of one launch must not affect the next.
  ExpectFilled(5000, 1024);
}

TEST_P(CopyBackTest, ReportsAFailedAllocation) {
  ExpectFilled(1000, 128);
  ExpectFailure(1000, Failing::kAllocation);
  ExpectFilled(1000, 128);
}

TEST_P(CopyBackTest, ReportsAFailedCopy) {
  ExpectFilled(1000, 128);
  ExpectFailure(1000, Failing::kCopy);
  ExpectFilled(1000, 128);
}

TEST_P(VerifyTest, CountsWrongElements) {
  for (const uint32_t block : {128, 32, 100}) {
    for (const uint32_t k : {7, 1, 2, 999}) ExpectCounted(1000, block, Every(k, 1000));
    ExpectCounted(1000, block, {});
  }
}

TEST_P(VerifyTest, CountsAtAnyLength) {
  for (const uint64_t n : judge::Around({32, 128, 1024, 65536})) {
    const auto length = static_cast<uint32_t>(n);
    ExpectCounted(length, 128, {length - 1});
    ExpectCounted(length, 128, {});
    ExpectCounted(length, 128, Every(3, length));
  }
}

// Counts more than 255 in a block, and more than 65,535 in all.
TEST_P(VerifyTest, CountsMany) {
  for (const uint32_t block : {256, 512, 1024}) ExpectCounted(5000, block, Every(1, 5000));
  ExpectCounted(70000, 1024, Every(1, 70000));
}

TEST_P(VerifyTest, CountsInLargeArrays) {
  ExpectCounted(1000, 128, {0}, Role::kPlain);
  constexpr uint32_t kLarge = kManyBlocks * 32 - 5;
  ExpectCounted(kLarge, 32, Every(1009, kLarge), Role::kPlain);
}

TEST_P(VerifyTest, CountsNothing) {
  ExpectCounted(1, 32, {0});
  ExpectCounted(0, 32, {});
}

TEST_P(VerifyTest, ReportsAnImpossibleLaunch) {
  ExpectCounted(5000, 1024, {17});
  ExpectRefused(5000, 1025);
}

TEST_P(Grid2dTest, FillsWholeTiles) {
  for (const uint32_t width : {16, 32, 160}) {
    for (const uint32_t height : {16, 48}) ExpectFilled2d(width, height);
  }
}

TEST_P(Grid2dTest, FillsAnyRectangle) {
  ExpectFilled2d(16, 16);
  for (const auto& [width, height] :
       {std::pair{1, 1}, {1, 100}, {100, 1}, {15, 17}, {17, 15}, {33, 64}, {101, 67}, {640, 3}}) {
    ExpectFilled2d(static_cast<uint32_t>(width), static_cast<uint32_t>(height));
  }
}

TEST_P(Grid2dTest, HandlesNothing) {
  ExpectFilled2d(1, 1);
  ExpectFilled2d(0, 5);
  ExpectFilled2d(5, 0);
}

INSTANTIATE_TEST_SUITE_P(, LaunchTest, testing::ValuesIn(SelectedOf({1, 2, 3, 5})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, AnyLengthTest, testing::ValuesIn(SelectedOf({2, 3, 5})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, CopyBackTest, testing::ValuesIn(SelectedOf({3})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, VerifyTest, testing::ValuesIn(SelectedOf({4})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, Grid2dTest, testing::ValuesIn(SelectedOf({6})), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  Random random(SeedFor(one.seed, "blocks and rows"));
  const bool any = one.drawn && !one.round;
  const uint32_t block = any ? static_cast<uint32_t>(8 * random.Between(24, 128)) : 256;
  uint32_t width = 1024, n = static_cast<uint32_t>(one.elements);
  if (any) width = std::min(n, static_cast<uint32_t>(random.Between(500, 2000)));
  const int number = suites::NumberOf(rung);
  // Rung 1 takes only whole blocks, rung 6 whole rows.
  const uint32_t unit = number == 1 ? block : number == 6 ? width : 1;
  n = std::max(n / unit, 1u) * unit;
  EvidenceRun run = number == 4   ? suites::Verify(runner, rung, n, block, suites::AboutHalf(n, one.seed))
                    : number == 6 ? suites::Fill(runner, rung, {n, 0, width, n / width})
                                  : suites::Fill(runner, rung, {n, block});
  run.elements = n;
  return run;
}

}  // namespace lockstep::judge
