#include "judge/model/verdict.h"

#include <algorithm>
#include <filesystem>
#include <sstream>

#include "vgpu/core/dim_text.h"

namespace lockstep::judge {

const std::vector<VerdictRow>& AllVerdicts() {
  static const std::vector<VerdictRow> rows = {
      {Verdict::kPass, "PASS", "right, and nothing was found", "", true},
      {Verdict::kWrong, "WRONG", "the result is not the expected one",
       "run this one input by hand with few threads and compare each step", true},
      {Verdict::kRace, "RACE", "two threads touch the same memory, at least one writes, and nothing orders them",
       "no barrier orders these two accesses", true},
      {Verdict::kBounds, "BOUNDS", "an access outside of a buffer, or misaligned",
       "compare the index with the length before the access", true},
      {Verdict::kUninit, "UNINIT", "memory is read that nobody has written",
       "write each element before a thread reads it, also those past the end of the input", true},
      {Verdict::kBarrier, "BARRIER", "threads disagree about a barrier or a warp-wide operation",
       "every thread of the block has to reach the same barrier: keep it out of branches that depend on the thread",
       true},
      {Verdict::kTimeout, "TIMEOUT", "a kernel or the host code does not end",
       "check that the loop's condition becomes false for every thread", true},
      {Verdict::kCrash, "CRASH", "the program or a kernel ended itself",
       "print before the place you suspect: what was printed is shown with the test", true},
      {Verdict::kCompile, "COMPILE", "the source does not compile", "the compiler's first message is the one to mend",
       true},
      {Verdict::kApi, "API", "a CUDA call or a launch failed", "check the error that each CUDA call returns", true},
      {Verdict::kSlow, "SLOW", "right, but the measured work is above the budget", "look at the lines that cost most",
       true},
      {Verdict::kRejected, "REJECTED", "the result was not made the way the task demands",
       "the kernels have to do the work", true},
      {Verdict::kHarness, "HARNESS", "the harness failed; this is not the submission's fault and is not scored",
       "tell your instructor, with this message", false},
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
  // A heading that is no verdict: a launch that failed. What a program is made of is its author's choice.
  return VerdictFromName(vgpu::InfoOf(kind).heading).value_or(Verdict::kApi);
}

const Problem* Worst(const std::vector<Problem>& problems) {
  const auto worst = std::max_element(problems.begin(), problems.end(),
                                      [](const Problem& a, const Problem& b) { return a.verdict < b.verdict; });
  return worst == problems.end() ? nullptr : &*worst;
}

Message MessageOf(const Problem& problem, std::string_view test) {
  std::ostringstream out;
  out << NameOf(problem.verdict) << "  " << test;
  // Nothing to explain and nothing to hint at: one sentence says what to do.
  if (problem.unfinished) return {out.str() + "\n  " + problem.evidence.at(0), ""};
  if (!problem.place.empty()) out << "   " << problem.place;
  for (const std::string& line : problem.evidence) out << "\n  " << line;
  return {out.str(), problem.hint.empty() ? RowOf(problem.verdict).hint : problem.hint};
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
  problem.hint = std::move(text.hint);
  problem.file = std::filesystem::path(finding.first.file).filename().string();
  problem.line = finding.first.line;
  problem.finding = finding;
  return problem;
}

}  // namespace lockstep::judge
