#include "judge/suite/timing_criteria.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "judge/model/text.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::judge {
namespace {

std::string Number(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

const char* BaseName(TimingBase base) {
  return base == TimingBase::kReference ? "the reference's time" : "a plain copy's time";
}

std::string FigureText(const Estimate& figure) {
  return Number("%.3f", figure.value) + " (95 % sure: " + Number("%.3f", figure.low) + " to " +
         Number("%.3f", figure.high) + ")";
}

class TimingTest : public testing::Test {
 public:
  TimingTest(Timings& timings, const TimingCriterion& criterion) : timings_(timings), criterion_(criterion) {}

  void TestBody() override {
    const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = std::string(info->test_suite_name()) + "." + info->name();
    Timings::Judgement judgement;
    try {
      judgement = timings_.Judge(criterion_, name);
    } catch (const std::exception& error) {
      Problem problem;
      problem.verdict = Verdict::kHarness;
      problem.place = criterion_.rung;
      problem.evidence = {error.what()};
      judgement.result.criterion = criterion_.id;
      judgement.result.rung = criterion_.rung;
      judgement.result.verdict = Verdict::kHarness;
      judgement.result.message = MessageOf(problem, name);
    }
    Suite& suite = Suite::Get();
    suite.results().timings.push_back(judgement.result);
    const std::string text = Printable(judgement.result.message.Whole());
    if (judgement.result.verdict == Verdict::kPass) {
      std::printf("  %s\n", text.c_str());
      return;
    }
    ShowAt(suite.assignment().submission, 0, text,
           judgement.unfinished ? testing::TestPartResult::kSkip : testing::TestPartResult::kNonFatalFailure);
  }

 private:
  Timings& timings_;
  const TimingCriterion& criterion_;
};

// The rung's first failed test; nullptr if none failed, or none ran.
const TestResult* FailedTest(const Results& results, const std::string& rung) {
  const auto failed = std::find_if(results.tests.begin(), results.tests.end(), [&](const TestResult& test) {
    return test.rung == rung && test.verdict != Verdict::kPass;
  });
  return failed == results.tests.end() ? nullptr : &*failed;
}

}  // namespace

const Timing& Timings::Of(const std::string& rung) {
  const auto known = timings_.find(rung);
  if (known != timings_.end()) return known->second;
  const Assignment& assignment = suite_.assignment();
  const uint64_t elements = assignment.TimingElements(rung);
  const CallContext context{rung, "n = " + Grouped(elements) + ", timed", assignment.submission};
  const auto enough = [&](const Timing& timing) {
    return std::all_of(assignment.timings.begin(), assignment.timings.end(), [&](const TimingCriterion& criterion) {
      return criterion.rung != rung || Decides(timing.Figure(criterion.base), criterion.budget, limits_.tolerance);
    });
  };
  Runner* const reference = suite_.has_runner(Role::kTimedReference) ? &suite_.runner(Role::kTimedReference) : nullptr;
  Timing timing = TimeRung(suite_.runner(Role::kPlain), reference, RegisteredWorkload(), context, elements,
                           SeedFor(suite_.seed(), "timing " + rung), limits_, enough);
  return timings_.emplace(rung, std::move(timing)).first->second;
}

Timings::Judgement Timings::Judge(const TimingCriterion& criterion, const std::string& test) {
  Judgement judgement;
  TimingResult& result = judgement.result;
  result.criterion = criterion.id;
  result.rung = criterion.rung;
  if (const TestResult* failed = FailedTest(suite_.results(), criterion.rung)) {
    judgement.unfinished = true;
    result.verdict = failed->verdict;
    result.message.headline =
        criterion.rung + " is not timed: its tests have to pass first, and " + failed->name + " does not";
    return judgement;
  }
  const Timing& timing = Of(criterion.rung);
  result.elements = timing.elements;
  result.least_bytes = timing.least_bytes;
  result.throttled = timing.throttled;
  result.calls = timing.calls;
  result.gpu = timing.gpu;
  if (const Problem* worst = Worst(timing.problems)) {
    judgement.unfinished = worst->unfinished;
    result.verdict = worst->verdict;
    result.message = MessageOf(*worst, test);
    return judgement;
  }
  result.repeats = static_cast<int>(timing.submission.size());
  const Estimate figure = timing.Figure(criterion.base);
  result.figure = figure;
  result.microseconds = 1e6 * Median(timing.submission);
  result.reference_microseconds = 1e6 * Median(timing.reference);
  result.copy_microseconds = 1e6 * Median(timing.copy);
  const double gigabytes = static_cast<double>(timing.least_bytes) / 1e9;
  Problem problem;
  problem.place = criterion.rung + ", n = " + Grouped(timing.elements);
  const std::string reference_text =
      timing.reference.empty() ? "" : "; the reference " + Number("%.2f", result.reference_microseconds) + " µs";
  problem.evidence = {
      {"timed", Number("%.2f", result.microseconds) + " µs a call, " +
                    Number("%.0f", gigabytes / (1e-6 * result.microseconds)) + " GB/s" + reference_text +
                    "; a copy of as many bytes " + Number("%.2f", result.copy_microseconds) + " µs"},
      {"figure", std::string(BaseName(criterion.base)) + " is " + FigureText(figure) + " of yours, in " +
                     std::to_string(result.repeats) + " repeats of " + std::to_string(timing.calls) + " calls"}};
  if (timing.throttled) problem.evidence.emplace_back("note", "the GPU reduced its clocks");
  if (!Decides(figure, criterion.budget, limits_.tolerance)) {
    problem.verdict = result.verdict = Verdict::kHarness;
    problem.evidence.push_back("the repeats vary too much to decide: inconclusive, run it again");
    result.figure.reset();
  } else if (!criterion.budget.Met(figure.value)) {
    problem.verdict = result.verdict = Verdict::kSlow;
    problem.evidence.emplace_back("budget", BudgetText(criterion.budget) + ": earns " +
                                                Number("%.0f", 100 * criterion.budget.Fraction(figure.value)) + " %");
    problem.hint = criterion.hint;
  }
  if (result.verdict != Verdict::kPass) {
    result.message = MessageOf(problem, test);
  } else {
    result.message.headline = problem.evidence.front().Rendered();
    result.message.lines.assign(problem.evidence.begin() + 1, problem.evidence.end());
  }
  return judgement;
}

void RegisterTimingTests(Timings& timings) {
  Suite& suite = Suite::Get();
  if (suite.options().device != DeviceKind::kCuda || !RegisteredWorkload()) return;
  const std::vector<std::string> rungs = suite.SelectedRungs();
  for (const TimingCriterion& criterion : suite.assignment().timings) {
    if (std::find(rungs.begin(), rungs.end(), criterion.rung) == rungs.end()) continue;
    if (criterion.base == TimingBase::kReference && suite.options().reference.empty()) continue;
    const std::string name = TestNameOf(criterion.title) + "/" + criterion.rung;
    testing::RegisterTest("Timing", name.c_str(), nullptr, nullptr, __FILE__, __LINE__,
                          [&timings, &criterion]() -> testing::Test* { return new TimingTest(timings, criterion); });
  }
}

}  // namespace lockstep::judge
