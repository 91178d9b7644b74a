// The judgement of each criterion, as a test of its own.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <list>

#include "judge/model/text.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace {

// For a missed budget: never 100 %.
std::string Percent(double fraction) { return std::to_string(std::min(std::lround(100 * fraction), 99L)) + " %"; }

// The lines with the largest share of the count, most expensive first.
std::vector<vgpu::MessageLine> CostlyLines(const RungProfile& profile, const std::string& counter) {
  constexpr double kWorthALine = 0.01;  // share of the most expensive line
  std::vector<vgpu::MessageLine> found;
  double most = 0;
  std::string words = counter;
  std::replace(words.begin(), words.end(), '_', ' ');
  for (const vgpu::LineCounters& line : CostliestLines(profile, counter, 3)) {
    RungProfile one;
    one.counters = line.counters;
    const double cost = FigureOf(one, counter).value_or(0);
    most = std::max(most, cost);
    if (cost < kWorthALine * most) break;
    const bool has_conflicts = counter == "shared_wavefronts" && line.counters.shared_conflicts() > 0;
    const std::string ideal = Figure(static_cast<double>(line.counters.shared_wavefronts_ideal));
    found.emplace_back(found.empty() ? "costly" : " ",
                       line.file + ":" + std::to_string(line.line) + "  " + Figure(cost) + " " + words +
                           (has_conflicts ? ", " + ideal + " without bank conflicts" : ""),
                       line.file, line.line);
  }
  return found;
}

class EvidenceTest : public testing::Test {
 public:
  EvidenceTest(Evidence& evidence, const EvidenceCriterion& criterion) : evidence_(evidence), criterion_(criterion) {}

  void TestBody() override {
    if (Suite::Get().IsSettled(criterion_.rung)) GTEST_SKIP();
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string(info->test_suite_name()) + "." + info->name();
    Evidence::Judgement judgement;
    try {
      judgement = evidence_.Judge(criterion_, name);
    } catch (const std::exception& error) {
      judgement.file = Suite::Get().assignment().submission;
      judgement.result = {
          criterion_.id, criterion_.rung, criterion_.metric.text, std::nullopt, Verdict::kHarness, {}, ""};
      Problem problem;
      problem.verdict = Verdict::kHarness;
      problem.place = criterion_.rung;
      problem.evidence = {error.what()};
      judgement.result.message = MessageOf(problem, name);
    }
    Suite::Get().results().evidence.push_back(judgement.result);
    if (judgement.result.verdict == Verdict::kPass) return;
    const std::string text = Printable(judgement.result.message.Whole());
    ShowAt(judgement.file, judgement.line, text,
           judgement.unfinished ? testing::TestPartResult::kSkip : testing::TestPartResult::kNonFatalFailure);
  }

 private:
  Evidence& evidence_;
  const EvidenceCriterion& criterion_;
};

}  // namespace

// NOLINTNEXTLINE(readability-function-size): the kinds of criteria, one after another
Evidence::Judgement Evidence::Judge(const EvidenceCriterion& criterion, const std::string& test) {
  Judgement judgement;
  EvidenceResult& result = judgement.result;
  result = {criterion.id, criterion.rung, criterion.metric.text, std::nullopt, Verdict::kPass, {}, ""};
  const Assignment& assignment = suite_.assignment();
  judgement.file = assignment.submission;
  const auto not_measured = [&](const std::string& rung, const Problem& problem) {
    Problem shown = problem;
    shown.evidence.insert(shown.evidence.begin(),
                          "not measured: " + rung + " has to be right at n = " + Grouped(Submission(rung).elements));
    judgement.unfinished = problem.unfinished;
    result.verdict = problem.verdict;
    result.message = MessageOf(problem.unfinished ? problem : shown, test);
  };
  if (const Problem* worst = Worst(Submission(criterion.rung).problems)) {
    not_measured(criterion.rung, *worst);
    return judgement;
  }
  const auto profile_of = [&](std::string_view scope, const std::string& rung) -> const RungProfile* {
    if (scope == kReferenceScope) return Reference(rung);
    const Measurement& measurement = Submission(scope.empty() ? rung : std::string(scope));
    return measurement.profile ? &*measurement.profile : nullptr;
  };
  // If another rung's run is missing, its problem replaces the metric's, and there is no value.
  const auto value_of = [&](const Metric& metric) -> std::optional<double> {
    const auto value = Evaluate(metric, [&](std::string_view scope) { return profile_of(scope, criterion.rung); });
    if (value) return value;
    for (const std::string& scope : ScopesOf(metric)) {
      if (scope.empty() || scope == kReferenceScope) continue;
      if (const Problem* worst = Worst(Submission(scope).problems)) {
        not_measured(scope, *worst);
        return std::nullopt;
      }
    }
    throw HarnessError(metric.text + " has no value: is there a reference? --reference=PATH");
  };
  const std::optional<double> value = value_of(criterion.metric);
  if (!value) return judgement;
  const Condition* unmet_here = nullptr;
  for (const Condition& condition : criterion.only_where) {
    const std::optional<double> measured = value_of(condition.metric);
    if (!measured) return judgement;
    // A condition that fails already at the assignment's size is reported for that size.
    if (unmet_here == nullptr && !condition.Holds(*measured) && criterion.budget.Fraction(*value) > 0) {
      result.unmet = UnmetText(condition, *measured);
      unmet_here = &condition;
    }
  }
  const RungProfile* where = nullptr;
  bool is_too_slow = false;
  constexpr double kWorthALook = 0.01;  // of the points: a criterion worth less is not checked at other sizes
  if (unmet_here == nullptr && criterion.budget.Fraction(*value) > kWorthALook) {
    result.unmet = UnmetElsewhere(criterion, Submission(criterion.rung), where);
    if (result.unmet.empty()) {
      result.unmet = TooSlow(criterion.rung, Submission(criterion.rung), where);
      is_too_slow = !result.unmet.empty();
    }
  }
  result.value = value;
  // The reference's value for comparison, unless the metric compares with it anyway.
  std::optional<double> reference;
  if (Reference(criterion.rung) != nullptr) {
    reference = Evaluate(criterion.metric, [&](std::string_view scope) {
      return Reference(scope.empty() || scope == kReferenceScope ? criterion.rung : std::string(scope));
    });
  }
  Problem problem;
  problem.place = criterion.rung + ", n = " + Grouped(assignment.EvidenceElements(criterion.rung));
  problem.evidence = {
      {"counted", criterion.metric.text + " = " + FigureApart(*value, criterion.budget.full)},
      {"budget", BudgetText(criterion.budget) +
                     (result.unmet.empty() ? ": earns " + Percent(criterion.budget.Fraction(*value)) : "")}};
  if (!result.unmet.empty()) problem.evidence.emplace_back("but", result.unmet + ": earns nothing");
  if (reference) problem.evidence.emplace_back("compare", "the reference has " + Figure(*reference));
  if (result.unmet.empty() && criterion.budget.Met(*value)) {
    result.message.headline = criterion.metric.text + " = " + Figure(*value) +
                              (reference ? "; the reference's " + Figure(*reference) : "") + "; " +
                              BudgetText(criterion.budget);
    return judgement;
  }
  problem.verdict = result.verdict = Verdict::kSlow;
  const Metric& missed = unmet_here != nullptr ? unmet_here->metric : criterion.metric;
  const std::string counted = FigureText(missed.numerator.counter);
  problem.hint = result.unmet.empty() ? HintText(criterion.hint)
                 : unmet_here != nullptr
                     ? HintText(Hint::kBudgetBefore, {missed.text + (counted.empty() ? "" : " (" + counted + ")")})
                 : is_too_slow
                     ? HintText("whatever the counts, it takes too long: let all lanes of many blocks share the work")
                     : HintText(Hint::kEverySize, {criterion.hint.empty() ? "" : ". " + criterion.hint});
  const std::string& counter = missed.numerator.counter;
  if (const RungProfile* profile = where != nullptr ? where : profile_of(missed.numerator.scope, criterion.rung)) {
    if (profile->timeline && IsTimelineFigure(counter) && !profile->timeline->remark.text.empty()) {
      problem.evidence.push_back(profile->timeline->remark);
      judgement.line = profile->timeline->remark.line;
    }
    std::vector<vgpu::MessageLine> costly = CostlyLines(*profile, counter);
    if (judgement.line == 0 && !costly.empty()) {
      judgement.file = costly.front().file;
      judgement.line = costly.front().line;
    }
    std::ranges::move(costly, std::back_inserter(problem.evidence));
  }
  result.message = MessageOf(problem, test);
  return judgement;
}

RankingResult Rank(const Ranking& ranking, const Results& results, const Options& options) {
  const bool is_other = options.profile != options.evidence_profile;
  std::list<RungProfile> timed;  // arguments of Evaluate must not move
  const auto on_device = [&](const RungProfile* measured) -> const RungProfile* {
    if (measured == nullptr || !is_other) return measured;
    if (!measured->device_microseconds) return nullptr;
    RungProfile& profile = timed.emplace_back(*measured);
    profile.microseconds = *measured->device_microseconds;
    return &profile;
  };
  const auto value_from = [&](std::string_view own) {
    return Evaluate(ranking.metric, [&](std::string_view scope) {
      const bool is_rung = !scope.empty() && scope != kReferenceScope;
      const std::string_view source = scope == kReferenceScope ? kReferenceScope : own;
      return on_device(results.FindProfile(is_rung ? scope : ranking.rung, source));
    });
  };
  const std::string& profile = is_other ? options.profile : options.evidence_profile;
  return {ranking.rung, ranking.metric.text, profile, value_from("submission"), value_from("reference")};
}

std::string BudgetText(const Budget& budget) {
  return budget.LowerIsBetter()
             ? "full marks up to " + Figure(budget.full) + ", none from " + Figure(budget.none) + " on"
             : "full marks from " + Figure(budget.full) + " on, none up to " + Figure(budget.none);
}

std::string UnmetText(const Condition& condition, double value) {
  return "counts only if " + condition.metric.text + (condition.at_most ? " is at most " : " is at least ") +
         Figure(condition.bound) + "; here it is " + FigureApart(value, condition.bound);
}

std::string TestNameOf(std::string_view title) {
  std::string name;
  bool capital = true;
  for (const char c : title) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0) {
      name += capital ? static_cast<char>(std::toupper(byte)) : c;
      capital = false;
    } else {
      capital = true;
    }
  }
  return name;
}

void RegisterEvidenceTests(Evidence& evidence) {
  const Assignment& assignment = Suite::Get().assignment();
  const std::vector<std::string> rungs = Suite::Get().SelectedRungs();
  for (const EvidenceCriterion& criterion : assignment.criteria) {
    if (std::find(rungs.begin(), rungs.end(), criterion.rung) == rungs.end()) continue;
    const std::string name = TestNameOf(criterion.title) + "/" + criterion.rung;
    testing::RegisterTest(
        "Evidence", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
        [&evidence, &criterion]() -> testing::Test* { return new EvidenceTest(evidence, criterion); });
  }
}

}  // namespace lockstep::judge
