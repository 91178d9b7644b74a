// Assignment 13, find the bug: the tests that students have. Each runs on every program.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "suites/13_find_the_bug_fixture.h"

namespace lockstep::suites {
namespace {

constexpr uint64_t kWarpSize = 32;

int NumberOf(const std::string& rung) { return std::stoi(rung.substr(std::string("bug").size())); }

// Elements that contribute to one element of the result.
uint64_t GroupOf(int number) {
  constexpr uint64_t kBlock = 256, kSmallBlock = 128;
  switch (number) {
    case 2:
    case 9:
      return kBlock;
    case 3:
      return kWarpSize;
    case 4:
      return kSmallBlock;
    default:
      return 1;
  }
}

// Program 8: each group of 256 elements, and the rest, reversed.
std::vector<int32_t> Reversed(std::vector<int32_t> values) {
  constexpr size_t kBlock = 256;
  for (size_t first = 0; first < values.size(); first += kBlock) {
    std::reverse(values.begin() + static_cast<std::ptrdiff_t>(first),
                 values.begin() + static_cast<std::ptrdiff_t>(std::min(first + kBlock, values.size())));
  }
  return values;
}

// Programs whose results are made of groups of elements.
std::vector<int32_t> ExpectedOfGroups(int number, const std::vector<int32_t>& values) {
  std::vector<int32_t> result;
  const auto group = static_cast<std::ptrdiff_t>(GroupOf(number));
  for (auto at = values.begin(); at != values.end();) {
    const auto end = values.end() - at > group ? at + group : values.end();
    const int32_t before = number == 4 && !result.empty() ? result.back() : 0;
    result.push_back(number == 9 ? *std::min_element(at, end) : std::accumulate(at, end, before));
    at = end;
  }
  return result;
}

std::vector<int32_t> Expected(int number, const std::vector<int32_t>& values) {
  if (GroupOf(number) > 1) return ExpectedOfGroups(number, values);
  if (number == 8) return Reversed(values);
  constexpr uint64_t kStep = 1'000'003;
  const int32_t weights[] = {1, 3, 3, 1};
  std::vector<int32_t> sorted = values, result;
  std::sort(sorted.begin(), sorted.end());
  for (uint64_t i = 0; i < values.size(); ++i) {
    const int32_t x = values[i];
    switch (number) {
      case 1:
        result.push_back(static_cast<int32_t>(std::lower_bound(sorted.begin(), sorted.end(), x) - sorted.begin()));
        break;
      case 5:
        result.push_back(x * x + 7);
        break;
      case 6:
        result.push_back(3 * x);
        break;
      case 7:
        result.push_back(values[i * kStep % values.size()]);
        break;
      case 10:
        result.push_back(x * x + x);
        break;
      case 11:
        result.push_back(x * weights[i % std::size(weights)]);
        break;
      default:
        result.push_back(5 * x);
        break;
    }
  }
  return result;
}

// From -1000 to 1000.
std::vector<int32_t> MakeValues(uint64_t n, Values order, const judge::SeedKey& seed) {
  std::vector<int32_t> values;
  constexpr uint32_t kNumbers = 2001;
  for (const uint32_t word : judge::MakeWords(n, seed)) {
    const uint64_t at = order == Values::kAscending ? values.size() : n - values.size();
    const uint64_t number = order == Values::kRandom ? word : at;
    values.push_back(static_cast<int32_t>(number % kNumbers) - static_cast<int32_t>(kNumbers / 2));
  }
  return values;
}

std::string TextOf(const Case& one, Values order) {
  std::string text =
      "n = " + judge::Grouped(one.n) +
      std::array{", random numbers", ", ascending numbers", ", descending numbers"}[static_cast<size_t>(order)];
  for (const auto& [name, offset] : {std::pair("d_in", one.in_offset), std::pair("d_out", one.out_offset)}) {
    if (offset > 0)
      text += std::string(", ") + name + " begins " + std::to_string(4 * offset) + " bytes past a multiple of 256";
  }
  return text;
}

// Whether the steps within program 2's last warp are ordered by no barrier of the warp or the block and no shuffles.
// Relaxed atomics, and acquire loads with release stores, are no race, but do not order them; one lane may do them all.
bool WaitForNobody(uint64_t n, const vgpu::Counters& counted) {
  constexpr uint64_t kBlock = 256, kWarps = kBlock / kWarpSize, kSteps = 5;  // steps within a warp
  const uint64_t blocks = (n + kBlock - 1) / kBlock;
  return counted.warp_syncs < kSteps * blocks && counted.barriers < kSteps * kWarps * blocks;
}

constexpr const char* kKeepIt = "fix the mistake, but keep what the program is about: README.md says what that is";

// Which part of a program was removed together with its mistake, if any. `threads`: of its largest launch.
std::optional<std::string> WhatIsGivenUp(int number, const Case& one, const judge::CallReport& report,
                                         const vgpu::Counters& counted, uint64_t threads) {
  if (counted.warp_instructions == 0) return std::nullopt;  // a run without counters
  const uint64_t n = one.n, warps = n / kWarpSize, blocks = n / GroupOf(number), bytes = n * sizeof(int32_t);
  constexpr uint64_t kVector = 4, kTail = 4, kSectors = 8, kBlock = 256, kBlockBytes = kBlock * sizeof(int32_t);
  constexpr uint64_t kTileBytes = 128 * sizeof(int32_t), kSectorsOfTwo = 7;  // of an array and a table, for a warp
  constexpr size_t kFewLaunches = 4;
  uint64_t stored_all = 0, loaded_all = 0, most_read = 0, shared = 0;
  for (const vgpu::LaunchRecord& launch : report.launches) {
    stored_all += launch.counters.global_store_footprint >= bytes;
    loaded_all += launch.counters.global_load_footprint >= bytes;
    most_read = std::max(most_read, launch.counters.global_load_footprint);
    shared = std::max<uint64_t>(shared, launch.static_shared + launch.dynamic_shared);
  }
  switch (number) {
    case 1:
      if (shared > 4 * kTileBytes) return "one tile holds more elements than a block compares at a time";
      if (kVector * counted.shared_load_requests >= warps * n && kVector * counted.warp_syncs <= warps * n) break;
      return "the elements that a thread compares with did not come from shared memory";
    case 2:
      if (counted.shared_atomics > 0) return "sums go through atomic operations, for which nobody has to wait";
      if (!WaitForNobody(n, counted)) break;
      return "the last warp's lanes wait for nobody";
    case 3:
      if (counted.warp_syncs >= warps && counted.atomics + counted.shared_atomics == 0) break;
      return "lanes do not add up by shuffles";
    case 4:  // a block reads the flag on which it waits and the total before it: one sector each
      if (report.launches.size() > kFewLaunches) return "blocks have launches of their own, and need not wait";
      if (counted.global_load_sectors <= counted.global_load_requests + kSectors * warps) break;
      return "blocks add up elements of the blocks before, and need not wait";
    case 5:
      if (stored_all > 1 && loaded_all > 1) break;
      return "one launch computes it all, and the other has nothing to wait for";
    case 6:
      if (one.in_offset % kVector != 0 || one.out_offset % kVector != 0) break;
      if (counted.global_load_requests <= warps / 2 + kTail) break;
      return "it is computed without vectors, and these are aligned here";
    case 8: {  // a tile that is reused needs barriers before and after each use, except after the last one
      const bool used_again = threads < n && shared < 2 * kBlockBytes;
      const uint64_t least = used_again ? 3 * kBlock / kWarpSize * (n / (2 * kBlock)) : 0;
      const bool loads_once = counted.global_load_bytes <= bytes + n;
      if (2 * counted.shared_load_requests >= warps && loads_once && counted.barriers >= least) break;
      return "the elements did not go through shared memory";
    }
    case 9:
      if (counted.shared_atomics + counted.atomics >= blocks) break;
      return "no atomic operation finds the least";
    case 10:
      if (most_read >= 2 * bytes) break;
      return "no launch read the squares of another";
    case 11:  // the table may be in any memory
      if (counted.global_load_bytes >= 2 * bytes && counted.global_load_sectors <= kSectorsOfTwo * (warps + 1)) break;
      if (counted.const_replays + counted.local_requests + counted.shared_load_requests > 0) break;
      return "no table of weights was read";
    case 12:
      if (threads < n / kVector + 2 * kBlock) break;
      return "threads have less than four elements each";
    default:
      break;
  }
  return std::nullopt;
}

// For a right result: a problem if the change only hides the bug, by few threads, one lane per warp, much more work,
// another program's kernel, a variable, or the loss of what the program is about. The reference executes at most half
// of the warp instructions, and a quarter of the requests, allowed here. Program 4 has no such limit: its blocks wait.
std::optional<Problem> CheckWork(const judge::CallContext& context, const judge::CallReport& report, const Case& one) {
  const uint64_t n = one.n;
  constexpr uint64_t kFew = 256, kMostEach = 4;
  if (!report.observed) return std::nullopt;
  const auto rejected = [&](const std::string& what, const std::string& hint) {
    return judge::MakeProblem(judge::Verdict::kRejected, context, {"the result is right, but " + what}, hint);
  };
  const std::string own = context.launcher.substr(0, context.launcher.find('_') + 1);
  vgpu::Counters counted;
  uint64_t threads = 0;
  for (const vgpu::LaunchRecord& launch : report.launches) {
    counted += launch.counters;
    threads = std::max(threads, launch.grid.Count() * launch.block.Count());
    const auto has = [&](const std::string& name) { return launch.kernel.find(name) != std::string::npos; };
    if (!has("bug") || has(own)) continue;
    return rejected("was made by " + judge::Printable(launch.kernel) + ", a kernel of another program",
                    "each program has kernels of its own: fix the mistake in " + own + "…");
  }
  if (report.variable_bytes > 0) {
    return rejected("the program keeps something in a variable of its own",
                    "no program has a __device__ variable: fix the mistake alone");
  }
  if (n < kFew) return std::nullopt;
  if (threads < n / kMostEach) {
    return rejected("was made by " + judge::Counted(threads, "thread") + " a launch",
                    "leave the launches as large as they were: the mistake is not that there are many threads");
  }
  const int number = NumberOf(context.launcher);
  const uint64_t requests = counted.global_load_requests + counted.global_store_requests;
  const uint64_t warps = n / kWarpSize, comparisons = number == 1 ? warps * n : 0;
  constexpr uint64_t kInstructionsEach = 150, kRequestsEach = 22, kComparison = 20, kShared = 10;
  const uint64_t most = warps * kInstructionsEach + comparisons * kComparison;
  const uint64_t most_requests = warps * kRequestsEach + comparisons / kShared;
  if (number != 4 && (counted.warp_instructions > most || requests > most_requests)) {
    return rejected("takes " + judge::Counted(counted.warp_instructions, "warp instruction") + " and " +
                        judge::Counted(requests, "request") + " of global memory; at most " + judge::Grouped(most) +
                        " and " + judge::Grouped(most_requests) + " count",
                    "leave the work to the threads that had it, and keep in shared memory what was there");
  }
  if (const auto given_up = WhatIsGivenUp(number, one, report, counted, threads)) {
    return rejected(*given_up, kKeepIt);
  }
  // Contiguous lanes need four sectors per request, scattered ones more; a broadcast, or a single lane, one.
  if (2 * counted.global_load_sectors >= 3 * counted.global_load_requests) return std::nullopt;
  return rejected("single threads made it: hardly any of its " + judge::Counted(counted.global_load_requests, "load") +
                      " of global memory has more than one active lane",
                  "let the threads share the work as they did: the mistake is not that there are many threads");
}

std::optional<Problem> CheckResult(const judge::CallContext& context, const judge::CallReport& report, const Case& one,
                                   std::span<const int32_t> expected, std::span<const int32_t> found) {
  const auto mismatch = judge::CompareExact<int32_t>(expected, found);
  if (!mismatch) return CheckWork(context, report, one);
  return judge::WrongAt(mismatch->index, context, {"d_out: " + judge::MismatchText(*mismatch, expected.size())},
                        "bugs.h says what belongs there: which thread should have stored it, and from which elements?");
}

}  // namespace

void BugTest::Expect(Case one, Role role, Values order) {
  // Program 1 compares every pair of elements.
  if (NumberOf(rung()) == 1) one.n = std::min<uint64_t>(one.n, 2000);
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::Runner& runner = judge::Suite::Get().runner(role);
  const std::vector<int32_t> values = MakeValues(one.n, order, seed);
  const std::vector<int32_t> expected = Expected(NumberOf(rung()), values);
  judge::DeviceArray<int32_t> in(runner.device(), one.n, "d_in", one.in_offset);
  judge::DeviceArray<int32_t> out(runner.device(), expected.size(), "d_out", one.out_offset);
  const judge::CallContext context{rung(), TextOf(one, order), judge::Suite::Get().assignment().submission};
  const auto call = [&](auto check) {
    return judge::RunArrayCall<int32_t>(
        runner, context,
        {.in = in,
         .out = out,
         .values = values,
         .result_size = expected.size(),
         .arguments = {in.argument(), out.argument(), worker::Argument::Integer(static_cast<unsigned>(one.n))},
         .unchanged_hint = "d_in is read-only: the result goes to d_out",
         .frees = true,
         .is_work = one.n > 0,
         .check = check});
  };
  judge::EvidenceRun run = call([&](const judge::CallReport& report, std::span<const int32_t> found) {
    return CheckResult(context, report, one, expected, found);
  });
  const int number = NumberOf(rung());
  if ((number == 5 || number == 10) && one.n > 0 && run.problems.empty()) {
    // Without program 5's second launch, or program 10's first, the result has to be wrong.
    runner.FailLaunch(number == 5 ? 2 : 1);
    const auto no_check = [](const judge::CallReport&, std::span<const int32_t>) { return std::optional<Problem>(); };
    const bool launched = call(no_check).report.observed;
    const auto contents = out.Look();
    const auto now = contents.values();  // empty after a fault
    if (launched && now.size() >= expected.size() && std::ranges::equal(expected, now.first(expected.size()))) {
      run.problems.push_back(
          judge::MakeProblem(judge::Verdict::kRejected, context,
                             {std::string("d_out is right, but one launch computes it all: it is right without the ") +
                              (number == 5 ? "second" : "first")},
                             kKeepIt));
    }
  }
  Keep(run.report);
  Add(std::move(run.problems));
}

// From the least to the most demanding lengths; the last ones reveal all bugs.
TEST_P(BugTest, HoldsWhereItIsChecked) {
  for (const uint64_t n : {1024, 5000, 1023, 129, 1, 0}) Expect({n});
  for (const Case& one : {Case{1024, 1, 1}, {300, 0, 2}, {257, 3, 0}}) Expect(one);
}

// The test, without checkers, that the programs' author made before handing them out. It earns nothing.
TEST_P(BugTest, PassesTheAuthorsTest) {
  Expect({rung() == "bug1_ranks" ? uint64_t{128} : 1024}, Role::kPlain, Values::kAscending);
}

INSTANTIATE_TEST_SUITE_P(, BugTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner&, const std::string& rung, const EvidenceCase&) {
  throw HarnessError(rung + " has no budget");
}

}  // namespace lockstep::judge
