#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "judge/suite/evidence.h"
#include "judge/suite/ladder_table.h"
#include "tests/judge/fake_runner.h"
#include "tests/support/golden.h"
#include "vgpu/model/time_model.h"

namespace lockstep::judge {
namespace judge_evidence_test {

Assignment Ladder() {
  Assignment assignment;
  assignment.id = "x";
  assignment.submission = "x.cu";
  assignment.evidence_elements = 4096;
  assignment.rungs = {{"r1_slow", "Slow", 8.054, 2.083}, {"r2_fast", "Fast", std::nullopt, std::nullopt}};
  EvidenceCriterion criterion{"r2.branches", "r2_fast", "Branches gone", "use fewer", ParseMetric("divergent_branches"),
                              {10, 20}};
  assignment.criteria = {criterion};
  return assignment;
}

// A rung's divergent branches in the submission and in the reference; -1: the result is wrong.
struct Counts {
  int submission = 0, reference = 0;
};

class EvidenceJudgeTest : public testing::Test {
 protected:
  std::unique_ptr<Suite> MakeSuite(Counts counts, bool with_reference = true, const Options& options = {},
                                   const Assignment& assignment = Ladder(), SeedNumber seed = 7) {
    counts_ = counts;
    return std::make_unique<Suite>(options, assignment, "public", seed,
                                   [with_reference](Role role) -> std::unique_ptr<Runner> {
                                     if (role == Role::kReference && !with_reference) return nullptr;
                                     return std::make_unique<FakeRunner>(nullptr);
                                   });
  }
  Evidence MakeEvidence(Suite& suite) {
    return Evidence(suite, [this, &suite](Runner& runner, const std::string& rung, const EvidenceCase& one) {
      const bool reference = suite.has_runner(Role::kReference) && &runner == &suite.runner(Role::kReference);
      const bool is_odd = one.wide && odd_ > 0;
      const int count = reference ? counts_.reference : is_odd ? odd_ : one.drawn ? elsewhere_ : counts_.submission;
      if (!one.drawn) {
        EXPECT_EQ(one.elements, 4096u);
      }
      sizes_.push_back(one.elements);
      ++runs_;
      EvidenceRun run{.room = is_odd ? kUnalignedRoom : 0};
      if (count < 0) {
        Problem problem;
        problem.verdict = Verdict::kWrong;
        problem.place = rung;
        problem.evidence = {"expect  1", "found   2"};
        run.problems = {problem};
        return run;
      }
      vgpu::LaunchRecord launch;
      launch.grid = {32, 1, 1};
      launch.block = {128, 1, 1};
      launch.microseconds = rung == "r1_slow" ? 20 : 5;
      launch.counters.divergent_branches = static_cast<uint64_t>(count);
      launch.counters.branches = 1000;
      launch.counters.global_load_requests = 100;
      launch.counters.global_load_sectors = 450;
      launch.counters.warp_instructions = 1234567;
      launch.longest_warp = longest_warp_;
      launch.lines = {{"x.cu", 9, launch.counters}};
      run.report.launches = {launch};
      return run;
    });
  }

  Counts counts_;
  int elsewhere_ = 0;            // the submission's value, at drawn sizes
  int odd_ = 0;                  // if not 0: in wide calls, which may cost a right design more
  std::vector<uint64_t> sizes_;  // of all runs
  uint64_t longest_warp_ = 0;
  int runs_ = 0;
};

constexpr char kTest[] = "Evidence.BranchesGone/r2_fast";

// Without drawn sizes a submission could be fast only in the call that is measured.
TEST_F(EvidenceJudgeTest, ABudgetCountsOnlyIfItHoldsAtSizesThatAreDrawn) {
  Assignment assignment = Ladder();
  assignment.evidence_drawn = true;
  const EvidenceCriterion& criterion = assignment.criteria[0];  // full marks up to 10, none from 20 on
  std::set<uint64_t> sizes;
  std::set<bool> orders;
  for (int seed = 0; seed < 40; ++seed) {
    for (const int elsewhere : {0, 12, 14, 500}) {
      auto suite = MakeSuite({10, 8}, true, {}, assignment, static_cast<SeedNumber>(seed));
      elsewhere_ = elsewhere;
      sizes_.clear();
      Evidence evidence = MakeEvidence(*suite);
      const EvidenceResult result = evidence.Judge(criterion, kTest).result;
      EXPECT_EQ(result.value, 10);
      EXPECT_EQ(result.verdict, elsewhere <= 12 ? Verdict::kPass : Verdict::kSlow) << elsewhere;
      EXPECT_EQ(result.unmet.empty(), elsewhere <= 12);
      if (!result.unmet.empty()) {
        EXPECT_TRUE(result.unmet.starts_with("counts only if divergent_branches is at most 1")) << result.unmet;
      }
      uint64_t drawn = 0;
      for (const uint64_t n : sizes_) {
        if (n != 4096 && n > 3072) drawn = n;
      }
      EXPECT_NE(drawn, 0u) << "no run at another size that is comparable";
      sizes.insert(drawn);
      orders.insert(std::ranges::find(sizes_, drawn) < std::ranges::find(sizes_, 4096u));
    }
  }
  EXPECT_GT(sizes.size(), 30u);
  EXPECT_EQ(orders.size(), 2u) << "the measured call could be recognised by its place";
}

// With a narrow budget, a tolerance of a tenth of full marks would exceed the whole range.
TEST_F(EvidenceJudgeTest, ANarrowBudgetLeavesItsOwnWidthAsRoom) {
  Assignment assignment = Ladder();
  assignment.evidence_drawn = true;
  EvidenceCriterion& criterion = assignment.criteria[0];
  criterion.metric = ParseMetric("divergent_branches / reference.divergent_branches");
  for (const auto& [budget, most] : {std::pair{Budget{1.12, 1.22}, 112}, {Budget{1.12, 1.6}, 123}}) {
    criterion.budget = budget;
    for (const int elsewhere : {100, 112, 115, 123, 127}) {
      const auto suite = MakeSuite({100, 100}, true, {}, assignment);
      elsewhere_ = elsewhere;
      EXPECT_EQ(MakeEvidence(*suite).Judge(criterion, kTest).result.unmet.empty(), elsewhere <= most) << elsewhere;
    }
  }
}

// A technique applied only in every other call, or only near the assignment's size, is missing at a drawn size.
TEST_F(EvidenceJudgeTest, NoCallOrSizeIsKnownForAMeasuredOne) {
  Assignment assignment = Ladder();
  assignment.evidence_drawn = true;
  assignment.evidence_elements = 1 << 20;
  assignment.criteria[0].budget = {0.5, 1};
  const std::function<bool(int, uint64_t)> gates[] = {[](int, uint64_t) { return true; },
                                                      [](int call, uint64_t) { return call % 2 == 0; },
                                                      [](int call, uint64_t) { return call % 2 == 1; },
                                                      [](int, uint64_t n) { return n == 1 << 20; },
                                                      [](int, uint64_t n) { return n <= 1 << 20; },
                                                      [](int, uint64_t n) { return n > 3 << 18; },
                                                      [](int, uint64_t n) { return n % 4096 == 0; }};
  for (int k = 0; k < 14; ++k) {
    assignment.criteria[0].metric = ParseMetric(k % 2 == 0 ? "sectors / elements" : "warp_instructions / elements");
    const auto& gate = gates[k / 2];
    int earned = 0;
    for (int seed = 0; seed < 20; ++seed) {
      auto suite = MakeSuite({0, 0}, false, {}, assignment, static_cast<SeedNumber>(seed));
      int calls = 0;
      Evidence evidence(*suite, [&](Runner&, const std::string&, const EvidenceCase& one) {
        EvidenceRun run;
        vgpu::LaunchRecord& launch = run.report.launches.emplace_back();
        // A grid of fixed size costs the same for few elements, so more per element.
        const uint64_t each = gate(calls++, one.elements) ? one.elements / 4 + (1 << 16) : one.elements * 9 / 8;
        launch.counters.global_load_sectors = launch.counters.warp_instructions = each;
        return run;
      });
      earned += evidence.Judge(assignment.criteria[0], kTest).result.verdict == Verdict::kPass ? 1 : 0;
    }
    EXPECT_EQ(earned, k < 2 ? 20 : 0) << "gate " << k / 2;
  }
}

// At drawn sizes of whole blocks a figure may reach 1.25 times full marks, or 1.8 times its usual value if that is more:
// room for partial tiles, but not for doing the work twice.
TEST_F(EvidenceJudgeTest, WorkThatIsDoneTwiceElsewhereEarnsNothing) {
  Assignment assignment = Ladder();
  assignment.evidence_drawn = true;
  assignment.evidence_elements = 1 << 20;
  assignment.criteria[0].budget = {0.55, 0.8};
  assignment.criteria[0].metric = ParseMetric("sectors / elements");
  for (const auto& [factor, passes] : {std::pair{1.0, 10}, {1.7, 10}, {2.0, 0}}) {
    int earned = 0;
    for (SeedNumber seed = 0; seed < 10; ++seed) {
      const auto suite = MakeSuite({0, 0}, false, {}, assignment, seed);
      Evidence evidence(*suite, [&](Runner&, const std::string&, const EvidenceCase& one) {
        EvidenceRun run;
        const double each = one.elements > 3 << 18 ? 0.35 : factor * 0.35;
        run.report.launches.emplace_back().counters.global_load_sectors =
            static_cast<uint64_t>(each * static_cast<double>(one.elements));
        return run;
      });
      earned += evidence.Judge(assignment.criteria[0], kTest).result.verdict == Verdict::kPass ? 1 : 0;
    }
    EXPECT_EQ(earned, passes) << factor;
  }
}

// Misalignment may double the sectors, but then the bytes stay the same.
TEST_F(EvidenceJudgeTest, WorkThatIsDoneTwiceAtOddSizesEarnsNothing) {
  Assignment assignment = Ladder();
  assignment.evidence_drawn = true;
  assignment.evidence_elements = 1 << 20;
  assignment.criteria[0].budget = {0.55, 0.8};
  assignment.criteria[0].metric = ParseMetric("sectors / elements");
  for (const bool twice : {false, true}) {
    const auto suite = MakeSuite({0, 0}, false, {}, assignment);
    Evidence evidence(*suite, [&](Runner&, const std::string&, const EvidenceCase& one) {
      EvidenceRun run;
      const uint64_t odd = one.elements % 4096 != 0 && one.elements > 1 << 19 ? 2 : 1;
      vgpu::Counters& counters = run.report.launches.emplace_back().counters;
      counters.global_load_sectors = odd * one.elements * 35 / 100;
      counters.global_load_bytes = (twice ? odd : 1) * one.elements * 8;
      return run;
    });
    const EvidenceResult result = evidence.Judge(assignment.criteria[0], kTest).result;
    EXPECT_EQ(result.verdict, twice ? Verdict::kSlow : Verdict::kPass) << result.unmet;
  }
}

// Where a right design may cost more, `none` has a fifth more room, or other conditions hold instead.
TEST_F(EvidenceJudgeTest, WhatFitsNoVectorsHasItsOwnBounds) {
  Assignment assignment = Ladder();
  assignment.evidence_drawn = true;
  EvidenceCriterion& criterion = assignment.criteria[0];  // none from 20 on
  for (const auto& [own, most] : {std::pair{"", 24}, {"divergent_branches <= 30", 30}}) {
    if (*own != 0) criterion.unaligned = ParseConditions(own);
    for (odd_ = most; odd_ <= most + 1; ++odd_) {
      const auto suite = MakeSuite({10, 8}, true, {}, assignment);
      EXPECT_EQ(MakeEvidence(*suite).Judge(criterion, kTest).result.unmet.empty(), odd_ == most) << odd_;
    }
  }
}

// One lane, or one block, that does all the work may meet a budget of traffic.
TEST_F(EvidenceJudgeTest, ABudgetCountsOnlyIfTheRungIsNotTooSlow) {
  Assignment assignment = Ladder();
  for (const auto& [slowest, counts] : {std::pair{0.0, true}, {1.1, true}, {0.9, false}, {1.2, false}}) {
    assignment.evidence_slowest = slowest;
    longest_warp_ = slowest == 1.2 ? 1'234'567 : 0;  // in a launch whose other warps do nothing
    const auto suite = MakeSuite({10, 8}, true, {}, assignment);
    const EvidenceResult result = MakeEvidence(*suite).Judge(assignment.criteria[0], kTest).result;
    EXPECT_EQ(result.verdict, counts ? Verdict::kPass : Verdict::kSlow) << slowest;
    if (slowest != 0.9) continue;
    EXPECT_EQ(result.unmet,
              "counts only if a call takes at most 0.9 times as long as the reference's; "
              "with n = 4,096 it takes 1 times as long");
  }
}

// Sizes that are no multiples of a block get tolerance for partial warps and tiles, but what earns partial points at
// the assignment's size must not gain by it; at sizes of whole blocks, what earns nothing gets no tolerance.
TEST_F(EvidenceJudgeTest, BoundsElsewhereLeaveRoom) {
  EXPECT_DOUBLE_EQ(BoundElsewhere({0.26, 1}, 0.25, Draw::kAny, true), 0.63);
  EXPECT_DOUBLE_EQ(BoundElsewhere({1.4, 1.46}, 1.3, Draw::kAny, false), 1.625);
  EXPECT_DOUBLE_EQ(BoundElsewhere({1.4, 1.46}, 1.3, Draw::kRound, true), 1.4588);
  EXPECT_DOUBLE_EQ(BoundElsewhere({0.26, 1}, 0.8, Draw::kWide, true), 1);
  EXPECT_DOUBLE_EQ(BoundElsewhere({4.9, 4.1}, 5, Draw::kAny, true), 4);
  EXPECT_DOUBLE_EQ(BoundElsewhere({4.9, 4.1}, 5, Draw::kRound, true), 4.9 / 1.1);
  EXPECT_DOUBLE_EQ(BoundElsewhere({240, 128}, 256, Draw::kAny, true), 160);
  EXPECT_TRUE(AreUnlike({0.26, 1}, 0.25, 0.5));
  EXPECT_FALSE(AreUnlike({0.26, 1}, 0.25, 0.33)) << "a twelfth of the way";
  EXPECT_FALSE(AreUnlike({20, 40}, 10, 20)) << "both are good";
  EXPECT_TRUE(AreUnlike({4.9, 4.1}, 4, 6));
  EXPECT_TRUE(HoldsElsewhere(ParseMetric("sectors / elements"), Draw::kWide));
  EXPECT_TRUE(HoldsElsewhere(ParseMetric("warp_instructions / elements"), Draw::kWide));
  EXPECT_TRUE(HoldsElsewhere(ParseMetric("warp_instructions / elements"), Draw::kRound));
  EXPECT_TRUE(HoldsElsewhere(ParseMetric("microseconds / reference.microseconds"), Draw::kAny));
  EXPECT_TRUE(HoldsElsewhere(ParseMetric("timeline_us / reference.timeline_us"), Draw::kWide));
  EXPECT_FALSE(HoldsElsewhere(ParseMetric("timeline_us / bound_us"), Draw::kWide));
  EXPECT_FALSE(HoldsElsewhere(ParseMetric("sectors / r1_slow.sectors"), Draw::kRound));
}

TEST_F(EvidenceJudgeTest, WithinTheBudgetPasses) {
  auto suite = MakeSuite({10, 8});
  Evidence evidence = MakeEvidence(*suite);
  const Evidence::Judgement judgement = evidence.Judge(suite->assignment().criteria[0], kTest);
  EXPECT_EQ(judgement.result.verdict, Verdict::kPass);
  EXPECT_EQ(judgement.result.value, 10);
  EXPECT_EQ(runs_, 2) << "the submission and the reference";
  evidence.Judge(suite->assignment().criteria[0], kTest);
  EXPECT_EQ(runs_, 2) << "a rung is run once";
  EXPECT_EQ(suite->results().profiles.size(), 2u);
}

TEST_F(EvidenceJudgeTest, AboveTheBudgetIsSlow) {
  auto suite = MakeSuite({15, 8});
  Evidence evidence = MakeEvidence(*suite);
  const Evidence::Judgement judgement = evidence.Judge(suite->assignment().criteria[0], kTest);
  EXPECT_EQ(judgement.result.verdict, Verdict::kSlow);
  EXPECT_EQ(judgement.file, "x.cu");
  EXPECT_EQ(judgement.line, 9);
  ExpectGolden("evidence_slow.txt", judgement.result.message.Whole());
}

// A met budget earns nothing if its condition fails; here there are 450 sectors for 1,000 branches.
TEST_F(EvidenceJudgeTest, WithinTheBudgetIsSlowWhereItsConditionFails) {
  auto suite = MakeSuite({10, 8});
  Evidence evidence = MakeEvidence(*suite);
  EvidenceCriterion criterion = suite->assignment().criteria[0];
  criterion.only_where = ParseConditions("sectors / branches <= 0.45");
  EXPECT_EQ(evidence.Judge(criterion, kTest).result.verdict, Verdict::kPass);
  EXPECT_EQ(evidence.Judge(criterion, kTest).result.unmet, "");
  criterion.only_where = ParseConditions("sectors / branches <= 0.45 and sectors / branches >= 0.5");
  EXPECT_EQ(evidence.Judge(criterion, kTest).result.verdict, Verdict::kSlow);
  criterion.only_where = ParseConditions("sectors / branches <= 0.4");
  const EvidenceResult result = evidence.Judge(criterion, kTest).result;
  EXPECT_EQ(result.verdict, Verdict::kSlow);
  EXPECT_EQ(result.value, 10);
  EXPECT_EQ(result.unmet, "counts only if sectors / branches is at most 0.4; here it is 0.45");
  ExpectGolden("evidence_unmet.txt", result.message.Whole());
}

TEST_F(EvidenceJudgeTest, WrongResultIsNotMeasured) {
  auto suite = MakeSuite({-1, 8});
  Evidence evidence = MakeEvidence(*suite);
  const Evidence::Judgement judgement = evidence.Judge(suite->assignment().criteria[0], kTest);
  EXPECT_EQ(judgement.result.verdict, Verdict::kWrong);
  EXPECT_FALSE(judgement.result.value);
  EXPECT_TRUE(suite->results().profiles.empty());
  ExpectGolden("evidence_wrong.txt", judgement.result.message.Whole());
}

// One run has counters and checkers. Its warps take turns as without checkers, so its counts are the same.
TEST(EvidenceRunnerTest, WhatIsMeasuredIsChecked) {
  Options options;
  options.worker = options.reference = "/bin/true";
  const RunnerFactory factory = MakeRunnerFactory(options, Limits());
  const auto options_of = [&](Role role) { return factory(role)->device().virtual_device()->options(); };
  const auto checks = [](const vgpu::DeviceOptions& device) { return device.checkers == vgpu::CheckerSet::All(); };
  EXPECT_TRUE(checks(options_of(Role::kMeasured)));
  EXPECT_TRUE(options_of(Role::kMeasured).usual_turns);
  EXPECT_TRUE(options_of(Role::kMeasured).counters);
  EXPECT_TRUE(checks(options_of(Role::kChecked)));
  EXPECT_FALSE(options_of(Role::kChecked).usual_turns);
  EXPECT_FALSE(checks(options_of(Role::kReference)));
}

TEST_F(EvidenceJudgeTest, FailingReferenceIsTheHarnesssFault) {
  auto suite = MakeSuite({15, -1});
  Evidence evidence = MakeEvidence(*suite);
  EXPECT_THROW(evidence.Judge(suite->assignment().criteria[0], kTest), HarnessError);
}

TEST_F(EvidenceJudgeTest, NeedsNoReferenceUnlessTheMetricDoes) {
  auto suite = MakeSuite({5, 0}, false);
  Evidence evidence = MakeEvidence(*suite);
  EvidenceCriterion criterion = suite->assignment().criteria[0];
  EXPECT_EQ(evidence.Judge(criterion, kTest).result.verdict, Verdict::kPass);
  criterion.metric = ParseMetric("divergent_branches / reference.divergent_branches");
  EXPECT_THROW(evidence.Judge(criterion, kTest), HarnessError);
}

TEST_F(EvidenceJudgeTest, RanksWhatWasMeasured) {
  auto suite = MakeSuite({12, 8});
  Evidence evidence = MakeEvidence(*suite);
  const auto ranked = [&](const char* metric) {
    return Rank({ParseMetric(metric), "r1_slow"}, suite->results(), Options());
  };
  EXPECT_FALSE(ranked("divergent_branches").value) << "nothing ran";
  evidence.Submission("r1_slow");
  EXPECT_EQ(ranked("divergent_branches").value, 12);
  EXPECT_FALSE(ranked("divergent_branches").reference);
  EXPECT_FALSE(ranked("divergent_branches / reference.divergent_branches").value);
  EXPECT_FALSE(ranked("divergent_branches / r2_fast.divergent_branches").value);
  evidence.Reference("r1_slow");
  EXPECT_EQ(ranked("divergent_branches").reference, 8);
  EXPECT_EQ(ranked("divergent_branches / reference.divergent_branches").value, 1.5);
  EXPECT_EQ(ranked("divergent_branches / reference.divergent_branches").reference, 1);
  evidence.Submission("r2_fast");
  EXPECT_EQ(ranked("divergent_branches / r2_fast.divergent_branches").value, 1);
}

// Evidence may have an old device's times; the leaderboard's times are those of the device that the tests ran on.
TEST_F(EvidenceJudgeTest, RanksByTheTimeOnTheTestsDevice) {
  const Ranking ranking{ParseMetric("microseconds"), "r1_slow"};
  for (const char* timed_as : {"h200", "g80"}) {
    Options options;
    options.evidence_profile = timed_as;
    auto suite = MakeSuite({12, 8}, true, options);
    Evidence evidence = MakeEvidence(*suite);
    evidence.Submission("r1_slow");
    evidence.Reference("r1_slow");
    const RungProfile& profile = suite->results().profiles[0];
    const double on_h200 = vgpu::EstimateTime(profile.launches[0], *vgpu::FindProfile("h200")).microseconds;
    const RankingResult ranked = Rank(ranking, suite->results(), options);
    EXPECT_EQ(ranked.profile, "h200");
    EXPECT_EQ(ranked.value, profile.device_microseconds ? on_h200 : 20) << timed_as;
    EXPECT_EQ(profile.device_microseconds.has_value(), options.evidence_profile == "g80");
    EXPECT_TRUE(ranked.reference);
    EXPECT_EQ(profile.microseconds, 20) << "the evidence's own time stays";
    EXPECT_EQ(Rank({ParseMetric("divergent_branches"), "r1_slow"}, suite->results(), options).value, 12);
  }
}

// With --one-failure a failed test settles its rung, unless the rung was not begun: then a later test's message comes
// first.
TEST_F(EvidenceJudgeTest, OneFailureSettlesItsRung) {
  Options options;
  for (const bool one_failure : {false, true}) {
    options.one_failure = one_failure;
    Suite suite(options, Ladder(), "full", 7, [](Role) { return nullptr; });
    TestResult test;
    test.rung = "r1_slow";
    suite.results().tests = {test};
    EXPECT_FALSE(suite.IsSettled("r1_slow"));
    test.verdict = Verdict::kWrong;
    test.unfinished = true;
    suite.results().tests.push_back(test);
    EXPECT_FALSE(suite.IsSettled("r1_slow"));
    test.unfinished = false;
    suite.results().tests.push_back(test);
    EXPECT_EQ(suite.IsSettled("r1_slow"), one_failure);
    EXPECT_FALSE(suite.IsSettled("r2_fast"));
  }
}

TEST_F(EvidenceJudgeTest, Table) {
  auto suite = MakeSuite({12, 8});
  suite->results().device = {"vgpu", "h200", "NVIDIA H200", 1};
  EXPECT_EQ(LadderTable(*suite, false), "");
  Evidence evidence = MakeEvidence(*suite);
  evidence.Submission("r1_slow");
  evidence.Judge(suite->assignment().criteria[0], kTest);
  ExpectGolden("ladder_table.txt", LadderTable(*suite, false));
  EXPECT_NE(LadderTable(*suite, true).find("\033[1m"), std::string::npos);
}

// Rungs that launch no kernels, each with its own size: the evidence is what the host code requested.
TEST_F(EvidenceJudgeTest, TableOfCopies) {
  auto suite = MakeSuite({12, 8});
  ApiCounts api;
  api.copies_to_device = api.copies_to_host = 1;
  api.bytes_to_device = api.bytes_to_host = 4000;
  suite->results().profiles = {MakeProfile("r1_slow", "submission", 1000, {}, api)};
  ExpectGolden("ladder_table_copies.txt", LadderTable(*suite, false));
  api.copies_on_device = 2;
  api.bytes_on_device = 8000;
  suite->results().profiles.push_back(MakeProfile("r2_fast", "submission", 2000, {}, api));
  ExpectGolden("ladder_table_copies_sizes.txt", LadderTable(*suite, false));
}

TEST(EvidenceNameTest, TitleBecomesATestName) {
  EXPECT_EQ(TestNameOf("Bank conflicts gone"), "BankConflictsGone");
  EXPECT_EQ(TestNameOf("Grid bounded (at 64)"), "GridBoundedAt64");
}

}  // namespace judge_evidence_test
}  // namespace lockstep::judge
