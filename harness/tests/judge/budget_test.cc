#include <gtest/gtest.h>

#include <stdexcept>

#include "judge/model/metric.h"
#include "tests/support/source_files.h"

namespace lockstep::judge {
namespace budget_test {

RungProfile Profile(uint64_t branches, uint64_t divergent) {
  vgpu::LaunchRecord big, small;
  big.grid = {32, 1, 1};
  big.block = {128, 1, 1};
  big.microseconds = 2;
  big.counters.branches = branches;
  big.counters.divergent_branches = divergent;
  big.counters.shared_wavefronts = 10;
  big.counters.shared_wavefronts_ideal = 7;
  big.counters.global_load_sectors = 5;
  big.counters.global_store_sectors = 6;
  small.grid = {1, 1, 1};
  small.block = {64, 2, 1};
  small.microseconds = 1;
  big.lines = {{"/tmp/a/x.cu", 9, big.counters}, {"/tmp/a/x.cu", 4, big.counters}};
  small.lines = {{"x.cu", 9, big.counters}};
  return MakeProfile("r", "submission", 4096, {big, small});
}

std::optional<double> Value(const std::string& metric, const RungProfile* own, const RungProfile* other = nullptr) {
  return Evaluate(ParseMetric(metric), [&](std::string_view scope) { return scope.empty() ? own : other; });
}

TEST(ProfileTest, DerivesFiguresFromLaunches) {
  const RungProfile profile = Profile(10, 3);
  EXPECT_EQ(FigureOf(profile, "blocks"), 33);
  EXPECT_EQ(FigureOf(profile, "max_blocks"), 32);
  EXPECT_EQ(FigureOf(profile, "threads"), 33 * 128);
  EXPECT_EQ(FigureOf(profile, "launches"), 2);
  EXPECT_EQ(FigureOf(profile, "microseconds"), 3);
  EXPECT_EQ(FigureOf(profile, "elements"), 4096);
  EXPECT_EQ(FigureOf(profile, "shared_conflicts"), 3);
  EXPECT_EQ(FigureOf(profile, "sectors"), 11);
  EXPECT_EQ(FigureOf(profile, "divergent_branches"), 3);
  EXPECT_FALSE(FigureOf(profile, "elegance"));
}

// Splitting a grid into launches of several kernels doesn't lower max_blocks: the blocks are added up (32 + 5). Local
// arrays of more than 128 bytes per thread count as global memory traffic.
TEST(ProfileTest, CountsPiecesOfAGridAndLargeLocalArrays) {
  vgpu::LaunchRecord one, other;
  one.grid = {32, 1, 1};
  one.mangled = "a";
  other.grid = {5, 1, 1};
  other.mangled = "b";
  other.counters.local_sectors = 100;
  for (const uint32_t bytes : {128u, 132u}) {
    other.local_bytes = bytes;
    const RungProfile profile = MakeProfile("r", "submission", 4096, {one, other}, {});
    EXPECT_EQ(FigureOf(profile, "max_blocks"), 37);
    EXPECT_EQ(FigureOf(profile, "sectors"), bytes == 128 ? 0 : 100);
    EXPECT_EQ(FigureOf(profile, "wasted_passes"), 0);
  }
}

// An atomic can load and store like a load and a store, so it must count as the same traffic.
TEST(ProfileTest, CountsAtomicsAsTraffic) {
  vgpu::LaunchRecord launch;
  vgpu::Counters& counters = launch.counters;
  counters.global_load_requests = 1;
  counters.global_store_requests = 2;
  counters.global_load_sectors = 8;
  counters.global_load_sectors_ideal = 4;
  counters.global_store_sectors = counters.global_store_sectors_ideal = 16;
  counters.atomics = 4;
  counters.atomic_sectors = 32;
  counters.shared_wavefronts = 10;
  counters.shared_wavefronts_ideal = 7;
  counters.float32_instructions = 100;
  counters.float64_instructions = 200;
  counters.shared_atomics = 400;
  counters.tensor_multiply_adds = 320;
  const RungProfile profile = MakeProfile("r", "submission", 1, {launch});
  EXPECT_EQ(FigureOf(profile, "requests"), 7);
  EXPECT_EQ(FigureOf(profile, "load_requests"), 5);
  EXPECT_EQ(FigureOf(profile, "store_requests"), 6);
  EXPECT_EQ(FigureOf(profile, "sectors"), 56);
  EXPECT_EQ(FigureOf(profile, "store_sectors"), 48);
  EXPECT_EQ(FigureOf(profile, "sectors_ideal"), 20);
  EXPECT_EQ(FigureOf(profile, "wasted_passes"), 3 + 4 + 28);
  EXPECT_EQ(FigureOf(profile, "float_operations"), 714);
}

TEST(ProfileTest, EveryDerivedFigureIsOnThePage) {
  const std::string page = tests::ReadText(LOCKSTEP_SOURCE_DIR "/docs/reference/assignment-toml.md");
  for (const auto& [name, value, text] : DerivedFigures(Profile(10, 3))) {
    EXPECT_NE(page.find("`" + std::string(name) + "`"), std::string::npos) << name;
    EXPECT_EQ(FigureOf(Profile(10, 3), name), value) << name;
  }
}

TEST(ProfileTest, AddsLinesOverLaunchesByFileName) {
  const RungProfile profile = Profile(10, 3);
  ASSERT_EQ(profile.lines.size(), 2u);
  EXPECT_EQ(profile.lines[0].line, 4);
  EXPECT_EQ(profile.lines[1].file, "x.cu");
  EXPECT_EQ(profile.lines[1].counters.branches, 20u);
  const auto costliest = CostliestLines(profile, "branches", 1);
  ASSERT_EQ(costliest.size(), 1u);
  EXPECT_EQ(costliest[0].line, 9);
  EXPECT_TRUE(CostliestLines(profile, "atomics", 3).empty());
}

TEST(MetricTest, IsAFigureOrARatio) {
  const RungProfile own = Profile(10, 3), other = Profile(20, 4);
  EXPECT_EQ(Value("branches", &own), 10);
  EXPECT_EQ(Value(" divergent_branches/branches ", &own), 0.3);
  EXPECT_EQ(Value("branches / reference.branches", &own, &other), 0.5);
  EXPECT_EQ(Value("reduce1_interleaved.blocks / blocks", &own, &other), 1);
}

// The task has 4096 elements; 33 blocks of 128 threads were launched.
TEST(MetricTest, CountsNoMoreUnitsThanTheTaskHas) {
  const RungProfile own = Profile(10, 3), other = Profile(20, 4);
  const double counted = *Value("branches", &own);
  EXPECT_EQ(Value("branches / blocks of 64 elements", &own), counted / 33);
  EXPECT_EQ(Value("branches / blocks of 128 elements", &own), counted / 32);
  EXPECT_EQ(Value("branches / blocks of 4000 elements", &own), counted / 2);
  EXPECT_EQ(Value("branches / warps of 4096 elements", &own), counted);
  EXPECT_EQ(Value("branches / reference.blocks of 4096 elements", &own, &other), counted);
}

TEST(MetricTest, NothingPerNothingIsZeroAndSomethingPerNothingHasNoValue) {
  const RungProfile none = Profile(0, 0), odd = Profile(0, 3);
  EXPECT_EQ(Value("divergent_branches / branches", &none), 0);
  EXPECT_FALSE(Value("divergent_branches / branches", &odd));
}

TEST(MetricTest, HasNoValueWithoutAProfile) {
  const RungProfile own = Profile(10, 3);
  EXPECT_FALSE(Value("branches", nullptr));
  EXPECT_FALSE(Value("branches / reference.branches", &own, nullptr));
}

TEST(MetricTest, RefusesWhatItDoesNotKnow) {
  for (const char* text : {"", "branches /", "/ branches", "nonsense", ".branches", "reference.", "branches / a / b",
                           "branches * 2", "branches of 2 elements", "branches / blocks of 0 elements",
                           "branches / blocks of elements", "branches / blocks of 2", "branches / blocks of 2 ints"}) {
    EXPECT_THROW(ParseMetric(text), std::invalid_argument) << text;
  }
}

TEST(ConditionTest, BoundsAMetric) {
  const Condition most = ParseCondition("branches / blocks of 64 elements <= 0.5");
  EXPECT_EQ(most.metric.text, "branches / blocks of 64 elements");
  EXPECT_TRUE(most.Holds(0.5));
  EXPECT_FALSE(most.Holds(0.51));
  const Condition least = ParseCondition("branches>=2e3");
  EXPECT_TRUE(least.Holds(2000));
  EXPECT_FALSE(least.Holds(1999));
  EXPECT_EQ(ParseConditions("branches <= 1 and blocks >= 2 and warps <= 3").size(), 3u);
  for (const char* text : {"", "branches", "branches < 2", "branches <=", "branches <= two", "branches <= 2 elements",
                           "<= 2", "nonsense <= 2", "branches = 2"}) {
    EXPECT_THROW(ParseConditions("branches <= 1 and " + std::string(text)), std::invalid_argument) << text;
  }
}

TEST(BudgetTest, IsLinearBetweenFullAndNone) {
  const Budget lower{8, 20}, higher{256, 128};
  EXPECT_TRUE(lower.Met(8));
  EXPECT_FALSE(lower.Met(8.01));
  EXPECT_DOUBLE_EQ(lower.Fraction(14), 0.5);
  EXPECT_DOUBLE_EQ(lower.Fraction(2), 1);
  EXPECT_DOUBLE_EQ(lower.Fraction(50), 0);
  EXPECT_TRUE(higher.Met(256));
  EXPECT_FALSE(higher.Met(255));
  EXPECT_DOUBLE_EQ(higher.Fraction(160), 0.25);
}

}  // namespace budget_test
}  // namespace lockstep::judge
