#include "judge/model/metric.h"

#include <algorithm>
#include <charconv>
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

// Removes " of N elements" from the end of a denominator. 0: there is none.
uint64_t TakeElementsEach(std::string_view whole, std::string_view& text) {
  const size_t of = text.find(" of ");
  if (of == std::string_view::npos) return 0;
  const std::string_view share = Trim(text.substr(of + 4));
  text = text.substr(0, of);
  uint64_t elements = 0;
  const auto [end, error] = std::from_chars(share.data(), share.data() + share.size(), elements);
  if (error != std::errc() || elements == 0 || std::string_view(end, share.data() + share.size()) != " elements") {
    throw std::invalid_argument("metric = \"" + std::string(whole) +
                                "\": expected \"of N elements\" after the denominator");
  }
  return elements;
}

}  // namespace

Metric ParseMetric(std::string_view text) {
  Metric metric;
  metric.text = Trim(text);
  const size_t slash = text.find('/');
  metric.numerator = ParseTerm(text, text.substr(0, slash));
  if (slash != std::string_view::npos) {
    std::string_view denominator = text.substr(slash + 1);
    metric.elements_each = TakeElementsEach(text, denominator);
    metric.denominator = ParseTerm(text, denominator);
  }
  return metric;
}

Condition ParseCondition(std::string_view text) {
  const size_t sign = std::min(text.find("<="), text.find(">="));
  const auto fail = [&](const char* why) {
    throw std::invalid_argument("only_where = \"" + std::string(text) + "\": " + why);
  };
  if (sign == std::string_view::npos) fail("expected METRIC <= NUMBER or METRIC >= NUMBER");
  Condition condition;
  condition.metric = ParseMetric(text.substr(0, sign));
  condition.at_most = text[sign] == '<';
  const std::string_view bound = Trim(text.substr(sign + 2));
  const auto [end, error] = std::from_chars(bound.data(), bound.data() + bound.size(), condition.bound);
  if (error != std::errc() || end != bound.data() + bound.size()) fail("expected a number after the comparison");
  return condition;
}

std::vector<Condition> ParseConditions(std::string_view text) {
  constexpr std::string_view kAnd = " and ";
  const size_t end = text.find(kAnd);
  std::vector<Condition> conditions = {ParseCondition(text.substr(0, end))};
  if (end != std::string_view::npos) {
    std::ranges::move(ParseConditions(text.substr(end + kAnd.size())), std::back_inserter(conditions));
  }
  return conditions;
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
  std::optional<double> denominator = value_of(*metric.denominator);
  if (!denominator) return std::nullopt;
  if (metric.elements_each != 0) {
    const uint64_t elements = lookup(metric.denominator->scope)->elements;
    const uint64_t most = elements / metric.elements_each + (elements % metric.elements_each != 0);
    denominator = std::min(*denominator, static_cast<double>(most));
  }
  if (*denominator != 0) return *numerator / *denominator;
  if (*numerator == 0) return 0;
  return std::nullopt;
}

}  // namespace lockstep::judge
