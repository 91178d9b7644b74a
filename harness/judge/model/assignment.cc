#include "judge/model/assignment.h"

#include <toml++/toml.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>

namespace lockstep::judge {
namespace {

// One table of the file, with its name for messages.
class Table {
 public:
  Table(const toml::table& table, std::string file, std::string name)
      : table_(table), file_(std::move(file)), name_(std::move(name)) {}

  [[noreturn]] void Fail(const std::string& sentence) const {
    throw AssignmentError(file_ + ": " + (name_.empty() ? "" : "[" + name_ + "] ") + sentence);
  }

  std::string Text(const char* key) const {
    const auto value = OptionalText(key);
    if (!value || value->empty()) Fail(std::string(key) + " is missing; it takes a text in quotes");
    return *value;
  }

  std::optional<std::string> OptionalText(const char* key) const {
    const toml::node_view<const toml::node> node = table_[key];
    if (!node) return std::nullopt;
    if (!node.is_string()) Fail(std::string(key) + " has to be a text in quotes");
    return node.value<std::string>();
  }

  std::optional<double> OptionalNumber(const char* key) const {
    const toml::node_view<const toml::node> node = table_[key];
    if (!node) return std::nullopt;
    if (!node.is_number()) Fail(std::string(key) + " has to be a number");
    return node.value<double>();
  }

  double Number(const char* key) const {
    const auto value = OptionalNumber(key);
    if (!value) Fail(std::string(key) + " is missing; it takes a number");
    return *value;
  }

  // A count; unchanged if the key is absent.
  void Count(const char* key, uint64_t& value) const {
    const toml::node_view<const toml::node> node = table_[key];
    if (!node) return;
    const auto number = node.value_exact<int64_t>();
    if (!number || *number <= 0) Fail(std::string(key) + " has to be a whole number above 0");
    value = static_cast<uint64_t>(*number);
  }

  bool Flag(const char* key) const {
    const toml::node_view<const toml::node> node = table_[key];
    if (node && !node.is_boolean()) Fail(std::string(key) + " has to be true or false");
    return node.value_or(false);
  }

  std::vector<std::string> Texts(const char* key) const {
    std::vector<std::string> texts;
    const toml::node_view<const toml::node> node = table_[key];
    if (!node) return texts;
    if (!node.is_array()) Fail(std::string(key) + " has to be a list of texts in quotes");
    for (const toml::node& element : *node.as_array()) {
      if (!element.is_string()) Fail(std::string(key) + " has to be a list of texts in quotes");
      texts.push_back(*element.value<std::string>());
    }
    return texts;
  }

  bool Has(const char* key) const { return static_cast<bool>(table_[key]); }

 private:
  const toml::table& table_;
  std::string file_, name_;
};

// The tables of an array [[key]]; empty if the key is absent.
std::vector<const toml::table*> TablesOf(const toml::table& root, const char* key, const Table& whole) {
  std::vector<const toml::table*> tables;
  const toml::node* node = root.get(key);
  if (node == nullptr) return tables;
  const toml::array* array = node->as_array();
  if (array == nullptr) whole.Fail(std::string(key) + " has to be written as [[" + key + "]]");
  for (const toml::node& element : *array) {
    if (!element.is_table()) whole.Fail(std::string(key) + " has to be written as [[" + key + "]]");
    tables.push_back(element.as_table());
  }
  return tables;
}

const toml::table* SubTable(const toml::table& root, const char* key, const Table& whole) {
  const toml::node* node = root.get(key);
  if (node == nullptr) return nullptr;
  if (!node->is_table()) whole.Fail(std::string(key) + " has to be a table: [" + key + "]");
  return node->as_table();
}

std::string KnownRung(const Table& table, const Assignment& assignment) {
  const std::string rung = table.Text("rung");
  if (assignment.FindRung(rung) == nullptr) table.Fail("rung = \"" + rung + "\" is the id of no [[rung]]");
  return rung;
}

// Common parts of measured criteria.
template <class Criterion>
Criterion ReadBudgeted(const Table& table, const Assignment& assignment) {
  Criterion criterion;
  criterion.id = table.Text("id");
  criterion.rung = KnownRung(table, assignment);
  criterion.title = table.Text("title");
  criterion.hint = table.OptionalText("hint").value_or("");
  criterion.budget.full = table.Number("full");
  criterion.budget.none = table.Number("none");
  if (criterion.budget.full == criterion.budget.none) table.Fail("full and none have to differ");
  return criterion;
}

TimingCriterion ReadTiming(const Table& table, const Assignment& assignment) {
  auto criterion = ReadBudgeted<TimingCriterion>(table, assignment);
  const std::string base = table.Text("timing");
  if (base != "reference" && base != "copy") table.Fail("timing has to be \"reference\" or \"copy\"");
  criterion.base = base == "copy" ? TimingBase::kCopy : TimingBase::kReference;
  return criterion;
}

// Calls ParseMetric or ParseConditions, and reports their errors for this table.
template <class Parser>
auto Parsed(const Table& table, Parser parse, const std::string& text) {
  try {
    return parse(text);
  } catch (const std::invalid_argument& error) {
    table.Fail(error.what());
  }
}

void RefuseUnknownScopes(const Table& table, const Assignment& assignment, const Metric& metric) {
  for (const std::string& scope : ScopesOf(metric)) {
    if (!scope.empty() && scope != kReferenceScope && assignment.FindRung(scope) == nullptr) {
      table.Fail("the metric's \"" + scope + "\" is neither \"reference\" nor the id of a [[rung]]");
    }
  }
}

EvidenceCriterion ReadCriterion(const Table& table, const Assignment& assignment) {
  auto criterion = ReadBudgeted<EvidenceCriterion>(table, assignment);
  criterion.metric = Parsed(table, ParseMetric, table.Text("metric"));
  for (const auto& [key, conditions] :
       {std::pair("only_where", &criterion.only_where), std::pair("unaligned", &criterion.unaligned)}) {
    if (const auto text = table.OptionalText(key)) *conditions = Parsed(table, ParseConditions, *text);
  }
  for (const Metric* metric : criterion.Metrics()) RefuseUnknownScopes(table, assignment, *metric);
  return criterion;
}

Ranking ReadRanking(const Table& table, const Assignment& assignment) {
  Ranking ranking{Parsed(table, ParseMetric, table.Text("metric")), KnownRung(table, assignment)};
  RefuseUnknownScopes(table, assignment, ranking.metric);
  return ranking;
}

}  // namespace

const Rung* Assignment::FindRung(std::string_view id) const {
  const auto rung = std::find_if(rungs.begin(), rungs.end(), [&](const Rung& r) { return r.id == id; });
  return rung == rungs.end() ? nullptr : &*rung;
}

uint64_t Assignment::EvidenceElements(std::string_view rung) const {
  const Rung* found = FindRung(rung);
  return found != nullptr && found->elements > 0 ? found->elements : evidence_elements;
}

uint64_t Assignment::TimingElements(std::string_view rung) const {
  return timing_elements > 0 ? timing_elements : EvidenceElements(rung);
}

// NOLINTNEXTLINE(readability-function-size): the file's tables, one after another
Assignment LoadAssignment(const std::filesystem::path& folder) {
  const std::string file = (folder / "assignment.toml").string();
  if (!std::filesystem::is_regular_file(file)) {
    throw AssignmentError(file + ": no such file; --assignment=DIR takes an assignment's folder");
  }
  toml::table root;
  try {
    root = toml::parse_file(file);
  } catch (const toml::parse_error& error) {
    throw AssignmentError(file + ":" + std::to_string(error.source().begin.line) + ": " +
                          std::string(error.description()));
  }
  Assignment assignment;
  const Table whole(root, file, "");
  assignment.folder = folder;
  assignment.id = whole.Text("id");
  assignment.title = whole.Text("title");
  assignment.submission = whole.Text("submission");
  if (const toml::table* limits = SubTable(root, "limits", whole)) {
    const Table table(*limits, file, "limits");
    for (const auto& [key, seconds] :
         {std::pair("call_seconds", &Limits::call_seconds), std::pair("test_seconds", &Limits::test_seconds),
          std::pair("submission_seconds", &Limits::submission_seconds)}) {
      double& limit = assignment.limits.*seconds;
      limit = table.OptionalNumber(key).value_or(limit);
      if (!(limit > 0)) table.Fail(std::string(key) + " has to be above 0");
    }
    // A Python interpreter computes while it starts.
    if (!assignment.submission.ends_with(".py")) assignment.limits.busy_seconds = assignment.limits.call_seconds / 5;
    table.Count("instruction_budget", assignment.limits.instruction_budget);
    table.Count("output_bytes", assignment.limits.output_bytes);
    table.Count("memory_mb", assignment.limits.memory_mb);
    table.Count("judge_mb", assignment.limits.judge_mb);
    table.Count("devices", assignment.limits.devices);
    if (assignment.limits.devices < 1 || assignment.limits.devices > 16) table.Fail("devices has to be from 1 to 16");
  }
  for (const std::string& library : whole.Texts("libraries")) {
    assignment.limits.cublas |= library == "cublas";
    assignment.limits.cufft |= library == "cufft";
  }
  if (const toml::table* calls = SubTable(root, "device_calls", whole)) {
    const Table table(*calls, file, "device_calls");
    assignment.device_calls = {table.Flag("fill_result"), table.Flag("copy_result")};
  }
  if (const toml::table* evidence = SubTable(root, "evidence", whole)) {
    const Table table(*evidence, file, "evidence");
    table.Count("n", assignment.evidence_elements);
    assignment.evidence_profile = table.OptionalText("profile").value_or(assignment.evidence_profile);
    assignment.evidence_timeline = table.Flag("timeline");
    assignment.evidence_drawn = table.Flag("drawn");
    assignment.evidence_slowest = table.OptionalNumber("slowest").value_or(0);
  }
  if (const toml::table* timing = SubTable(root, "timing", whole)) {
    Table(*timing, file, "timing").Count("n", assignment.timing_elements);
  }
  std::set<std::string> ids;
  for (const toml::table* element : TablesOf(root, "rung", whole)) {
    const Table table(*element, file, "[rung]");
    Rung rung{table.Text("id"), table.Text("title"), table.OptionalNumber("published_ms"),
              table.OptionalNumber("published_gb_s")};
    table.Count("n", rung.elements);
    rung.host_only = table.Flag("host_only");
    if (!ids.insert(rung.id).second) table.Fail("id = \"" + rung.id + "\" is there twice");
    assignment.rungs.push_back(std::move(rung));
  }
  if (assignment.rungs.empty()) whole.Fail("there is no [[rung]]");
  std::map<std::string, bool> all_bonus;  // by rung
  for (const toml::table* element : TablesOf(root, "criterion", whole)) {
    const Table table(*element, file, "[criterion]");
    const std::string id = table.Text("id");
    if (!ids.insert(id).second) table.Fail("id = \"" + id + "\" is there twice");
    if (table.Has("tests") + table.Has("metric") + table.Has("timing") != 1) {
      table.Fail(id + " needs one of tests, metric and timing");
    }
    const bool bonus = table.Flag("bonus");
    const auto [rung, first] = all_bonus.try_emplace(table.OptionalText("rung").value_or(""), bonus);
    if (!first) rung->second = rung->second && bonus;
    if (table.Has("metric")) assignment.criteria.push_back(ReadCriterion(table, assignment));
    if (table.Has("timing")) assignment.timings.push_back(ReadTiming(table, assignment));
    if (!table.Has("tests") && assignment.FindRung(rung->first)->host_only) {
      table.Fail(id + " measures " + rung->first + ", which is host_only");
    }
  }
  for (Rung& rung : assignment.rungs) {
    const auto found = all_bonus.find(rung.id);
    rung.bonus = found != all_bonus.end() && found->second;
  }
  if (const toml::table* leaderboard = SubTable(root, "leaderboard", whole)) {
    assignment.ranking = ReadRanking(Table(*leaderboard, file, "leaderboard"), assignment);
  }
  const auto is_timelines = [](const Metric* metric) {
    return IsTimelineFigure(metric->numerator.counter) ||
           (metric->denominator && IsTimelineFigure(metric->denominator->counter));
  };
  if (assignment.ranking && is_timelines(&assignment.ranking->metric)) {
    whole.Fail(
        "a leaderboard can't rank by a timeline: its times are for the tests' device, a timeline's for the evidence's");
  }
  for (const EvidenceCriterion& criterion : assignment.criteria) {
    if (!assignment.evidence_timeline && std::ranges::any_of(criterion.Metrics(), is_timelines)) {
      whole.Fail(criterion.id + " has a timeline's metric, which needs timeline = true in [evidence]");
    }
  }
  if (!assignment.criteria.empty() && assignment.evidence_elements == 0) {
    whole.Fail("criteria with a metric need [evidence] n");
  }
  return assignment;
}

bool RungMatches(std::string_view id, std::string_view selector) {
  if (selector.empty() || id == selector) return true;
  if (id.size() > selector.size() && id.starts_with(selector) && id[selector.size()] == '_') return true;
  const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  if (!std::all_of(selector.begin(), selector.end(), is_digit)) return false;
  const auto first = std::find_if(id.begin(), id.end(), is_digit);
  const auto last = std::find_if_not(first, id.end(), is_digit);
  return std::string_view(first, last) == selector;
}

}  // namespace lockstep::judge
