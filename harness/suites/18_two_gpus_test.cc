// Assignment 18, two GPUs: the tests that students have. Each runs on every rung to which it applies.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "judge/device/compare.h"
#include "judge/input/inputs.h"
#include "judge/model/text.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/array_call.h"
#include "judge/suite/main.h"
#include "suites/18_two_gpus_explain.h"
#include "suites/18_two_gpus_fixture.h"

namespace lockstep::suites {
namespace {

uint64_t CellsOf(const Task& task) { return static_cast<uint64_t>(task.width) * static_cast<uint64_t>(task.height); }
uint64_t WordsOf(const std::string& rung, const Task& task) {
  return IsField(rung) ? CellsOf(task) : IsRing(rung) ? task.n * static_cast<uint64_t>(task.devices) : task.n;
}

CallContext ContextOf(const std::string& rung, const Task& task) {
  std::string input = IsField(rung)
                          ? "width = " + std::to_string(task.width) + ", height = " + std::to_string(task.height) +
                                ", steps = " + std::to_string(task.steps)
                          : "n = " + Grouped(task.n);
  input += ", devices = " + std::to_string(task.devices);
  CallContext context{rung, input, judge::Suite::Get().assignment().submission};
  context.host_bytes = UINT64_MAX;  // the results are copied there
  return context;
}

// The kernels' work: the number of words that they change or add.
uint64_t WorkOf(const std::string& rung, const Task& task) {
  const auto devices = static_cast<uint64_t>(task.devices);
  if (IsStages(rung)) return task.n * devices;
  return IsRing(rung) ? task.n * (devices - 1) : CellsOf(task) * static_cast<uint64_t>(task.steps);
}

// Whether the host sent words of the result to the devices, more than it may have forwarded: in programs without copies
// between devices, the rows at the ends of a field's parts go through the host.
bool WasSent(const CallContext& context, const CallReport& report, const Task& task) {
  constexpr uint64_t kFewOf = 16;
  const uint64_t sent = judge::WordsCome(report.memory.to_device, report.arrays.at(1));
  const uint64_t words = WordsOf(context.launcher, task);
  const auto ends = static_cast<uint64_t>(2 * (task.devices - 1)) * static_cast<uint64_t>(task.width);
  return sent > std::min(words / kFewOf + ends, words - 1);
}

// Checks for all words tolerate one missing in this many, because only some of many words are compared.
constexpr uint64_t kAboutAll = 16;

// Checks that copies took the device's part from its memory: on rung 1 its stage's words, on rung 3 all sums, and of a
// field at least a quarter of an equal share of the rows, because the last device's part may be only half of that.
std::optional<Problem> CheckPart(const CallContext& context, const CallReport& report, const Task& task,
                                 const Words& words, int device) {
  constexpr uint64_t kOfPart = 4;
  const auto found = report.memory.copies.find(device);
  static const worker::DeviceCopies kNone;
  const worker::DeviceCopies& output = found == report.memory.copies.end() ? kNone : found->second;
  Words part = judge::ValuesOf<uint32_t>(report.arrays.at(1));
  uint64_t least = part.size();
  if (IsStages(context.launcher)) {
    least -= least / kAboutAll;  // a few words of a stage equal those of others
    std::ranges::transform(words, part.begin(), [&](uint32_t word) { return Staged(word, device + 1); });
  } else if (IsRing(context.launcher)) {
    part.resize(least = task.n);
  } else {
    least /= static_cast<uint64_t>(task.devices) * kOfPart;
  }
  const bool is_ring = IsRing(context.launcher);
  // Except on the ring, words that the device received don't count: they are another device's work.
  const uint64_t left = is_ring ? judge::WordsCome(output.all, judge::BytesOf(part))
                                : judge::WordsCome(output.stored, judge::BytesOf(part), output.received);
  if (left >= least) return std::nullopt;
  const char* const what = is_ring ? "sums" : IsStages(context.launcher) ? "words of its stage" : "cells";
  return MakeProblem(Verdict::kRejected, context,
                     {"h_out is right, but device " + std::to_string(device) + " did not do its part: of " +
                      Grouped(least) + " " + what + (is_ring ? "" : " that its kernels have to compute") +
                      ", copies took " + Grouped(left) + " from its memory"},
                     is_ring ? "in the end each device has the sum of all rows, and row d of h_out is a copy of what "
                               "device d has"
                             : "cudaSetDevice decides where memory is, which device a stream belongs to, and where a "
                               "kernel runs");
}

// Checks that each device ran a kernel, except on rung 3, where a device may only forward sums.
std::optional<Problem> CheckRan(const CallContext& context, const CallReport& report, const Task& task) {
  for (int d = 0; d < task.devices && !IsRing(context.launcher); ++d) {
    if (std::ranges::any_of(report.operations, [&](const worker::StreamedOperation& operation) {
          return operation.kind == worker::StreamedKind::kLaunch && operation.device == d;
        })) {
      continue;
    }
    return MakeProblem(
        Verdict::kRejected, context, {"h_out is right, but device " + std::to_string(d) + " ran no kernel"},
        "cudaSetDevice decides where memory is, which device a stream belongs to, and where a kernel runs");
  }
  return std::nullopt;
}

// Checks that the sums in copies from the devices had been stored by kernels, on any device.
std::optional<Problem> CheckSums(const CallContext& context, const CallReport& report, const Task& task) {
  uint64_t sums = 0;
  const auto row = std::span(report.arrays.at(1)).first(task.n * sizeof(uint32_t));
  for (const auto& [device, output] : report.memory.copies) sums += judge::WordsCome(output.stored, row);
  if (sums >= task.n - task.n / kAboutAll) return std::nullopt;
  return MakeProblem(Verdict::kRejected, context,
                     {"h_out is right, but of " + judge::Counted(task.n, "sum") + " kernels stored " + Grouped(sums)},
                     "the kernels have to do the work, on all words");
}

// Checks that kernels of all devices did the work, each its part or much of it.
std::optional<Problem> CheckWorked(const CallContext& context, const CallReport& report, const Task& task,
                                   const Words& words) {
  constexpr int kFewRows = 4;  // with few rows a device may have no part
  if (!IsField(context.launcher) || task.height >= kFewRows * task.devices) {
    if (auto problem = CheckRan(context, report, task)) return problem;
    for (int d = 0; d < task.devices; ++d) {
      if (auto problem = CheckPart(context, report, task, words, d)) return problem;
    }
  }
  if (IsRing(context.launcher)) {
    if (auto problem = CheckSums(context, report, task)) return problem;
  }
  vgpu::Counters counted;
  for (const vgpu::LaunchRecord& launch : report.launches) counted += launch.counters;
  // A cell takes four additions, a word of a stage or a sum at least one instruction.
  const uint64_t least = WorkOf(context.launcher, task) * (IsField(context.launcher) ? 4 : 1) / vgpu::kWarpSize;
  if (counted.warp_instructions == 0 || counted.integer_instructions >= least) return std::nullopt;
  return MakeProblem(Verdict::kRejected, context,
                     {"h_out is right, but the kernels executed " +
                      judge::Counted(counted.integer_instructions, "integer instruction") + " by warps, and " +
                      Grouped(least) + " are the least that the work takes"},
                     "the kernels have to do the work, on all words");
}

void CheckResult(const CallContext& context, const CallReport& report, const Task& task, const Words& words,
                 std::vector<Problem>& problems) {
  const Words found = judge::ValuesOf<uint32_t>(report.arrays.at(1));
  const Words expected = Expected(context.launcher, task, words);
  if (const auto mismatch = judge::CompareExact<uint32_t>(expected, found)) {
    problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_out: " + judge::MismatchText(*mismatch, words.size())},
                                   HintOfResult(context.launcher, task, words, found, mismatch->index)));
    return;
  }
  if (!report.observed || WorkOf(context.launcher, task) == 0) return;
  if (report.launches.empty()) {
    problems.push_back(judge::NoKernelProblem(context));
    return;
  }
  judge::CheckCameFromDevice(report, context, report.arrays.at(1), "h_out", !IsRing(context.launcher), problems);
  if (problems.empty()) judge::CheckWentToDevice(report, context, judge::BytesOf(words), "h_in", problems);
  if (problems.empty() && expected != words && WasSent(context, report, task)) {
    problems.push_back(MakeProblem(Verdict::kRejected, context,
                                   {"h_out is right, but the host copied its words to the devices"},
                                   "the devices compute the result, and send each other what they need of it"));
  }
  if (problems.empty()) {
    if (auto problem = CheckWorked(context, report, task, words)) problems.push_back(std::move(*problem));
  }
}

// Makes one call, and collects all its problems.
judge::EvidenceRun Call(judge::Runner& runner, const std::string& rung, const Task& task, const judge::SeedKey& seed) {
  const CallContext context = ContextOf(rung, task);
  const Words words = judge::MakeWords(WordsOf(rung, task), seed);
  const std::vector<uint8_t> in = judge::BytesOf(words), poisoned(in.size(), judge::kPoisonByte);
  std::vector<Argument> arguments = {Argument::HostArray(in), Argument::HostArray(poisoned)};
  if (IsField(rung)) {
    for (const int size : {task.width, task.height, task.steps}) arguments.push_back(Argument::Integer(size));
  } else {
    arguments.push_back(Argument::Integer(task.n));
  }
  arguments.push_back(Argument::Integer(task.devices));
  // The limit on launches grows with the elements: this allows some launches for each device and step.
  constexpr uint64_t kLaunches = 16, kElementsALaunch = 128;
  const auto turns = static_cast<uint64_t>((1 + task.steps) * task.devices);
  runner.LimitInstructions(words.size() + kElementsALaunch * kLaunches * turns);
  judge::EvidenceRun run{runner.Call(rung, arguments), {}};
  run.elements = IsField(rung) ? WorkOf(rung, task) : task.n;
  const CallReport& report = run.report;
  const bool returned = report.outcome == worker::Outcome::kReturned && report.arrays.size() == 2;
  if (returned && judge::DidNothing(report) && !words.empty() && report.arrays[1] == poisoned) {
    run.problems = {judge::UnfinishedProblem(context)};
    return run;
  }
  run.problems = judge::ProblemsOf(report, context);
  judge::ExplainEach(run.problems, HintOfFault);
  if (returned && run.problems.empty()) CheckResult(context, report, task, words, run.problems);
  if (returned && report.arrays[0] != in) {
    run.problems.push_back(MakeProblem(Verdict::kWrong, context, {"h_in was changed"}, "h_in is read-only"));
  }
  if (run.problems.empty()) judge::CheckNothingHeld(context, report, run.problems);
  if (run.problems.empty()) judge::CheckNoneLeft(context, report, run.problems);
  return run;
}

}  // namespace

void GpusTest::Expect(const Task& task, Role role) {
  const judge::SeedKey seed = Seed(inputs_++);
  if (!ok()) return;
  judge::Runner& runner = judge::Suite::Get().runner(role);
  if (task.devices > runner.devices()) {
    std::printf("left out: %s needs %d devices, and this machine has %d\n", name().c_str(), task.devices,
                runner.devices());
    return;
  }
  judge::EvidenceRun run = Call(runner, rung(), task, seed);
  Keep(run.report);
  Add(std::move(run.problems));
}

void GpusTest::ExpectWords(int devices, const std::vector<uint64_t>& lengths, Role role) {
  if (IsField(rung())) return;
  for (const uint64_t n : lengths) Expect({.devices = devices, .n = n}, role);
}

void GpusTest::ExpectField(int devices, int width, int height, int steps, Role role) {
  if (!IsField(rung())) return;
  Expect({.devices = devices, .width = width, .height = height, .steps = steps}, role);
}

// From the least to the most demanding calls, so that the first message is the simplest.
TEST_P(GpusTest, RunsOnOneDevice) {
  ExpectWords(1, {256, 1000});
  for (const int steps : {1, 3}) ExpectField(1, 64, 16, steps);
}

TEST_P(GpusTest, SharesTheWork) {
  ExpectWords(2, {256, 4096, 10000});
  for (const int steps : {1, 2, 5}) ExpectField(2, 64, 16, steps);
}

TEST_P(GpusTest, TakesAnySize) {
  ExpectWords(2, judge::Around({2, 32, 256, 1024}));
  for (const auto& [width, height] : {std::pair(33, 7), {1, 9}, {100, 2}, {31, 3}, {257, 33}}) {
    ExpectField(2, width, height, 4);
  }
}

TEST_P(GpusTest, HandlesLittle) {
  // If the rung can't do this yet, report that first.
  ExpectWords(2, {64, 1, 0});
  ExpectField(2, 8, 8, 1);
  for (const auto& [width, height] : {std::pair(8, 1), {1, 1}, {0, 5}, {5, 0}}) ExpectField(2, width, height, 3);
  ExpectField(2, 20, 10, 0);
}

// Results left from an earlier call are wrong here.
TEST_P(GpusTest, RunsAgain) {
  for (const int devices : {2, 1, 2}) {
    ExpectWords(devices, {3000, 700});
    ExpectField(devices, 50, 12, 3), ExpectField(devices, 30, 20, 2);
  }
}

TEST_P(GpusTest, RunsForLong) {
  ExpectWords(2, {33, (uint64_t{1} << 18) + 77}, Role::kPlain);
  ExpectField(2, 33, 8, 2, Role::kPlain);
  ExpectField(2, 500, 70, 25, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, GpusTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);

}  // namespace lockstep::suites

namespace lockstep::judge {

// Four devices show best what a stage or a row costs, two show the exchange between a field's parts. Drawn runs that
// are not round have any number of devices, except on rung 4: its copies have to overlap kernels, and narrower parts
// take too little time. With fewer devices each one has less to forward; a part of a field keeps its number of rows.
EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  Random random(SeedFor(one.seed, "shape"));
  const bool any = one.drawn && !one.round;
  const int rows = any ? static_cast<int>(random.Between(16, 24)) : 16;
  const int steps = any ? static_cast<int>(random.Between(4, 6)) : 4;
  const bool is_field = suites::IsField(rung);
  int devices = is_field ? 2 : 4;
  if (any && !rung.starts_with("gpus4")) {
    devices = static_cast<int>(Random(SeedFor(one.seed, "devices")).Between(is_field ? 2 : 3, runner.devices()));
  }
  suites::Task task{.devices = devices, .n = one.elements};
  if (is_field) {
    const int height = rows * devices, width = std::max(static_cast<int>(one.elements) / (height * steps), 1);
    task = {.devices = devices, .width = width, .height = height, .steps = steps};
  }
  return suites::Call(runner, rung, task, one.seed);
}

}  // namespace lockstep::judge
