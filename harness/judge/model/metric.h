// Evidence criteria: their metrics and points.
//
// A metric is NAME, NAME / NAME or NAME / NAME of N elements, NAME = [SCOPE.]COUNTER. Without a scope it means the
// criterion's own rung; the scope "reference" means the reference's run of that rung, and another rung's id the
// submission's run of that one. A denominator "warps of 32 elements" counts at most as many warps as the task has
// groups of 32 elements: otherwise idle warps would lower the ratio.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/model/profile.h"

namespace lockstep::judge {

inline constexpr std::string_view kReferenceScope = "reference";

struct MetricTerm {
  std::string scope;  // "": this rung; "reference"; or a rung's id
  std::string counter;
};

struct Metric {
  MetricTerm numerator;
  std::optional<MetricTerm> denominator;
  uint64_t elements_each = 0;  // of the denominator; 0: unlimited
  std::string text;            // as written
};

// Throws std::invalid_argument with a sentence that names the invalid part.
Metric ParseMetric(std::string_view text);
std::vector<std::string> ScopesOf(const Metric& metric);

// lookup returns a scope's profile, or nullptr if there is none. 0 / 0 is 0 (no branch: no divergence); a division by
// zero, or a missing profile, has no value.
std::optional<double> Evaluate(const Metric& metric, const std::function<const RungProfile*(std::string_view)>& lookup);

// A precondition of a criterion: METRIC <= NUMBER or METRIC >= NUMBER.
struct Condition {
  Metric metric;
  bool at_most = true;
  double bound = 0;
  bool Holds(double value) const { return at_most ? value <= bound : value >= bound; }
};

// Throws std::invalid_argument with a sentence.
Condition ParseCondition(std::string_view text);
// Several with " and " between them.
std::vector<Condition> ParseConditions(std::string_view text);

// Points are linear between full and none; either may be larger.
struct Budget {
  double full = 0, none = 0;
  bool LowerIsBetter() const { return full < none; }
  // The fraction of the points, from 0 to 1.
  double Fraction(double value) const { return std::clamp((value - none) / (full - none), 0.0, 1.0); }
  bool Met(double value) const { return LowerIsBetter() ? value <= full : value >= full; }
};

}  // namespace lockstep::judge
