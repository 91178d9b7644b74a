#include "judge/model/verdict.h"

#include <algorithm>
#include <filesystem>

#include "vgpu/core/dim3.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace {

// A problem without a kernel's line is in host code.
vgpu::Language LanguageOf(const Problem& problem) {
  if (!problem.file.ends_with(".py")) return vgpu::Language::kCuda;
  return problem.finding ? vgpu::Language::kNumba : vgpu::Language::kPythonHost;
}

}  // namespace

const std::vector<VerdictRow>& AllVerdicts() {
  static const std::vector<VerdictRow> rows = {
      {Verdict::kPass, "PASS", "correct, and no fault was found", Hint::kNone, true},
      {Verdict::kWrong, "WRONG", "the result differs from the expected one", Hint::kWrong, true},
      {Verdict::kRace, "RACE",
       "two threads access the same memory, at least one of them writes, and nothing orders the accesses", Hint::kRace,
       true},
      {Verdict::kBounds, "BOUNDS", "an out-of-bounds or misaligned memory access", Hint::kBounds, true},
      {Verdict::kUninit, "UNINIT", "a thread reads memory that nothing has written", Hint::kUninit, true},
      {Verdict::kBarrier, "BARRIER", "threads disagree about a barrier or a warp-wide operation", Hint::kBarrier, true},
      {Verdict::kTimeout, "TIMEOUT", "a kernel or the host code did not finish in time", Hint::kTimeout, true},
      {Verdict::kCrash, "CRASH", "the program or a kernel crashed or exited", Hint::kCrash, true},
      {Verdict::kCompile, "COMPILE", "the source does not compile", Hint::kCompile, true},
      {Verdict::kApi, "API", "a CUDA call or a launch failed", Hint::kApi, true},
      {Verdict::kSlow, "SLOW", "correct, but the measured work misses the budget", Hint::kSlow, true},
      {Verdict::kRejected, "REJECTED", "the result was not computed the way the task requires", Hint::kRejected, true},
      {Verdict::kHarness, "HARNESS", "the harness failed; this is not the submission's fault and is not scored",
       Hint::kHarness, false},
  };
  return rows;
}

const VerdictRow& RowOf(Verdict verdict) { return AllVerdicts().at(static_cast<size_t>(verdict)); }

std::string_view NameOf(Verdict verdict) { return RowOf(verdict).name; }

std::optional<Verdict> VerdictFromName(std::string_view name) {
  for (const VerdictRow& row : AllVerdicts()) {
    if (row.name == name) return row.verdict;
  }
  return std::nullopt;
}

Verdict VerdictOf(vgpu::FindingKind kind) {
  // Some headings are not verdicts, such as a failed launch; the program's author is responsible for that.
  return VerdictFromName(vgpu::InfoOf(kind).heading).value_or(Verdict::kApi);
}

const Problem* Worst(const std::vector<Problem>& problems) {
  const auto worst = std::max_element(problems.begin(), problems.end(),
                                      [](const Problem& a, const Problem& b) { return a.verdict < b.verdict; });
  return worst == problems.end() ? nullptr : &*worst;
}

Message MessageOf(const Problem& problem, std::string_view test) {
  std::string headline = std::string(NameOf(problem.verdict)) + "  " + std::string(test);
  // No details and no hint: one sentence says what to do.
  if (problem.unfinished) return {headline, {problem.evidence.at(0)}, ""};
  if (!problem.place.empty()) headline += "   " + problem.place;
  const HintText& hint = problem.hint.empty() ? RowOf(problem.verdict).hint : problem.hint;
  return {headline, problem.evidence, hint.In(LanguageOf(problem)), hint.sight()};
}

std::string HintText::In(vgpu::Language language) const {
  std::string text = sentence_.empty() ? std::string(vgpu::TextOf(row_, language)) : sentence_;
  size_t at = 0;
  for (const std::string& value : values_) {
    at = text.find("{}", at);
    if (at == std::string::npos) break;
    text.replace(at, 2, value);
    at += value.size();
  }
  return text;
}

std::string Message::Text() const {
  std::string text = headline;
  for (const vgpu::MessageLine& line : lines) text += "\n  " + line.Rendered();
  return text;
}

std::string LaunchText(std::string_view kernel, const vgpu::Dim3& grid, const vgpu::Dim3& block) {
  return std::string(kernel) + "<<<" + vgpu::ShapeText(grid) + "," + vgpu::ShapeText(block) + ">>>";
}

Problem ProblemOf(const vgpu::Finding& finding) {
  Problem problem;
  problem.verdict = VerdictOf(finding.kind);
  vgpu::FindingText text = vgpu::Describe(finding);
  problem.place = std::move(text.launch);
  problem.evidence = std::move(text.lines);
  problem.hint = vgpu::HintOf(finding);
  if (problem.hint == Hint::kUndefinedShuffle) problem.hint.set_sight({"shuffle"});
  problem.file = std::filesystem::path(finding.first.file).filename().string();
  problem.line = finding.first.line;
  problem.finding = finding;
  return problem;
}

}  // namespace lockstep::judge
