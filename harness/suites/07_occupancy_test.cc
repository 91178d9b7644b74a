// Assignment 07, the occupancy calculator: the tests that students have. Each runs on every rung.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "judge/compare.h"
#include "judge/device.h"
#include "judge/inputs.h"
#include "judge/main.h"
#include "judge/text.h"
#include "occupancy.h"
#include "suites/07_occupancy_fixture.h"
#include "suites/07_occupancy_mistakes.h"

namespace lockstep::suites {
namespace {

using judge::CallContext;
using judge::CallReport;
using judge::Grouped;
using judge::MakeProblem;
using judge::Problem;
using judge::Role;
using judge::SmLimits;
using judge::Verdict;
using worker::Argument;

static_assert(kUnlimited == judge::kNoLimit);

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

std::string HintFor(const std::vector<Mistake>& mistakes, int64_t found) {
  const auto mistake =
      std::find_if(mistakes.begin(), mistakes.end(), [&](const Mistake& m) { return m.value == found; });
  return mistake == mistakes.end() ? "take the rule in README.md step by step with these numbers" : mistake->hint;
}

// Which arguments a rung is given, beside the device's limits.
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
    text += "; " + Grouped(kernel.threads) + (kernel.threads == 1 ? " thread a block" : " threads a block");
  if (number >= 3 && number <= 6) text += "; " + Grouped(kernel.registers) + " registers a thread";
  if (number == 2 || number >= 5) text += "; " + Grouped(kernel.shared) + " bytes of shared memory a block";
  if (number == 6 && kernel.shared_per_thread > 0) {
    text += " and " + Grouped(kernel.shared_per_thread) + " a thread";
  }
  if (number == 7) text += "; at least " + Grouped(kernel.warps) + " warps";
  return text;
}

// All of a device's numbers, as occupancy.h calls them.
std::vector<std::string> DeviceLines(const SmLimits& sm) {
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
  constexpr size_t kFirstOf[] = {0, 4, 10};  // threads, registers, shared memory: a line each
  std::vector<std::string> lines;
  for (size_t i = 0; i < std::size(numbers); ++i) {
    if (std::find(std::begin(kFirstOf), std::end(kFirstOf), i) != std::end(kFirstOf)) {
      lines.emplace_back(i == 0 ? "device  " : "        ");
    } else {
      lines.back() += ", ";
    }
    lines.back() += std::string(numbers[i].first) + " " + std::to_string(numbers[i].second);
  }
  return lines;
}

// What a rung but the fifth has to return, and what mistakes make of it.
struct Answer {
  int64_t expected;
  std::vector<Mistake> mistakes;
  const char* unit;
};

Answer AnswerOf(int number, const SmLimits& sm, const Kernel& kernel) {
  const judge::OccupancyLimits limits = judge::FillSm(sm, {kernel.threads, kernel.registers, kernel.shared});
  switch (number) {
    case 1:
      return {std::min(limits.by_warps, limits.by_blocks), ThreadMistakes(sm, kernel.threads), " blocks"};
    case 2:
      return {limits.by_shared, SharedMistakes(sm, kernel.shared), " blocks"};
    case 3:
    case 4:
      return {limits.by_registers, RegisterMistakes(sm, kernel.threads, kernel.registers), " blocks"};
    case 6:
      return {judge::BestBlockSize(sm, kernel.registers, kernel.shared, kernel.shared_per_thread),
              BestBlockMistakes(sm, kernel.registers, kernel.shared, kernel.shared_per_thread), " threads a block"};
    default: {
      const int budget = judge::RegisterBudget(sm, kernel.threads, kernel.shared, kernel.warps);
      return {budget,
              {{budget - 1, "one more register would still do"},
               {budget + 1, "that is one too many: then fewer warps are resident"}},
              " registers a thread"};
    }
  }
}

// The fields of rung 5's result, in the order in which they follow from each other.
std::vector<Problem> CheckResult(const CallContext& context, const OccupancyResult& found, const SmLimits& sm,
                                 const Kernel& kernel) {
  const judge::OccupancyLimits limits = judge::FillSm(sm, {kernel.threads, kernel.registers, kernel.shared});
  const int expected_by[4] = {limits.by_warps, limits.by_blocks, limits.by_registers, limits.by_shared};
  constexpr const char* kNames[4] = {"kLimitWarps", "kLimitBlocks", "kLimitRegisters", "kLimitShared"};
  const auto wrong = [&](const std::string& field, const std::string& expected, const std::string& got,
                         const std::string& hint) -> std::vector<Problem> {
    return {MakeProblem(Verdict::kWrong, context, {"expect  " + field + " = " + expected, "found   " + got}, hint)};
  };
  for (int i = 0; i < 4; ++i) {
    if (found.blocks_by[i] == expected_by[i]) continue;
    std::vector<Mistake> mistakes;
    if (i == kLimitWarps) mistakes = ThreadMistakes(sm, kernel.threads);
    if (i == kLimitBlocks) mistakes = {{limits.by_warps, "warps have a number of their own"}};
    if (i == kLimitRegisters) mistakes = RegisterMistakes(sm, kernel.threads, kernel.registers);
    if (i == kLimitShared) mistakes = SharedMistakes(sm, kernel.shared);
    return wrong("blocks_by[" + std::string(kNames[i]) + "]", Count(expected_by[i]), Count(found.blocks_by[i]),
                 HintFor(mistakes, found.blocks_by[i]));
  }
  const int blocks = limits.Blocks();
  if (found.blocks != blocks) {
    return wrong("blocks", Count(blocks), Count(found.blocks), "the smallest of the four numbers in blocks_by");
  }
  const int warps = blocks * static_cast<int>(Up(kernel.threads, sm.warp_size) / sm.warp_size);
  if (found.warps != warps) {
    return wrong("warps", Count(warps), Count(found.warps), "blocks times the warps of a block, which are whole ones");
  }
  const double occupancy = static_cast<double>(warps) / sm.max_warps;
  // A quotient of two small whole numbers, computed in float or double: within a few of float's roundings. NaN fails.
  constexpr double kFloatRoundings = 4 * std::numeric_limits<float>::epsilon();
  if (!(std::abs(found.occupancy - occupancy) <= kFloatRoundings * occupancy)) {
    const bool percent = std::abs(found.occupancy - 100 * occupancy) <= 100 * kFloatRoundings;
    return wrong("occupancy", judge::FloatText(occupancy), judge::FloatText(found.occupancy),
                 found.occupancy == std::floor(occupancy) ? "ints were divided: convert one of them to double first"
                 : percent                                ? "a fraction from 0 to 1 is asked for, not percent"
                                                          : "resident warps divided by the most that the SM holds");
  }
  const auto limiter = static_cast<int>(std::min_element(expected_by, expected_by + 4) - expected_by);
  if (found.limiter != limiter) {
    const bool is_name = found.limiter >= 0 && found.limiter < 4;
    return wrong("limiter", kNames[limiter], is_name ? kNames[found.limiter] : std::to_string(found.limiter),
                 is_name && expected_by[found.limiter] == expected_by[limiter]
                     ? "several allow the fewest blocks: it is the first of them in the order of Limiter"
                     : "the limiter is what allows the fewest blocks");
  }
  return {};
}

// The course's GPU, and what the course asks of it.
const Kernel kCoursesKernel = {128, 30, 5 * 1024, 0, 8};

Sm MakeSm(const vgpu::ComputeCapability& capability, int carveout_kb) {
  return {judge::LimitsOf(capability, carveout_kb), "compute capability " + std::to_string(capability.major) + "." +
                                                        std::to_string(capability.minor) + ", " +
                                                        std::to_string(carveout_kb) + " KB of shared memory"};
}

}  // namespace

int OccupancyTest::number() const { return rung().at(std::strlen("occupancy")) - '0'; }

bool OccupancyTest::Concerns(const SmLimits& limits) const {
  if (number() == 3) return limits.registers_by_block;
  if (number() == 4) return !limits.registers_by_block;
  return true;
}

std::vector<Sm> OccupancyTest::Devices() const {
  std::vector<Sm> devices;
  for (const vgpu::ComputeCapability& capability : vgpu::AllCapabilities()) {
    Sm sm = MakeSm(capability, capability.carveouts_kb.back());
    if (Concerns(sm.limits)) devices.push_back(std::move(sm));
  }
  return devices;
}

std::vector<Sm> OccupancyTest::DevicesWithCarveOuts() const {
  std::vector<Sm> devices;
  for (const vgpu::ComputeCapability& capability : vgpu::AllCapabilities()) {
    for (const int carveout_kb : capability.carveouts_kb) {
      Sm sm = MakeSm(capability, carveout_kb);
      if (Concerns(sm.limits)) devices.push_back(std::move(sm));
    }
  }
  return devices;
}

std::vector<Problem> OccupancyTest::Ask(const Sm& sm, const Kernel& kernel) {
  const CallContext context{rung(), Describe(number(), sm, kernel), judge::Suite::Get().assignment().submission};
  const std::vector<Argument> arguments = ArgumentsOf(number(), sm.limits, kernel);
  const CallReport report = judge::Suite::Get().runner(Role::kChecked).Call(rung(), arguments);
  Keep(report);
  std::vector<Problem> problems = judge::ProblemsOf(report, context);
  if (!report.trace.empty()) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"it called " + judge::Printable(report.trace.front().function)},
                                   "the numbers are all in *device: no CUDA call is needed, and none may do the work"));
  }
  if (!problems.empty()) return problems;
  const int64_t found = report.value.AsInteger();
  const bool has_result = number() == 5;
  if (found == kNotBegun && (!has_result || report.arrays.back() == arguments.back().bytes)) {
    return {judge::UnfinishedProblem(context, "returned kNotBegun")};
  }
  judge::NoteBegun(rung());
  // All host arrays but the result are read only.
  size_t array = 0;
  for (const Argument& argument : arguments) {
    if (argument.kind != worker::ArgumentKind::kHostArray) continue;
    const bool is_result = has_result && &argument == &arguments.back();
    if (!is_result && report.arrays.at(array) != argument.bytes) {
      return {MakeProblem(Verdict::kWrong, context, {"its input was changed"}, "*device and *kernel are read only")};
    }
    ++array;
  }
  if (has_result) {
    OccupancyResult result;
    if (report.arrays.back().size() != sizeof result) return {};
    std::memcpy(&result, report.arrays.back().data(), sizeof result);
    problems = CheckResult(context, result, sm.limits, kernel);
    if (problems.empty() && found != 0) {
      problems.push_back(MakeProblem(Verdict::kWrong, context, {"it returned " + std::to_string(found)}, "return 0"));
    }
    return problems;
  }
  const Answer answer = AnswerOf(number(), sm.limits, kernel);
  if (found == answer.expected) return {};
  return {MakeProblem(Verdict::kWrong, context,
                      {"expect  " + Count(answer.expected) + (answer.expected == kUnlimited ? "" : answer.unit),
                       "found   " + Count(found)},
                      HintFor(answer.mistakes, found))};
}

void OccupancyTest::Expect(const Sm& sm, const Kernel& kernel) {
  if (!ok() || !Concerns(sm.limits)) return;
  std::vector<Problem> problems = Ask(sm, kernel);
  const std::vector<std::string> lines = DeviceLines(sm.limits);
  for (Problem& problem : problems) {
    if (!problem.unfinished) problem.evidence.insert(problem.evidence.end(), lines.begin(), lines.end());
  }
  Add(std::move(problems));
}

// Every number differs from those that were built, and none follows from another but what 1.x always has: a block may
// have all of an SM's registers.
Sm OccupancyTest::MadeUpDevice(judge::Random& random, int index) const {
  const auto between = [&](int low, int high) { return static_cast<int>(random.Between(low, high)); };
  SmLimits sm;
  sm.warp_size = 8 << between(0, 4);  // up to 128
  sm.max_warps = between(8, 96);
  sm.max_threads_per_block = sm.warp_size * between(4, 48);
  sm.max_blocks = between(2, 40);
  sm.warp_granularity = between(1, 8);
  sm.register_unit = 32 * between(1, 16);
  sm.registers = 1024 * between(8, 160);
  sm.max_registers_per_thread = between(60, 300);
  sm.shared_unit = 64 * between(1, 16);
  sm.shared = 1024 * between(8, 256);
  sm.shared_reserved = 256 * between(0, 6);
  sm.shared_per_block = (sm.shared - sm.shared_reserved) / between(1, 3);
  sm.registers_by_block = number() == 3 || (number() != 4 && between(0, 3) == 0);
  sm.registers_per_block = sm.registers_by_block ? sm.registers : sm.registers / between(1, 2);
  return {sm, "a device that was never built, no. " + std::to_string(index)};
}

Kernel OccupancyTest::RandomKernel(judge::Random& random, const SmLimits& sm) {
  const auto between = [&](int low, int high) { return static_cast<int>(random.Between(low, high)); };
  Kernel kernel;
  kernel.threads = between(1, sm.max_threads_per_block);
  kernel.registers = between(1, sm.max_registers_per_thread);
  // Small and large needs alike, which one range would not give.
  kernel.shared = between(0, sm.shared_per_block >> between(0, 6));
  kernel.shared_per_thread = between(0, 1) * between(0, 64);
  kernel.warps = between(1, sm.max_warps);
  return kernel;
}

TEST_P(OccupancyTest, SolvesTheCoursesExample) {
  // 5 KB, 30 registers and 128 threads on the course's GPU; from 2.0 on the first GPU with that rule stands in for it.
  const Sm sm = Devices().front();
  Expect(sm, kCoursesKernel);
  for (const int threads : {512, 256, 64}) Expect(sm, {threads, 10, 5 * 1024, 0, 8});
}

TEST_P(OccupancyTest, KnowsEveryComputeCapability) {
  const Kernel kernels[] = {{256, 32, 0, 0, 16},         {128, 40, 6 * 1024, 0, 8},  {192, 21, 3000, 16, 6},
                            {1024, 24, 1024, 4, 32},     {64, 63, 1000, 40, 4},      {512, 16, 12 * 1024, 8, 16},
                            {96, 72, 10 * 1024, 64, 12}, {32, 128, 48 * 1024, 0, 1}, {352, 33, 200, 12, 22}};
  for (const Sm& sm : Devices()) {
    for (const Kernel& kernel : kernels) Expect(sm, kernel);
  }
}

// A round-up that is missing shows where a number is just above a multiple.
TEST_P(OccupancyTest, IsRightAtEveryBoundary) {
  Expect(Devices().front(), kCoursesKernel);
  for (const Sm& sm : Devices()) {
    const int unit = sm.limits.shared_unit, most = sm.limits.shared_per_block;
    for (const int threads : {1, 31, 32, 33, 63, 65, 95, 97, 129, 160, 161, 257, 481, 511, 513}) {
      Expect(sm, {threads, 17, 4 * threads, 4, (threads + 31) / 32});
    }
    for (const int registers : {1, 7, 8, 9, 15, 20, 24, 25, 32, 33, 41, 62, 63, 64, 65}) {
      Expect(sm, {96, registers, registers * 100, registers, 3});
      Expect(sm, {224, registers, 0, registers, 14});
    }
    for (const int bytes :
         {1, unit - 1, unit, unit + 1, 3 * unit + 1, most / 2, most / 2 + 1, most / 3, most - 1, most}) {
      Expect(sm, {64, 10, bytes, 1, 4});
    }
  }
}

TEST_P(OccupancyTest, RefusesBlocksThatDoNotFit) {
  Expect(Devices().front(), kCoursesKernel);
  for (const Sm& sm : Devices()) {
    const SmLimits& limits = sm.limits;
    const int most = limits.max_threads_per_block;
    const int registers = limits.max_registers_per_thread;
    for (const int threads : {0, most + 1, most + 32, 2 * most}) Expect(sm, {threads, 16, 100, 0, 1});
    for (const int threads : {32, most - 32, most}) {
      for (const int more : {0, 1, 8}) Expect(sm, {threads, registers + more, 100, 0, 1});
    }
    for (const int more : {0, 1, 5000}) Expect(sm, {32, 16, limits.shared_per_block + more, 0, 1});
    Expect(sm, {32, 16, 0, 0, limits.max_warps + 1});
    // Just within and just beyond what a block may have of the registers.
    const int fits = limits.registers_per_block / most;
    for (const int count : {fits - 8, fits - 1, fits, fits + 1}) Expect(sm, {most, count, 0, limits.shared / 64, 1});
  }
}

TEST_P(OccupancyTest, KnowsKernelsThatNeedNothing) {
  Expect(Devices().front(), kCoursesKernel);
  for (const Sm& sm : Devices()) {
    Expect(sm, {128, 0, 1000, 0, 4});
    Expect(sm, {128, 16, 0, 0, 4});
    Expect(sm, {128, 0, 0, 0, 4});
  }
}

// Shared memory and cache share their memory from 2.0 on: how it is divided changes what fits.
TEST_P(OccupancyTest, KnowsEveryCarveOut) {
  Expect(Devices().front(), kCoursesKernel);
  for (const Sm& sm : DevicesWithCarveOuts()) {
    for (const int bytes : {0, 1000, 7 * 1024, 30 * 1024, 64 * 1024}) Expect(sm, {128, 24, bytes, 3, 8});
  }
}

// Last: what is wrong on devices that there are is easier to understand.
TEST_P(OccupancyTest, KnowsDevicesThatWereNeverBuilt) {
  Expect(Devices().front(), kCoursesKernel);
  judge::Random random(Seed());
  for (int i = 1; i <= 50; ++i) {
    const Sm sm = MadeUpDevice(random, i);
    for (int k = 0; k < 4; ++k) Expect(sm, RandomKernel(random, sm.limits));
  }
}

INSTANTIATE_TEST_SUITE_P(, OccupancyTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner&, const std::string& rung, uint64_t, uint64_t) {
  throw HarnessError(rung + " launches nothing that could be measured");
}

}  // namespace lockstep::judge
