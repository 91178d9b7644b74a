#include "judge/metric.h"

#include <stdexcept>

namespace lockstep::judge {
namespace {

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

MetricTerm ParseTerm(std::string_view whole, std::string_view text) {
  text = Trim(text);
  MetricTerm term;
  const size_t dot = text.rfind('.');
  if (dot != std::string_view::npos) term.scope = text.substr(0, dot);
  term.counter = dot == std::string_view::npos ? text : text.substr(dot + 1);
  const auto fail = [&](const std::string& why) -> void {
    throw std::invalid_argument("metric = \"" + std::string(whole) + "\": " + why);
  };
  if (dot == 0) fail("there is nothing before the dot");
  if (term.counter.empty()) fail("a counter's name is missing");
  if (!IsFigure(term.counter)) {
    fail("\"" + term.counter + "\" is no counter; docs/reference/metrics.md lists them");
  }
  return term;
}

}  // namespace

Metric ParseMetric(std::string_view text) {
  Metric metric;
  metric.text = Trim(text);
  const size_t slash = text.find('/');
  metric.numerator = ParseTerm(text, text.substr(0, slash));
  if (slash != std::string_view::npos) metric.denominator = ParseTerm(text, text.substr(slash + 1));
  return metric;
}

std::vector<std::string> ScopesOf(const Metric& metric) {
  std::vector<std::string> scopes = {metric.numerator.scope};
  if (metric.denominator) scopes.push_back(metric.denominator->scope);
  return scopes;
}

std::optional<double> Evaluate(const Metric& metric,
                               const std::function<const RungProfile*(std::string_view)>& lookup) {
  const auto value_of = [&](const MetricTerm& term) -> std::optional<double> {
    const RungProfile* profile = lookup(term.scope);
    if (profile == nullptr) return std::nullopt;
    return FigureOf(*profile, term.counter);
  };
  const std::optional<double> numerator = value_of(metric.numerator);
  if (!metric.denominator || !numerator) return numerator;
  const std::optional<double> denominator = value_of(*metric.denominator);
  if (!denominator) return std::nullopt;
  if (*denominator != 0) return *numerator / *denominator;
  if (*numerator == 0) return 0;
  return std::nullopt;
}

}  // namespace lockstep::judge
