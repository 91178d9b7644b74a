// Assignment 10, the tuner: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/suite/suite.h"
#include "suites/10_tuning_fixture.h"

namespace lockstep::suites {
namespace {

using judge::SeedFor;
using judge::Suite;

// One task for all devices: a family is swept once for it.
TuningInput HiddenTask() { return TaskOf(SeedFor(Suite::Get().seed(), "hidden task")); }

class HiddenFamilyTest : public FamilyTest {};

TEST_P(HiddenFamilyTest, CountsOtherLengths) {
  judge::Random random(Seed());
  const std::vector<Config> configs = Configs();
  for (int k = 0; k < 24; ++k) {
    const auto n = static_cast<uint64_t>(random.Between(1, 3'000)), m = static_cast<uint64_t>(random.Between(1, 700));
    Expect(configs[static_cast<size_t>(random.Between(0, static_cast<int64_t>(configs.size()) - 1))],
           MakeInput(n, m, k % 3 == 0 ? Values::kClose : Values::kAny, Seed(++inputs_)));
  }
}

TEST_P(HiddenFamilyTest, CountsFromAnyAddress) {
  for (const uint64_t offset : {1, 2, 3}) {
    for (const Config config : {Config{64, 32, 8, 1}, {128, 128, 4, 4}, {512, 512, 8, 2}}) {
      Expect(config, MakeInput(1'300, 140, Values::kAny, Seed(++inputs_)), offset);
    }
  }
}

TEST_P(HiddenFamilyTest, CountsTheEndsInEveryConfiguration) {
  for (const Config& config : Configs()) Expect(config, MakeInput(67, 37, Values::kEnds, Seed(++inputs_)));
}

// Also for a task that nobody knows beforehand.
TEST_P(HiddenFamilyTest, WorksAsItIsConfigured) { ExpectEffort(HiddenTask()); }

class HiddenClockTest : public ClockTest {};

const std::vector<Config> kOtherConfigs = {{512, 128, 1, 2}, {64, 128, 4, 1}, {512, 32, 8, 2}};

TEST_P(HiddenClockTest, MeasuresOnAG80) { ExpectTimes(MachineOf("g80"), HiddenTask(), kOtherConfigs); }
TEST_P(HiddenClockTest, MeasuresWithAnotherClock) {
  ExpectTimes(MachineNeverBuilt(Seed(), /*is_large=*/false), HiddenTask(), kOtherConfigs);
}

Machine Large(const std::string& which) {
  return MachineNeverBuilt(SeedFor(Suite::Get().seed(), which), /*is_large=*/true);
}
Machine Small(const std::string& which) {
  return MachineNeverBuilt(SeedFor(Suite::Get().seed(), which), /*is_large=*/false);
}

class HiddenExhaustiveTest : public ExhaustiveTest {};

TEST_P(HiddenExhaustiveTest, FindsTheBestOnAG80) { ExpectChoice(MachineOf("g80"), HiddenTask(), kBest); }
TEST_P(HiddenExhaustiveTest, FindsTheBestOnOneNeverBuilt) { ExpectChoice(Small("third"), HiddenTask(), kBest); }

// Three devices that students have no test for, and four that were never built.
class HiddenTunerTest : public TunerTest {};

TEST_P(HiddenTunerTest, ComesNearOnAG80) { ExpectChoice(MachineOf("g80"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnAG80) { ExpectChoice(MachineOf("g80"), HiddenTask(), kAsGood); }
TEST_P(HiddenTunerTest, ComesNearOnAnRtx3060) { ExpectChoice(MachineOf("rtx3060"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnAnRtx3060) { ExpectChoice(MachineOf("rtx3060"), HiddenTask(), kAsGood); }
TEST_P(HiddenTunerTest, ComesNearOnAnH100) { ExpectChoice(MachineOf("h100"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnAnH100) { ExpectChoice(MachineOf("h100"), HiddenTask(), kAsGood); }
TEST_P(HiddenTunerTest, ComesNearOnOneNeverBuilt) { ExpectChoice(Small("first"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnOneNeverBuilt) { ExpectChoice(Small("first"), HiddenTask(), kAsGood); }
TEST_P(HiddenTunerTest, ComesNearOnAnotherNeverBuilt) { ExpectChoice(Large("first"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnAnotherNeverBuilt) { ExpectChoice(Large("first"), HiddenTask(), kAsGood); }
TEST_P(HiddenTunerTest, ComesNearOnAThirdNeverBuilt) { ExpectChoice(Small("second"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnAThirdNeverBuilt) { ExpectChoice(Small("second"), HiddenTask(), kAsGood); }
TEST_P(HiddenTunerTest, ComesNearOnAFourthNeverBuilt) { ExpectChoice(Large("second"), HiddenTask(), kNear); }
TEST_P(HiddenTunerTest, IsAsGoodOnAFourthNeverBuilt) { ExpectChoice(Large("second"), HiddenTask(), kAsGood); }

INSTANTIATE_TEST_SUITE_P(, HiddenFamilyTest, testing::ValuesIn(RungsOf("tuning1")), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenClockTest, testing::ValuesIn(RungsOf("tuning2")), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenExhaustiveTest, testing::ValuesIn(RungsOf("tuning3")), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenTunerTest, testing::ValuesIn(RungsOf("tuning4")), judge::RungName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenFamilyTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenClockTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenExhaustiveTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenTunerTest);

}  // namespace
}  // namespace lockstep::suites
