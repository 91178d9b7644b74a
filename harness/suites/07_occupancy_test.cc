// Assignment 07, the occupancy calculator: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstring>
#include <iterator>
#include <limits>

#include "judge/device/compare.h"
#include "judge/device/device.h"
#include "judge/model/text.h"
#include "judge/suite/main.h"
#include "occupancy.h"
#include "suites/07_occupancy_fixture.h"

namespace lockstep::suites {
namespace {

static_assert(kUnlimited == kNoLimit);

DeviceLimits Encode(const SmLimits& sm) {
  return {sm.warp_size,
          sm.max_threads_per_block,
          sm.max_warps,
          sm.max_blocks,
          sm.registers,
          sm.registers_per_block,
          sm.max_registers_per_thread,
          sm.register_unit,
          sm.warp_granularity,
          sm.registers_by_block ? 1 : 0,
          sm.shared,
          sm.shared_per_block,
          sm.shared_unit,
          sm.shared_reserved};
}

template <class T>
std::vector<uint8_t> BytesOf(const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  return {bytes, bytes + sizeof value};
}

std::string Count(int64_t blocks) { return blocks == kUnlimited ? "kUnlimited" : std::to_string(blocks); }

judge::HintText HintFor(const Case& one, About about, int64_t found) {
  const auto mistake = std::find_if(one.mistakes.begin(), one.mistakes.end(), [&](const Mistake& mistake) {
    return mistake.about == about && mistake.value == found;
  });
  if (mistake == one.mistakes.end()) return "work through the rule in README.md with these numbers, step by step";
  return {mistake->hint, {"input", mistake->members}};
}

// A rung's arguments: the device's limits, then those of the kernel's numbers that the rung takes.
std::vector<Argument> ArgumentsOf(int number, const SmLimits& sm, const Kernel& kernel) {
  std::vector<Argument> arguments = {Argument::HostArray(BytesOf(Encode(sm)))};
  const KernelNeeds needs = {kernel.threads, kernel.registers, kernel.shared,
                             number == 6 ? kernel.shared_per_thread : 0};
  switch (number) {
    case 1:
      arguments.push_back(Argument::Integer(kernel.threads));
      break;
    case 2:
      arguments.push_back(Argument::Integer(kernel.shared));
      break;
    case 3:
    case 4:
      arguments.push_back(Argument::Integer(kernel.threads));
      arguments.push_back(Argument::Integer(kernel.registers));
      break;
    default:
      arguments.push_back(Argument::HostArray(BytesOf(needs)));
      if (number == 5) {
        arguments.push_back(Argument::HostArray(std::vector<uint8_t>(sizeof(OccupancyResult), judge::kPoisonByte)));
      }
      if (number == 7) arguments.push_back(Argument::Integer(kernel.warps));
      break;
  }
  return arguments;
}

std::string Describe(int number, const Sm& sm, const Kernel& kernel) {
  std::string text = sm.name;
  if (number != 2 && number != 6)
    text += "; " + Grouped(kernel.threads) + (kernel.threads == 1 ? " thread per block" : " threads per block");
  if (number >= 3 && number <= 6) text += "; " + Grouped(kernel.registers) + " registers per thread";
  if (number == 2 || number >= 5) text += "; " + Grouped(kernel.shared) + " bytes of shared memory per block";
  if (number == 6 && kernel.shared_per_thread > 0) {
    text += " and " + Grouped(kernel.shared_per_thread) + " per thread";
  }
  if (number == 7) text += "; at least " + Grouped(kernel.warps) + " warps";
  return text;
}

// All of a device's numbers, with their names in occupancy.h.
std::vector<vgpu::MessageLine> DeviceLines(const SmLimits& sm) {
  const std::pair<const char*, int> numbers[] = {{"warp_size", sm.warp_size},
                                                 {"max_threads_per_block", sm.max_threads_per_block},
                                                 {"max_warps_per_sm", sm.max_warps},
                                                 {"max_blocks_per_sm", sm.max_blocks},
                                                 {"registers_per_sm", sm.registers},
                                                 {"registers_per_block", sm.registers_per_block},
                                                 {"max_registers_per_thread", sm.max_registers_per_thread},
                                                 {"register_unit", sm.register_unit},
                                                 {"warp_granularity", sm.warp_granularity},
                                                 {"registers_by_block", sm.registers_by_block ? 1 : 0},
                                                 {"shared_per_sm", sm.shared},
                                                 {"shared_per_block", sm.shared_per_block},
                                                 {"shared_unit", sm.shared_unit},
                                                 {"shared_reserved", sm.shared_reserved}};
  constexpr size_t kFirstOf[] = {0, 4, 10};  // threads, registers, shared memory: one line each
  std::vector<vgpu::MessageLine> lines;
  for (size_t i = 0; i < std::size(numbers); ++i) {
    if (std::find(std::begin(kFirstOf), std::end(kFirstOf), i) != std::end(kFirstOf)) {
      lines.emplace_back(i == 0 ? "device" : " ", "");
    } else {
      lines.back().text += ", ";
    }
    lines.back().text += std::string(numbers[i].first) + " " + std::to_string(numbers[i].second);
  }
  return lines;
}

// The expected result of all rungs except the fifth, and a hint for the wrong result `found`.
struct Answer {
  int64_t expected;
  judge::HintText hint;
  const char* unit;
};

Answer AnswerOf(int number, const Case& one, int64_t found) {
  switch (number) {
    case 1:
      return {std::min(one.answers.by_warps, one.sm.limits.max_blocks), HintFor(one, About::kWarps, found), " blocks"};
    case 2:
      return {one.answers.by_shared, HintFor(one, About::kShared, found), " blocks"};
    case 3:
    case 4:
      return {one.answers.by_registers, HintFor(one, About::kRegisters, found), " blocks"};
    case 6:
      return {one.answers.best_block, HintFor(one, About::kBlockSize, found), " threads per block"};
    default: {
      const int budget = one.answers.register_budget;
      return {budget,
              found == budget - 1   ? "one more register would still fit"
              : found == budget + 1 ? "that is one too many: fewer warps would be resident"
              : found > 0 && found < budget
                  ? "more registers would still fit: the largest number is asked for, so count down from the most"
                  : HintFor(one, About::kNothing, found),
              " registers per thread"};
    }
  }
}

// The fields of rung 5's result, in the order of their dependencies.
std::vector<Problem> CheckResult(const CallContext& context, const OccupancyResult& found, const Case& one) {
  const SmLimits& sm = one.sm.limits;
  const Answers& right = one.answers;
  const int expected_by[4] = {right.by_warps, sm.max_blocks, right.by_registers, right.by_shared};
  constexpr const char* kNames[4] = {"kLimitWarps", "kLimitBlocks", "kLimitRegisters", "kLimitShared"};
  constexpr About kAbout[4] = {About::kWarps, About::kNothing, About::kRegisters, About::kShared};
  const auto wrong = [&](const std::string& field, const std::string& expected, const std::string& got,
                         judge::HintText hint) -> std::vector<Problem> {
    judge::Sight sight{"result", hint.sight().names};
    sight.names.insert(sight.names.begin(), field);
    hint.set_sight(std::move(sight));
    return {MakeProblem(Verdict::kWrong, context, {{"expect", field + " = " + expected}, {"found", got}}, hint)};
  };
  // For blocks that can't be launched, a single resource's limit may also be given as 0.
  const bool impossible = one.kernel.threads < 1 || one.kernel.threads > sm.max_threads_per_block;
  for (int i = 0; i < 4; ++i) {
    if (found.blocks_by[i] == expected_by[i] || (impossible && found.blocks_by[i] == 0)) continue;
    return wrong("blocks_by[" + std::string(kNames[i]) + "]", Count(expected_by[i]), Count(found.blocks_by[i]),
                 i == kLimitBlocks && found.blocks_by[i] == right.by_warps
                     ? "that is the limit by warps, which has an entry of its own"
                     : HintFor(one, kAbout[i], found.blocks_by[i]));
  }
  const int blocks = expected_by[right.limiter];
  if (found.blocks != blocks) {
    return wrong("blocks", Count(blocks), Count(found.blocks),
                 "blocks is the smallest of the four numbers in blocks_by");
  }
  if (found.warps != right.warps) {
    return wrong("warps", Count(right.warps), Count(found.warps), "blocks times the number of whole warps in a block");
  }
  const double occupancy = static_cast<double>(right.warps) / sm.max_warps;
  // A quotient of two small whole numbers, computed in float or double: within a few float roundings. NaN fails.
  constexpr double kFloatRoundings = 4 * std::numeric_limits<float>::epsilon();
  if (!(std::abs(found.occupancy - occupancy) <= kFloatRoundings * occupancy)) {
    const bool percent = std::abs(found.occupancy - 100 * occupancy) <= 100 * kFloatRoundings;
    return wrong("occupancy", judge::FloatText(occupancy), judge::FloatText(found.occupancy),
                 found.occupancy == std::floor(occupancy)
                     ? "that is an integer division: convert one operand to double first"
                 : percent ? "occupancy is a fraction from 0 to 1, not a percentage"
                           : "occupancy is the resident warps divided by the most that the SM holds");
  }
  if (found.limiter != right.limiter) {
    const bool is_name = found.limiter >= 0 && found.limiter < 4;
    return wrong("limiter", kNames[right.limiter], is_name ? kNames[found.limiter] : std::to_string(found.limiter),
                 is_name && expected_by[found.limiter] == blocks
                     ? "several resources allow the fewest blocks: take the first of them in the order of Limiter"
                     : "the limiter is the resource that allows the fewest blocks");
  }
  return {};
}

}  // namespace

int OccupancyTest::number() const { return rung().at(std::strlen("occupancy")) - '0'; }

std::vector<Problem> OccupancyTest::ProblemsOf(const Case& one, const std::vector<Argument>& arguments,
                                               const CallReport& report) {
  const CallContext context{rung(), Describe(number(), one.sm, one.kernel),
                            judge::Suite::Get().assignment().submission};
  Keep(report);
  std::vector<Problem> problems = judge::ProblemsOf(report, context);
  if (report.outcome == worker::Outcome::kCrashed && report.code == SIGFPE && !problems.empty()) {
    problems.back().hint =
        one.kernel.threads < one.sm.limits.warp_size
            ? judge::HintText(
                  "a divisor is 0: threads / warp_size rounds down to 0 here, and a part of a warp takes a "
                  "whole one: round up",
                  {"input", {"warp_size"}})
        : one.kernel.registers == 0 && number() != 1 && number() != 2
            ? "a divisor is 0: registers do not limit a kernel without registers, so return kUnlimited first"
            : "a divisor is 0: a kernel that needs 0 bytes or registers of this resource is not limited by it, so "
              "return kUnlimited first";
  }
  if (!report.trace.empty()) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"it called " + judge::Printable(report.trace.front().function)},
                                   "all the numbers are in *device: make no CUDA calls"));
  }
  if (!problems.empty()) return problems;
  const int64_t found = report.value.AsInteger();
  const bool has_result = number() == 5;
  if (found == kNotBegun && (!has_result || report.arrays.back() == arguments.back().bytes)) {
    return {judge::UnfinishedProblem(context, "returned kNotBegun")};
  }
  judge::NoteBegun(rung());
  // All host arrays except the result are read-only.
  size_t array = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind != worker::ArgumentKind::kHostArray) continue;
    const bool is_result = has_result && &argument == &arguments.back();
    if (!is_result && report.arrays.at(array) != argument.bytes) {
      return {MakeProblem(Verdict::kWrong, context, {"it changed its input"}, "*device and *kernel are read-only")};
    }
    ++array;
  }
  if (has_result) {
    OccupancyResult result;
    if (report.arrays.back().size() != sizeof result) return {};
    std::memcpy(&result, report.arrays.back().data(), sizeof result);
    problems = CheckResult(context, result, one);
    if (problems.empty() && found != 0) {
      problems.push_back(MakeProblem(Verdict::kWrong, context, {"it returned " + std::to_string(found)}, "return 0"));
    }
    return problems;
  }
  const Answer answer = AnswerOf(number(), one, found);
  if (found == answer.expected) return {};
  return {MakeProblem(Verdict::kWrong, context,
                      {{"expect", Count(answer.expected) + (answer.expected == kUnlimited           ? ""
                                                            : answer.expected == 1 && number() != 6 ? " block"
                                                                                                    : answer.unit)},
                       {"found", Count(found)}},
                      answer.hint)};
}

void OccupancyTest::Expect(std::span<const Case> cases) {
  // In batches, because an exchange with the worker takes longer than a computation, but small ones, because an early
  // failure ends the test.
  constexpr size_t kAtOnce = 64;
  for (size_t first = 0; first < cases.size() && ok(); first += kAtOnce) {
    std::vector<const Case*> asked;
    std::vector<std::vector<Argument>> calls;
    for (const Case& one : cases.subspan(first, std::min(kAtOnce, cases.size() - first))) {
      if (!Concerns(number(), one.sm.limits)) continue;
      asked.push_back(&one);
      calls.push_back(ArgumentsOf(number(), one.sm.limits, one.kernel));
    }
    const std::vector<CallReport> reports = judge::Suite::Get().runner(Role::kChecked).CallAll(rung(), calls);
    for (size_t k = 0; k < asked.size() && ok(); ++k) {
      std::vector<Problem> problems = ProblemsOf(*asked[k], calls[k], reports[k]);
      const std::vector<vgpu::MessageLine> lines =
          problems.empty() ? std::vector<vgpu::MessageLine>() : DeviceLines(asked[k]->sm.limits);
      for (Problem& problem : problems) {
        if (!problem.unfinished) problem.evidence.insert(problem.evidence.end(), lines.begin(), lines.end());
      }
      Add(std::move(problems));
    }
  }
}

void OccupancyTest::ExpectAll() {
  const std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
  Expect(CasesOf(name.substr(0, name.find('/')), number(), Seed()));
}

TEST_P(OccupancyTest, SolvesTheCoursesExample) { ExpectAll(); }
TEST_P(OccupancyTest, KnowsEveryComputeCapability) { ExpectAll(); }
// A missing round-up shows if a number is just above a multiple.
TEST_P(OccupancyTest, IsRightAtEveryBoundary) { ExpectAll(); }
TEST_P(OccupancyTest, RefusesBlocksThatDoNotFit) { ExpectAll(); }
TEST_P(OccupancyTest, KnowsKernelsThatNeedNothing) { ExpectAll(); }
// From 2.0 on, shared memory and cache share storage: the split changes what fits.
TEST_P(OccupancyTest, KnowsEveryCarveOut) { ExpectAll(); }
// Last, because failures on real devices are easier to understand.
TEST_P(OccupancyTest, KnowsDevicesThatWereNeverBuilt) { ExpectAll(); }

INSTANTIATE_TEST_SUITE_P(, OccupancyTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner&, const std::string& rung, const EvidenceCase&) {
  throw HarnessError(rung + " launches nothing that could be measured");
}

}  // namespace lockstep::judge
