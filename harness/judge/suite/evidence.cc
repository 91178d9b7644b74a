#include "judge/suite/evidence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <list>
#include <utility>

#include "judge/input/inputs.h"
#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "judge/suite/launcher_test.h"
#include "vgpu/core/hint.h"
#include "vgpu/device/device.h"
#include "vgpu/model/time_model.h"

namespace lockstep::judge {
namespace {

constexpr size_t kMostAdvised = 10;                  // kernels
constexpr uint64_t kComparable = uint64_t{1} << 16;  // elements from which a fixed cost hardly matters

// For a missed budget: never 100 %.
std::string Percent(double fraction) { return std::to_string(std::min(std::lround(100 * fraction), 99L)) + " %"; }

// Figures that depend only on the number of elements, not on how threads share the work.
bool IsTraffic(const std::string& counter) {
  constexpr std::string_view kFigures[] = {"elements",       "sectors",       "store_sectors", "requests",
                                           "store_requests", "wasted_passes", "max_blocks",    "launches",
                                           "own_launches",   "pageable_bytes"};
  const auto& api = AllApiCounts();
  return std::find(std::begin(kFigures), std::end(kFigures), counter) != std::end(kFigures) ||
         std::any_of(api.begin(), api.end(), [&](const ApiCountInfo& info) { return info.name == counter; });
}

bool NeedsReference(const EvidenceCriterion& criterion) {
  const std::vector<std::string> scopes = ScopesOf(criterion.metric);
  return std::find(scopes.begin(), scopes.end(), kReferenceScope) != scopes.end();
}

// The test of one criterion.
// While it lives, launches run as they are counted: in the usual order, and checked only if asked.
class CountedTurns {
 public:
  CountedTurns(vgpu::Device& device, bool checked) : device_(device) {
    device_.set_usual_turns(true);
    device_.set_checked(checked);
  }
  ~CountedTurns() {
    device_.set_checked(true);
    device_.set_usual_turns(false);
  }
  CountedTurns(const CountedTurns&) = delete;
  CountedTurns& operator=(const CountedTurns&) = delete;

 private:
  vgpu::Device& device_;
};

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

// A kernel in the default stream, which serialises it with other streams; "" if there is none.
vgpu::MessageLine DefaultStreamLine(const CallReport& report) {
  const auto is_default = [](const worker::ApiCall& call) { return call.stream == kDefaultStream; };
  const auto launch = std::ranges::find_if(report.trace, [&](const worker::ApiCall& call) {
    return call.kind == worker::ApiKind::kLaunch && is_default(call);
  });
  const bool has_others = std::ranges::any_of(report.trace, [&](const worker::ApiCall& call) {
    return call.kind != worker::ApiKind::kOther && !call.stream.empty() && !is_default(call);
  });
  if (launch == report.trace.end() || !has_others) return "";
  return LineAt("but", launch->call_site,
                Printable(launch->kernel_name) +
                    " is in the default stream, which waits for all others and they for "
                    "it: its launch needs the stream, <<<blocks, threads, 0, stream>>>");
}

// Adds the time on the device that the tests run on, if evidence is modelled on another.
RungProfile ProfileOf(const std::string& rung, const char* source, uint64_t elements, const CallReport& report,
                      const Suite& suite) {
  const Options& options = suite.options();
  RungProfile profile = MakeProfile(rung, source, elements, report.launches, report.api);
  const vgpu::DeviceProfile* modelled = vgpu::FindProfile(options.evidence_profile);
  if (suite.assignment().evidence_timeline && modelled != nullptr) {
    profile.timeline = MakeTimeline(report.operations, report.launches, *modelled);
    profile.timeline->remark = DefaultStreamLine(report);
  }
  if (options.profile == options.evidence_profile) return profile;
  if (const vgpu::DeviceProfile* device = vgpu::FindProfile(options.profile)) {
    profile.device_microseconds = 0;
    for (const vgpu::LaunchRecord& launch : report.launches) {
      *profile.device_microseconds += vgpu::EstimateTime(launch, *device).microseconds;
    }
  }
  return profile;
}

constexpr int kAlikeCalls = 9;
constexpr double kAlike = 1.35;  // limit of the ratio between calls of nearly equal size
constexpr double kNarrow = 1.1;

bool IsNarrow(const Budget& budget) { return budget.LowerIsBetter() && budget.none <= kNarrow * budget.full; }

bool IsFar(Draw draw) { return draw == Draw::kWide || draw == Draw::kAlike; }

// The number of launches of a search depends on the data.
bool IsAlike(const Metric& metric) {
  return HoldsElsewhere(metric, Draw::kRound) && metric.numerator.counter != "launches";
}

// The recorded reference's times for fewer elements: half of them scaled, half constant. This is at least the true time
// if less than half is launch overhead.
RungProfile Scaled(RungProfile profile, uint64_t elements) {
  const double part = (1 + static_cast<double>(elements) / static_cast<double>(profile.elements)) / 2;
  profile.elements = elements;
  profile.microseconds *= part;
  if (profile.timeline) {
    for (const TimelineFigureInfo& info : AllTimelineFigures()) (*profile.timeline).*info.field *= part;
  }
  return profile;
}

}  // namespace

bool Evidence::IsDrawn(const std::string& rung) const {
  const Assignment& assignment = suite_.assignment();
  return assignment.evidence_drawn &&
         std::any_of(assignment.criteria.begin(), assignment.criteria.end(), [&](const EvidenceCriterion& criterion) {
           return criterion.rung == rung && HoldsElsewhere(criterion.metric, Draw::kRound);
         });
}

void Evidence::MakeSmallCalls(const std::string& rung, const SeedKey& seed) {
  Random random(SeedFor(seed, "small calls"));
  const auto most = static_cast<int64_t>(std::min<uint64_t>(suite_.assignment().EvidenceElements(rung) / 2, 2048));
  for (int64_t calls = random.Between(1, 4); calls > 0; --calls) {
    const EvidenceCase few{static_cast<uint64_t>(random.Between(2, most)), SeedFor(seed, std::to_string(calls)), true};
    run_(suite_.runner(Role::kChecked), rung, few);
  }
}

EvidenceCase Evidence::Drawn(const std::string& rung, Draw draw, const SeedKey& seed, bool is_larger) const {
  constexpr uint64_t kMany = uint64_t{1} << 22, kRoundTo = 4096;
  const auto most = static_cast<int64_t>(std::min(suite_.assignment().EvidenceElements(rung), kMany));
  Random random(SeedFor(seed, "size"));
  // Far enough apart that the larger one is larger in any shape.
  const int64_t from = most * (is_larger ? 29 : 24) / 32, to = most * (is_larger ? 31 : 27) / 32;
  EvidenceCase one{static_cast<uint64_t>(random.Between(from + 1, to - 1)), seed, /*drawn=*/true};
  if (draw == Draw::kWide) {
    const int64_t upper = most >> random.Between(1, 2);
    one.elements = static_cast<uint64_t>(random.Between(upper / 2 + 1, upper));
  } else if (draw == Draw::kRound) {
    one.elements = (one.elements + kRoundTo - 1) / kRoundTo * kRoundTo;
    one.round = true;
  }
  return one;
}

// Up to a sixth larger, in whole blocks. A timeline has few operations, so the size hardly changes.
EvidenceCase Evidence::Alike(EvidenceCase one, int64_t part) const {
  const bool is_timed = suite_.assignment().evidence_timeline;
  const uint64_t more = one.elements * static_cast<uint64_t>(part) / (is_timed ? 8192 : 1536);
  const uint64_t unit = std::clamp<uint64_t>(std::bit_floor(one.elements / 16), 1, is_timed ? 256 : 4096);
  one.elements = (one.elements + more) / unit * unit;
  one.round = true;
  one.seed = SeedFor(one.seed, std::to_string(part));
  return one;
}

void Evidence::MeasureElsewhere(const std::string& rung, Draw draw, EvidenceCase one, Measurement& measurement) {
  // If counted, uses the worker that the tests have been calling: a new one could recognise its first calls as measured
  // ones.
  const bool is_counted = suite_.options().device == DeviceKind::kVgpu;
  Runner& runner = suite_.runner(is_counted ? Role::kChecked : Role::kMeasured);
  // Polling costs traffic, and perturbed block orders cause more of it.
  // One draw near the size runs with the checkers, like the tests and the run that earns the points. The others only
  // measure: code can't gain from a race there.
  std::optional<CountedTurns> turns;
  if (vgpu::Device* const device = runner.device().virtual_device(); is_counted && device != nullptr) {
    turns.emplace(*device, draw == Draw::kAny);
  }
  EvidenceRun run = run_(runner, rung, one);
  turns.reset();
  if (run.elements != 0) one.elements = run.elements;
  if (!run.problems.empty()) {
    if (!measurement.problems.empty()) return;
    measurement.problems = std::move(run.problems);
    measurement.elements = one.elements;
    return;
  }
  // With the evidence's clock, as for the reference.
  const vgpu::DeviceProfile* clock = vgpu::FindProfile(suite_.options().evidence_profile);
  if (is_counted && clock != nullptr) {
    for (vgpu::LaunchRecord& launch : run.report.launches) {
      launch.microseconds = vgpu::EstimateTime(launch, *clock).microseconds;
    }
  }
  Measurement::Elsewhere& elsewhere =
      measurement.elsewhere.emplace_back(draw, ProfileOf(rung, "submission", one.elements, run.report, suite_));
  elsewhere.held_bytes = run.report.held_bytes;
  const std::vector<EvidenceCriterion>& criteria = suite_.assignment().criteria;
  const bool compares = std::any_of(criteria.begin(), criteria.end(), [&](const EvidenceCriterion& criterion) {
    return criterion.rung == rung && NeedsReference(criterion);
  });
  if (!compares) return;
  if (!suite_.has_runner(Role::kReference)) {
    const RungProfile* recorded = Reference(rung);
    if (recorded != nullptr) elsewhere.reference = Scaled(*recorded, one.elements);
    return;
  }
  const EvidenceRun other = run_(suite_.runner(Role::kReference), rung, one);
  if (const Problem* worst = Worst(other.problems)) {
    throw HarnessError("the reference's " + rung + " failed: " + FormatProblem(*worst, "evidence"));
  }
  elsewhere.reference = ProfileOf(rung, "reference", one.elements, other.report, suite_);
}

// Memory for later calls grows with the largest size so far, in few of the alike calls; what is never freed grows in all.
void Evidence::CheckKeepsNoMore(const std::string& rung, Measurement& measurement) const {
  if (!measurement.problems.empty()) return;
  const Measurement::Elsewhere* before = nullptr;
  int grown = 0, calls = 0;
  for (const Measurement::Elsewhere& there : measurement.elsewhere) {
    if (there.draw != Draw::kAlike) continue;
    if (before != nullptr && there.held_bytes > before->held_bytes) ++grown;
    before = &there, ++calls;
  }
  if (before == nullptr || grown + 1 < calls) return;
  measurement.elements = before->profile.elements;
  measurement.problems.push_back(
      MakeProblem(Verdict::kApi, {rung, "n = " + Grouped(measurement.elements), suite_.assignment().submission},
                  {"each of " + Counted(static_cast<uint64_t>(calls), "call") +
                   " of nearly one size left more device memory allocated"},
                  "each cudaMalloc needs its cudaFree, on every path out of the function"));
}

// A figure extrapolated to this size with the growth per element near the assignment's size. Any excess is a fixed cost
// of the grid, shared by fewer elements.
double Evidence::ExpectedAt(const MetricTerm& term, const Measurement& measurement, uint64_t elements) {
  const double here = FigureOf(*measurement.profile, term.counter).value_or(0);
  double expected = 0;
  for (const Measurement::Elsewhere& one : measurement.elsewhere) {
    if (IsFar(one.draw)) continue;
    if (one.profile.elements >= measurement.profile->elements) return here;
    const double there = FigureOf(one.profile, term.counter).value_or(0);
    const double slope = (here - there) / static_cast<double>(measurement.profile->elements - one.profile.elements);
    expected = std::max(expected, here - slope * static_cast<double>(measurement.profile->elements - elements));
  }
  return std::min(expected, here);
}

// A metric's value at the assignment's own size.
std::optional<double> Evidence::ValueHere(const Metric& metric, const std::string& rung,
                                          const Measurement& measurement) {
  return Evaluate(metric, [&](std::string_view scope) {
    return scope == kReferenceScope ? Reference(rung) : &*measurement.profile;
  });
}

// Bytes that threads load and store for each element: alignment changes requests and sectors, and not these.
double BytesEach(const RungProfile& profile) {
  return static_cast<double>(profile.counters.global_load_bytes + profile.counters.global_store_bytes) /
         static_cast<double>(profile.elements);
}

// Why a criterion does not count, from its values at drawn sizes, and `where`; "" if it counts.
std::string Evidence::UnmetElsewhere(const EvidenceCriterion& criterion, const Measurement& measurement,
                                     const RungProfile*& where) {
  const auto compare = [&](const Metric& metric, const Budget& budget,
                           const Measurement::Elsewhere& there) -> std::string {
    const bool is_small = measurement.profile->elements < kComparable;
    if (!HoldsElsewhere(metric, there.draw)) return "";
    // With few elements fixed costs dominate, so a ratio is compared only where its fixed part can be extrapolated.
    if (is_small && IsFar(there.draw) && metric.denominator && !budget.LowerIsBetter()) return "";
    const auto value = Evaluate(metric, [&](std::string_view scope) {
      if (scope != kReferenceScope) return &there.profile;
      return there.reference ? &*there.reference : nullptr;
    });
    const auto measured = ValueHere(metric, criterion.rung, measurement);
    if (!value || !measured) return "";
    // A ratio to the reference at the same size needs no tolerance: size affects both.
    const bool compares = metric.denominator && metric.denominator->scope == kReferenceScope;
    const bool is_near = !IsFar(there.draw);
    double bound = BoundElsewhere(budget, *measured, compares && is_near ? Draw::kRound : there.draw,
                                  IsTraffic(metric.numerator.counter) || (is_small && metric.denominator.has_value()));
    // A tenth of it exceeds a narrow budget's range.
    if (compares && is_near && IsNarrow(budget)) bound = std::min(bound, std::max(budget.full, 1.05 * *measured));
    double usual = *measured;  // if each element costs as much as at the assignment's size, or fixed costs do
    if (!is_near && budget.LowerIsBetter()) {
      const double expected = ExpectedAt(metric.numerator, measurement, there.profile.elements);
      const double counted = FigureOf(there.profile, metric.numerator.counter).value_or(0);
      constexpr double kRoom = 1.3;
      const double extrapolated = counted > 0 ? *value * expected / counted : 0;
      usual = std::max(usual, extrapolated);
      double room = kRoom * extrapolated;
      // A value far below `full` should not reach `none`, unless few elements share a fixed cost.
      if (*measured <= budget.full / 2 && !is_small) room = std::min(room, budget.none);
      bound = std::max(bound, room);
      if (compares) bound = std::max(bound, budget.none);  // fewer elements take a fixed part of the reference's time
    }
    // Work that is done twice is more than any size of whole blocks explains, or than alignment, unless it is little.
    constexpr double kTwice = 1.8, kTwiceTheBytes = 1.9, kLittle = 1.25;
    const bool is_whole = there.draw == Draw::kRound || there.draw == Draw::kAlike;
    const bool is_again = is_near && BytesEach(there.profile) >= kTwiceTheBytes * BytesEach(*measurement.profile);
    if ((is_whole || is_again) && budget.LowerIsBetter() && metric.denominator && !compares) {
      bound = std::min(bound, std::max(kLittle * budget.full, kTwice * usual));
    }
    if (budget.LowerIsBetter() ? *value <= bound : *value >= bound) return "";
    return "counts only if " + metric.text + " is at " + (budget.LowerIsBetter() ? "most " : "least ") + Figure(bound) +
           " at other sizes too; with n = " + Grouped(there.profile.elements) + " it is " + FigureApart(*value, bound);
  };
  if (criterion.metric.numerator.counter == "max_blocks" && !criterion.metric.denominator) {
    const double here = FigureOf(*measurement.profile, "max_blocks").value_or(0);
    const double bound = BoundElsewhere(criterion.budget, here, Draw::kRound, /*is_traffic=*/true);
    const auto most = static_cast<double>(suite_.MostBlocks(criterion.rung));
    if (most > bound) {
      return "counts only if " + criterion.metric.text + " is at most " + Figure(bound) +
             " for more elements too; in a test it is " + Figure(most);
    }
  }
  for (const Measurement::Elsewhere& there : measurement.elsewhere) {
    where = &there.profile;
    if (std::string unmet = compare(criterion.metric, criterion.budget, there); !unmet.empty()) return unmet;
    for (const Condition& condition : criterion.only_where) {
      const double room = std::max(0.15 * condition.bound, 1e-9);
      const double none = condition.bound + (condition.at_most ? room : -room);
      if (std::string unmet = compare(condition.metric, {condition.bound, none}, there); !unmet.empty()) return unmet;
    }
  }
  where = nullptr;
  return UnmetAlike(criterion, measurement, where);
}

// The same for calls of nearly equal size, by their differences.
std::string Evidence::UnmetAlike(const EvidenceCriterion& criterion, const Measurement& measurement,
                                 const RungProfile*& where) {
  const auto compare = [&](const Metric& metric, const Budget& budget) -> std::string {
    if (!IsAlike(metric)) return "";
    const bool compares = metric.denominator && metric.denominator->scope == kReferenceScope;
    std::vector<std::pair<double, const RungProfile*>> found;
    for (const Measurement::Elsewhere& there : measurement.elsewhere) {
      if (there.draw != Draw::kAlike) continue;
      const RungProfile& profile = there.profile;
      const auto own = Evaluate(metric, [&](std::string_view) { return &profile; });
      const double each =
          FigureOf(profile, metric.numerator.counter).value_or(0) / static_cast<double>(profile.elements);
      if (own || compares) found.emplace_back(compares ? each : *own, &profile);
    }
    if (found.empty()) return "";
    const auto [least, most] = std::ranges::minmax_element(found);
    // A ratio to the reference's time can vary within the range of full marks, because blocks that exceed the device's
    // capacity by a little take twice as long.
    const auto here = ValueHere(metric, criterion.rung, measurement);
    const double least_room = IsNarrow(budget) && IsTimelineFigure(metric.numerator.counter) ? kNarrow : kAlike;
    const double room = here && budget.LowerIsBetter() ? std::max(least_room, budget.full / *here) : kAlike;
    if (compares ? most->first <= room * least->first : !AreUnlike(budget, least->first, most->first)) return "";
    const bool lower = budget.LowerIsBetter();
    where = (lower ? most : least)->second;
    const auto text = [&](const auto& one) {
      return Figure(one->first) + " with n = " + Grouped(one->second->elements);
    };
    return "counts only if calls of nearly one size take the same technique; " +
           (compares ? metric.numerator.counter + " / elements" : metric.text) + " is " + text(lower ? least : most) +
           ", " + text(lower ? most : least);
  };
  std::string unmet = compare(criterion.metric, criterion.budget);
  for (const Condition& condition : criterion.only_where) {
    if (!unmet.empty()) break;
    unmet = compare(condition.metric, {condition.bound, condition.bound * (condition.at_most ? 1.5 : 0.5)});
  }
  return unmet;
}

// Work by few lanes, or by one block, can meet any budget of traffic: why the rung took too long beside the reference,
// and `where`; "" if it did not.
std::string Evidence::TooSlow(const std::string& rung, const Measurement& measurement, const RungProfile*& where) {
  const double most = suite_.assignment().evidence_slowest;
  const RungProfile* const reference = most > 0 ? Reference(rung) : nullptr;
  if (reference == nullptr) return "";
  std::vector<const RungProfile*> runs = {&*measurement.profile};
  for (const Measurement::Elsewhere& there : measurement.elsewhere) runs.push_back(&there.profile);
  const vgpu::DeviceProfile* const clock = vgpu::FindProfile(suite_.options().evidence_profile);
  for (const RungProfile* const run : runs) {
    double took = 0;  // warps that do nothing don't make it less
    for (const vgpu::LaunchRecord& launch : run->launches) {
      const double longest = clock != nullptr ? vgpu::LongestWarpMicroseconds(launch, *clock) : 0;
      took += std::max(launch.microseconds, longest);
    }
    const double times = took / Scaled(*reference, run->elements).microseconds;
    if (!(times > most)) continue;
    where = run;
    return "counts only if a call takes at most " + Figure(most) +
           " times as long as the reference's; with n = " + Grouped(run->elements) + " it takes " +
           FigureApart(times, most) + " times as long";
  }
  return "";
}

const Evidence::Measurement& Evidence::Submission(const std::string& rung) {
  const auto known = submission_.find(rung);
  if (known != submission_.end()) return known->second;
  const uint64_t elements = suite_.assignment().EvidenceElements(rung);
  const SeedKey seed = SeedFor(suite_.seed(), "evidence " + rung), other = SeedFor(seed, "elsewhere");
  Measurement measurement;
  const auto measure = [&] {
    EvidenceRun run = run_(suite_.runner(Role::kMeasured), rung, {elements, seed});
    if (!run.problems.empty()) {
      measurement.problems = std::move(run.problems);
      measurement.elements = elements;
      return;
    }
    measurement.profile = ProfileOf(rung, "submission", elements, run.report, suite_);
    const vgpu::DeviceProfile* clock = vgpu::FindProfile(suite_.options().evidence_profile);
    for (const vgpu::KernelSummary& kernel : vgpu::Summarize(measurement.profile->launches)) {
      std::vector<vgpu::KernelAdvice>& advice = measurement.profile->advice;
      if (clock == nullptr || vgpu::IsLibraryCall(*kernel.first) || advice.size() == kMostAdvised) continue;
      advice.push_back(vgpu::AdviseOn(kernel, *clock));
    }
    if (run.report.page != nullptr) suite_.AddPage(rung, *run.report.page);
    suite_.results().profiles.push_back(*measurement.profile);
  };
  if (!IsDrawn(rung)) {
    measure();
  } else {
    // Neither the number of a call nor its predecessors reveal which one is measured. The two draws near the size are
    // consecutive, the larger one first: if the technique is used only in every other call, or only if a call has more
    // elements than the previous one, one of them lacks it.
    Random random(SeedFor(seed, "order"));
    const auto near_it = [&] {
      Draw draws[] = {elements >= kComparable ? Draw::kRound : Draw::kAny, Draw::kAny};
      if (random.Next() % 2 == 0) std::swap(draws[0], draws[1]);
      MakeSmallCalls(rung, SeedFor(other, "near"));
      for (const bool is_larger : {true, false}) {
        const Draw draw = draws[is_larger ? 0 : 1];
        MeasureElsewhere(rung, draw, Drawn(rung, draw, SeedFor(other, is_larger ? "0" : "1"), is_larger), measurement);
      }
    };
    const auto far_off = [&] {
      MakeSmallCalls(rung, SeedFor(other, "far"));
      // A call for more elements always comes before: what is small beside it, and the largest so far, tell nothing.
      if (measurement.elsewhere.empty() && measurement.problems.empty()) {
        Measurement unused;
        MeasureElsewhere(rung, Draw::kRound, Drawn(rung, Draw::kAny, SeedFor(other, "larger")), unused);
      }
      const EvidenceCase wide = Drawn(rung, Draw::kWide, SeedFor(other, "wide"));
      MeasureElsewhere(rung, Draw::kWide, wide, measurement);
      // Whatever rule selects the calls that use the technique, several such calls include both cases.
      const std::vector<EvidenceCriterion>& criteria = suite_.assignment().criteria;
      const bool compared = std::any_of(criteria.begin(), criteria.end(), [&](const EvidenceCriterion& criterion) {
        return criterion.rung == rung && IsAlike(criterion.metric);
      });
      for (int k = 0; compared && k < kAlikeCalls; ++k) {
        MeasureElsewhere(rung, Draw::kAlike, Alike(wide, random.Between(0, 255)), measurement);
      }
      CheckKeepsNoMore(rung, measurement);
    };
    // In a newly started worker: if the technique is used only from some later call on, this call lacks it.
    std::vector<std::function<void()>> parts = {near_it, far_off, measure};
    for (size_t i = parts.size() - 1; i > 0; --i) {
      std::swap(parts[i], parts[static_cast<size_t>(random.Between(0, static_cast<int64_t>(i)))]);
    }
    for (const auto& part : parts) part();
  }
  return submission_.emplace(rung, std::move(measurement)).first->second;
}

const RungProfile* Evidence::Reference(const std::string& rung) {
  const auto known = reference_.find(rung);
  if (known != reference_.end()) return known->second ? &*known->second : nullptr;
  const uint64_t elements = suite_.assignment().EvidenceElements(rung);
  std::optional<RungProfile> profile;
  if (suite_.has_runner(Role::kReference)) {
    const EvidenceRun run =
        run_(suite_.runner(Role::kReference), rung, {elements, SeedFor(suite_.seed(), "evidence " + rung)});
    if (const Problem* worst = Worst(run.problems)) {
      throw HarnessError("the reference's " + rung + " failed: " + FormatProblem(*worst, "evidence"));
    }
    profile = ProfileOf(rung, "reference", elements, run.report, suite_);
  } else {
    const Options& options = suite_.options();
    const auto file = options.figures.empty() ? suite_.assignment().folder / "figures.json" : options.figures;
    for (RungProfile& recorded : ReadFigures(file, options.evidence_profile)) {
      if (recorded.rung == rung && recorded.elements == elements) profile = std::move(recorded);
    }
  }
  if (profile) suite_.results().profiles.push_back(*profile);
  const auto stored = reference_.emplace(rung, std::move(profile)).first;
  return stored->second ? &*stored->second : nullptr;
}

namespace {

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
                     ? HintText("whatever it counts, it takes too long: let all lanes of many blocks share the work")
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

double BoundElsewhere(const Budget& budget, double here, Draw draw, bool is_traffic) {
  const bool lower = budget.LowerIsBetter();
  const auto better = [&](double a, double b) { return lower == (a < b) ? a : b; };
  const auto worse = [&](double a, double b) { return lower == (a < b) ? b : a; };
  const auto with_room = [&](double value, double room) { return lower ? value * room : value / room; };
  const double range = budget.none - budget.full;
  if (draw == Draw::kRound) {
    const double bound = worse(budget.full + range / 10, with_room(worse(budget.full, here), 1.1));
    return better(bound, budget.none - range / 50);
  }
  if (!is_traffic) return worse(budget.full + range / 10, with_room(here, 1.25));
  const double full = lower ? 1.5 * budget.full : std::max(budget.full / 1.5, budget.none);
  return worse(worse(full, budget.full + range / 2), with_room(here, 1.25));
}

bool AreUnlike(const Budget& budget, double one, double other) {
  const bool lower = budget.LowerIsBetter();
  const double least = std::min(one, other), most = std::max(one, other), worse = lower ? most : least;
  return most > kAlike * least && most - least > std::abs(budget.none - budget.full) / 8 && budget.Fraction(worse) < 1;
}

bool HoldsElsewhere(const Metric& metric, Draw draw) {
  const auto holds = [&](const MetricTerm& term) {
    if (IsFar(draw) && IsTimelineFigure(term.counter)) return false;
    return term.scope.empty() || term.scope == kReferenceScope;
  };
  return holds(metric.numerator) && (!metric.denominator || holds(*metric.denominator));
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
