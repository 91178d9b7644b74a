// Whether a rung's budgets hold at the drawn sizes, too.
#include <algorithm>
#include <cmath>
#include <utility>

#include "judge/model/text.h"
#include "judge/suite/evidence.h"
#include "vgpu/model/time_model.h"

namespace lockstep::judge {
namespace {

constexpr double kAlike = 1.35;  // limit of the ratio between calls of nearly equal size
constexpr double kNarrow = 1.1;

// Figures that depend only on the number of elements, not on how threads share the work.
bool IsTraffic(const std::string& counter) {
  constexpr std::string_view kFigures[] = {"elements",       "sectors",        "store_sectors", "requests",
                                           "store_requests", "wasted_passes",  "max_blocks",    "launches",
                                           "own_launches",   "pageable_bytes", "peer_bytes",    "peer_bytes_most"};
  const auto& api = AllApiCounts();
  return std::find(std::begin(kFigures), std::end(kFigures), counter) != std::end(kFigures) ||
         std::any_of(api.begin(), api.end(), [&](const ApiCountInfo& info) { return info.name == counter; });
}

bool IsNarrow(const Budget& budget) { return budget.LowerIsBetter() && budget.none <= kNarrow * budget.full; }

bool IsTimelineTime(std::string_view counter) { return IsTimelineFigure(counter) && counter.ends_with("_us"); }

bool IsFar(Draw draw) { return draw == Draw::kWide || draw == Draw::kAlike || draw == Draw::kFew; }

// Bytes that threads load and store for each element: alignment changes requests and sectors, and not these.
double BytesEach(const RungProfile& profile) {
  return static_cast<double>(profile.counters.global_load_bytes + profile.counters.global_store_bytes) /
         static_cast<double>(profile.elements);
}

}  // namespace

bool IsAlike(const Metric& metric) {
  return HoldsElsewhere(metric, Draw::kRound) && metric.numerator.counter != "launches";
}

// A figure extrapolated to this size with the growth per element near the assignment's size. Any excess is a fixed cost
// of the grid, shared by fewer elements.
double Evidence::ExpectedAt(const MetricTerm& term, const Measurement& measurement, uint64_t elements) {
  const double here = FigureOf(*measurement.profile, term.counter).value_or(0);
  double expected = 0;
  for (const Measurement::Elsewhere& one : measurement.elsewhere) {
    if (IsFar(one.draw) || one.profile.elements >= measurement.profile->elements) continue;
    const double there = FigureOf(one.profile, term.counter).value_or(0);
    const double slope = (here - there) / static_cast<double>(measurement.profile->elements - one.profile.elements);
    expected = std::max(expected, here - slope * static_cast<double>(measurement.profile->elements - elements));
  }
  return expected > 0 ? std::min(expected, here) : here;
}

// A metric's value at the assignment's own size.
std::optional<double> Evidence::ValueHere(const Metric& metric, const std::string& rung,
                                          const Measurement& measurement) {
  return Evaluate(metric, [&](std::string_view scope) {
    return scope == kReferenceScope ? Reference(rung) : &*measurement.profile;
  });
}

// Why a criterion does not count, from its values at drawn sizes, and `where`; "" if it counts.
std::string Evidence::UnmetElsewhere(const EvidenceCriterion& criterion, const Measurement& measurement,
                                     const RungProfile*& where) {
  const auto compare = [&](const Metric& metric, const Budget& budget,
                           const Measurement::Elsewhere& there) -> std::string {
    const bool is_small = measurement.profile->elements < kComparable;
    if (!HoldsElsewhere(metric, there.draw)) return "";
    if (there.draw == Draw::kFew && (metric.denominator || budget.full != 0)) return "";
    // With few elements fixed costs dominate, so a ratio is compared only where its fixed part can be extrapolated.
    if (is_small && IsFar(there.draw) && metric.denominator && !budget.LowerIsBetter()) return "";
    const auto value = Evaluate(metric, [&](std::string_view scope) {
      if (scope != kReferenceScope) return &there.profile;
      return there.reference ? &*there.reference : nullptr;
    });
    const auto measured = ValueHere(metric, criterion.rung, measurement);
    if (!value || !measured) return "";
    const auto unmet = [&](double bound, double found) {
      return "counts only if " + metric.text + " is at " + (budget.LowerIsBetter() ? "most " : "least ") +
             Figure(bound) + " at other sizes too; with n = " + Grouped(there.profile.elements) + " it is " +
             FigureApart(found, bound);
    };
    const bool lower = budget.LowerIsBetter();
    const auto with_room = [&](double bound) {
      if (there.room == 0) return bound;
      return lower ? std::max(bound, there.room * budget.none) : std::min(bound, budget.none / there.room);
    };
    if (IsFar(there.draw) && IsTimelineTime(metric.numerator.counter)) {
      // Half the elements take half of the reference's time, or a little more; chunks of one size are half as many.
      constexpr double kRoom = 1.6;
      const auto proportion =
          static_cast<double>(measurement.profile->elements) / static_cast<double>(there.profile.elements);
      const double found = FigureOf(there.profile, metric.numerator.counter).value_or(0) * proportion /
                           FigureOf(*Reference(criterion.rung), metric.denominator->counter).value_or(0);
      const double middle = (budget.full + budget.none) / 2;
      const double bound = with_room(lower ? std::max(middle, kRoom * *measured) : std::min(middle, *measured / kRoom));
      return (lower ? found <= bound : found >= bound) ? "" : unmet(bound, found);
    }
    // A ratio to the reference at the same size needs no tolerance: size affects both.
    const bool compares = metric.denominator && metric.denominator->scope == kReferenceScope;
    // A drawn size below two thirds of the assignment's: times are not comparable.
    const bool is_smaller = compares && 3 * there.profile.elements < 2 * measurement.profile->elements;
    const bool is_near = !IsFar(there.draw) && !is_smaller;
    double bound = BoundElsewhere(budget, *measured,
                                  compares && is_near ? Draw::kRound
                                  : is_smaller        ? Draw::kWide
                                                      : there.draw,
                                  IsTraffic(metric.numerator.counter) || (is_small && metric.denominator.has_value()));
    // A tolerance of a tenth would exceed a narrow budget's range.
    if (compares && is_near && IsNarrow(budget)) bound = std::min(bound, std::max(budget.full, 1.05 * *measured));
    double usual = *measured;  // expected: as at the assignment's size or, if larger, as extrapolated with fixed costs
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
      if (compares) bound = std::max(bound, budget.none);  // fixed costs weigh more with fewer elements
    }
    // If the size is a multiple of whole blocks, or the bytes nearly double too, a cost near twice the usual means that
    // work is done twice, unless the cost is small.
    constexpr double kTwice = 1.8, kTwiceTheBytes = 1.9, kLittle = 1.25;
    const bool is_whole = there.draw == Draw::kRound || there.draw == Draw::kAlike;
    const bool is_again = is_near && BytesEach(there.profile) >= kTwiceTheBytes * BytesEach(*measurement.profile);
    if ((is_whole || is_again) && budget.LowerIsBetter() && metric.denominator && !compares) {
      bound = std::min(bound, std::max(kLittle * budget.full, kTwice * usual));
    }
    bound = with_room(bound);
    if (lower ? *value <= bound : *value >= bound) return "";
    return unmet(bound, *value);
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
    if (there.room > 0 && !criterion.unaligned.empty()) {
      for (const Condition& condition : criterion.unaligned) {
        const auto value = Evaluate(condition.metric, [&](std::string_view) { return &there.profile; });
        if (!value || condition.Holds(*value)) continue;
        return UnmetText(condition, *value) +
               " at another address, side or number of streams, with n = " + Grouped(there.profile.elements);
      }
      continue;
    }
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

// Work by few lanes, or by one block, can meet any budget of traffic: why the rung took too long compared with the
// reference, and `where`; "" if it did not.
std::string Evidence::TooSlow(const std::string& rung, const Measurement& measurement, const RungProfile*& where) {
  const double most = suite_.assignment().evidence_slowest;
  const RungProfile* const reference = most > 0 ? Reference(rung) : nullptr;
  if (reference == nullptr) return "";
  std::vector<const RungProfile*> runs = {&*measurement.profile};
  for (const Measurement::Elsewhere& there : measurement.elsewhere) {
    if (there.draw != Draw::kFew) runs.push_back(&there.profile);
  }
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
  const auto holds = [](const MetricTerm& term) { return term.scope.empty() || term.scope == kReferenceScope; };
  // A time on the engines is compared with the reference's, in proportion.
  const bool compares = metric.denominator && metric.denominator->scope == kReferenceScope;
  if (IsFar(draw) && IsTimelineTime(metric.numerator.counter) && !compares) return false;
  return holds(metric.numerator) && (!metric.denominator || holds(*metric.denominator));
}

}  // namespace lockstep::judge
