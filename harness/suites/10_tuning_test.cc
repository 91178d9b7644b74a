// Assignment 10, the tuner: the tests that students have.
#include <gtest/gtest.h>

#include <iterator>
#include <list>

#include "judge/model/text.h"
#include "judge/suite/main.h"
#include "suites/10_tuning_calls.h"
#include "suites/10_tuning_fixture.h"

namespace lockstep::suites {

using judge::Suite;

TuningInput MakeInput(uint64_t n, uint64_t m, Values values, const judge::SeedKey& seed) {
  const std::vector<uint32_t> words = judge::MakeWords(n + m, seed);
  const auto value = [&](uint64_t k) -> int32_t {
    const auto word = static_cast<int32_t>(words[k]);
    constexpr int32_t kFew = 16, kEnds[] = {INT32_MIN, INT32_MIN + 1, -1, 0, 1, INT32_MAX - 1, INT32_MAX};
    if (values == Values::kClose) return static_cast<int32_t>(words[k] % kFew) - kFew / 2;
    return values == Values::kEnds ? kEnds[words[k] % std::size(kEnds)] : word;
  };
  TuningInput input;
  for (uint64_t i = 0; i < n; ++i) input.in.push_back(value(i));
  for (uint64_t k = n; k < n + m; ++k) input.marks.push_back(value(k));
  input.what = "n = " + judge::Grouped(n) + ", m = " + judge::Grouped(m) + ", ";
  input.what += values == Values::kAny     ? "random ints"
                : values == Values::kClose ? "small ints, many of them equal"
                                           : "the least and the largest ints";
  return input;
}

TuningBuffers::TuningBuffers(judge::JudgeDevice& device, const TuningInput& input, uint64_t offset)
    : in(device, input.in.size(), "d_in", offset),
      marks(device, input.marks.size(), "d_marks", offset),
      out(device, input.in.size(), "d_out", offset) {}

TuningInput TaskOf(const judge::SeedKey& seed) {
  judge::Random random(seed);
  const auto n = static_cast<uint64_t>(random.Between(30'000, 34'000));
  return MakeInput(n, static_cast<uint64_t>(random.Between(130, 160)), Values::kAny, seed);
}

TuningInput PublicTask() {
  return MakeInput(32'001, kEvidenceMarks, Values::kAny, judge::SeedFor(Suite::Get().seed(), "task"));
}

Machine MachineOf(const std::string& profile) {
  const vgpu::DeviceProfile& device = judge::ProfileNamed(profile);
  // A real GPU has its own profile.
  return {profile, OnGpu() ? Suite::Get().runner(Role::kChecked).device().Describe().name : device.name, &device};
}

Machine MachineNeverBuilt(const judge::SeedKey& seed, bool is_large) {
  static std::list<vgpu::DeviceProfile> clocks;
  judge::Random random(seed);
  const auto one_of = [&](const char* a, const char* b) { return random.Between(0, 1) == 0 ? a : b; };
  vgpu::DeviceProfile& clock =
      clocks.emplace_back(judge::ProfileNamed(is_large ? one_of("rtx4090", "h100") : one_of("t4", "rtx3060")));
  clock.sm_count = static_cast<int>(is_large ? random.Between(100, 150) : random.Between(8, 20));
  clock.alu_latency_cycles = static_cast<double>(random.Between(4, 7));
  clock.shared_latency_cycles = static_cast<double>(random.Between(20, 40));
  clock.barrier_latency_cycles = static_cast<double>(random.Between(20, 60));
  clock.block_launch_cycles = static_cast<double>(random.Between(100, 300));
  clock.launch_overhead_us = 1;
  Machine machine = MachineOf(is_large ? "t4" : one_of("rtx4090", "h200"));
  if (!OnGpu()) {
    machine.name = "a device with another clock than its name says (" + std::to_string(clock.sm_count) + " SMs)";
  }
  machine.clock = &clock;
  return machine;
}

void FamilyTest::Expect(const Config& config, const TuningInput& input, uint64_t offset) {
  if (!ok()) return;
  judge::Runner& runner = Suite::Get().runner(Role::kChecked);
  TuningBuffers buffers(runner.device(), input, offset);
  judge::EvidenceRun run = RunFamily(runner, rung(), buffers, input, config);
  Keep(run.report);
  Add(std::move(run.problems));
}

void FamilyTest::ExpectEffort(const TuningInput& input) {
  if (!OnGpu()) Add(EffortProblems(rung(), SweepOf(input)));  // a real GPU has no counters
}

void FamilyTest::ExpectRefused(const Config& config) {
  if (!ok()) return;
  judge::Runner& runner = Suite::Get().runner(Role::kChecked);
  const TuningInput input = MakeInput(300, 40, Values::kAny, Seed());
  TuningBuffers buffers(runner.device(), input);
  judge::EvidenceRun run = RunRefused(runner, rung(), buffers, input, config);
  Keep(run.report);
  Add(std::move(run.problems));
}

const TuningInput& FamilyTest::Some() {
  // More than one block of 1024 elements, and more than one tile of 512 marks.
  if (!some_) some_ = MakeInput(1'100, 530, Values::kAny, Seed());
  return *some_;
}

TEST_P(FamilyTest, CountsInEveryConfiguration) {
  for (const Config& config : Configs()) Expect(config, Some());
}

TEST_P(FamilyTest, CountsAnyNumberOfElements) {
  for (const uint64_t n : {1, 31, 64, 65, 127, 512, 1023, 2049}) {
    for (const Config config : {Config{64, 32, 1, 1}, {128, 128, 4, 4}, {512, 32, 8, 2}}) {
      Expect(config, MakeInput(n, 33, Values::kAny, Seed(inputs_++)));
    }
  }
}

TEST_P(FamilyTest, CountsAnyNumberOfMarks) {
  for (const uint64_t m : {1, 7, 31, 32, 33, 127, 128, 129, 511, 513, 1025}) {
    for (const Config config : {Config{128, 32, 8, 1}, {64, 128, 4, 2}, {256, 512, 1, 4}}) {
      Expect(config, MakeInput(301, m, Values::kAny, Seed(inputs_++)));
    }
  }
}

// An element equal to a mark does not count as above it, and no int is above the largest.
TEST_P(FamilyTest, CountsOnlyWhatIsLess) {
  for (const Config config : {Config{64, 32, 1, 1}, {128, 32, 8, 2}, {256, 128, 4, 4}}) {
    Expect(config, MakeInput(700, 45, Values::kClose, Seed(inputs_++)));
    Expect(config, MakeInput(700, 45, Values::kEnds, Seed(inputs_++)));
  }
}

TEST_P(FamilyTest, HandlesNothing) {
  Expect({128, 32, 4, 2}, MakeInput(100, 20, Values::kAny, Seed()));  // reports a stub first
  Expect({128, 32, 4, 2}, MakeInput(100, 0, Values::kAny, Seed()));
  Expect({128, 32, 4, 2}, MakeInput(0, 20, Values::kAny, Seed()));
  Expect({128, 32, 4, 2}, MakeInput(0, 0, Values::kAny, Seed()));
}

TEST_P(FamilyTest, RefusesWhatIsNotValid) {
  for (const Config& config : Configs(/*valid=*/false)) ExpectRefused(config);
  for (const int other : {0, -1, -64, 3, 16, 63, 96, 192, 1024}) {
    ExpectRefused({other, 32, 4, 2});
    ExpectRefused({128, other, 4, 2});
    if (other != 16) ExpectRefused({128, 32, other, 1});
    ExpectRefused({128, 32, 1, other});
  }
  ExpectRefused({128, 32, 16, 1});
  ExpectRefused({128, 32, 2, 1});
  ExpectRefused({128, 32, 1, 8});
}

TEST_P(FamilyTest, WorksAsItIsConfigured) {
  ExpectEffort(PublicTask());
  if (!ok() || OnGpu()) return;
  // Also some configurations on another task, with any number of marks: the best one for the public task is known.
  judge::Random random(Seed());
  const std::vector<Config> all = Configs();
  std::vector<Config> some(6);
  for (Config& one : some) one = all[static_cast<size_t>(random.Between(0, static_cast<int64_t>(all.size()) - 1))];
  const auto n = static_cast<uint64_t>(random.Between(30'000, 34'000));
  const TuningInput other = MakeInput(n, static_cast<uint64_t>(random.Between(40, 600)), Values::kAny, Seed(1));
  Add(EffortProblems(rung(), SweepThrough(other, some)));
}

// A G80 has 8192 registers per block: with 512 threads at most 16 each.
TEST_P(FamilyTest, SaysWhatDoesNotFit) {
  if (Suite::Get().options().device == judge::DeviceKind::kCuda) return;
  const Machine machine = MachineOf("g80");
  const std::unique_ptr<judge::Runner> runner = Suite::Get().MakeRunnerElsewhere(machine.profile, *machine.clock);
  const TuningInput input = MakeInput(600, 40, Values::kAny, Seed());
  for (const Config config : {Config{128, 32, 1, 1}, {512, 32, 8, 2}, {512, 128, 8, 1}}) {
    if (!ok()) return;
    TuningBuffers buffers(runner->device(), input);
    judge::EvidenceRun run = RunFamily(*runner, rung(), buffers, input, config, /*may_not_fit=*/true);
    Keep(run.report);
    Add(std::move(run.problems));
  }
}

void ClockTest::ExpectTimes(const Machine& machine, const TuningInput& input, const std::vector<Config>& configs) {
  MachineRunner runner(machine);
  TuningBuffers buffers(runner->device(), input);
  for (const Config& config : configs) {
    if (!ok()) return;
    judge::EvidenceRun run = RunClock(*runner, machine, rung(), buffers, input, config);
    Keep(run.report);
    Add(std::move(run.problems));
  }
}

void ClockTest::ExpectRefused(const Machine& machine) {
  MachineRunner runner(machine);
  const TuningInput input = MakeInput(300, 40, Values::kAny, Seed());
  TuningBuffers buffers(runner->device(), input);
  for (const Config config : {Config{128, 32, 4, 2}, {96, 32, 4, 2}, {128, 32, 8, 4}}) {
    if (!ok()) return;
    judge::EvidenceRun run = RunClock(*runner, machine, rung(), buffers, input, config);
    Keep(run.report);
    Add(std::move(run.problems));
  }
}

const std::vector<Config> kSomeConfigs = {{128, 128, 8, 2}, {64, 32, 1, 1}, {256, 32, 4, 4}};

TEST_P(ClockTest, MeasuresOnATeslaT4) { ExpectTimes(MachineOf("t4"), PublicTask(), kSomeConfigs); }
TEST_P(ClockTest, MeasuresOnAnH200) { ExpectTimes(MachineOf("h200"), PublicTask(), kSomeConfigs); }
TEST_P(ClockTest, RefusesToMeasure) { ExpectRefused(MachineOf("t4")); }

void TunerTest::ExpectChoice(const Machine& machine, const TuningInput& input, double ratio) {
  if (!ok()) return;
  const TunerRun& run = TunerRunOn(machine, rung(), input);
  Keep(run.report);
  Add(run.problems);
  if (ok()) Add(ChoiceProblems(rung(), run, ratio));
}

TEST_P(ExhaustiveTest, FindsTheBestOnATeslaT4) { ExpectChoice(MachineOf("t4"), PublicTask(), kBest); }

TEST_P(TunerTest, ComesNearOnATeslaT4) { ExpectChoice(MachineOf("t4"), PublicTask(), kNear); }
TEST_P(TunerTest, IsAsGoodOnATeslaT4) { ExpectChoice(MachineOf("t4"), PublicTask(), kAsGood); }
TEST_P(TunerTest, ComesNearOnAnRtx4090) { ExpectChoice(MachineOf("rtx4090"), PublicTask(), kNear); }
TEST_P(TunerTest, IsAsGoodOnAnRtx4090) { ExpectChoice(MachineOf("rtx4090"), PublicTask(), kAsGood); }

INSTANTIATE_TEST_SUITE_P(, FamilyTest, testing::ValuesIn(RungsOf("tuning1")), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, ClockTest, testing::ValuesIn(RungsOf("tuning2")), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, ExhaustiveTest, testing::ValuesIn(RungsOf("tuning3")), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, TunerTest, testing::ValuesIn(RungsOf("tuning4")), judge::RungName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(FamilyTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ClockTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ExhaustiveTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(TunerTest);

}  // namespace lockstep::suites

namespace lockstep::judge {

EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one) {
  using namespace lockstep::suites;
  if (rung.starts_with("tuning4") && one.drawn && one.elements > kSmallTask) return RunDrawnSearch(rung, one.seed);
  Random random(SeedFor(one.seed, "task"));
  uint64_t marks = one.drawn ? static_cast<uint64_t>(random.Between(130, 160)) : kEvidenceMarks;
  const bool is_family = rung.starts_with("tuning1");
  if (one.wide && is_family) marks = static_cast<uint64_t>(random.Between(40, 600));
  const TuningInput input = MakeInput(one.elements, marks, Values::kAny, one.seed);
  TuningBuffers buffers(runner.device(), input);
  if (!is_family) return RunTimedForEvidence(runner, rung, buffers, input);
  Config config = kEvidenceConfig;
  if (one.drawn) config.block = kBlocks[random.Between(0, 2)];
  EvidenceRun run = RunFamily(runner, rung, buffers, input, config);
  // Work per element is in proportion to the places of its tiles.
  const auto places = [](uint64_t m) { return (m + kEvidenceConfig.tile - 1) / kEvidenceConfig.tile; };
  run.elements = one.elements * places(marks) / places(kEvidenceMarks);
  return run;
}

}  // namespace lockstep::judge
