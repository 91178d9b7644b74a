#include "judge/model/verdict.h"

#include <algorithm>
#include <filesystem>

#include "vgpu/core/dim3.h"

namespace lockstep::judge {
namespace {

// Hints have CUDA C++'s names of functions; these are Numba's.
constexpr std::pair<std::string_view, std::string_view> kNamesInPython[] = {
    {"__syncthreads()", "cuda.syncthreads()"},
    {"__syncwarp()", "cuda.syncwarp()"},
    {"atomicAdd()", "cuda.atomic.add()"},
    {"add a printf", "add a print()"},
    {"blockDim", "cuda.blockDim"},
    {"gridDim", "cuda.gridDim"},
};

std::string InWordsOf(const std::string& file, std::string hint) {
  if (!file.ends_with(".py")) return hint;
  for (const auto& [in_cpp, in_python] : kNamesInPython) {
    for (size_t at = 0; (at = hint.find(in_cpp, at)) != std::string::npos; at += in_python.size()) {
      hint.replace(at, in_cpp.size(), in_python);
    }
  }
  return hint;
}

}  // namespace

const std::vector<VerdictRow>& AllVerdicts() {
  static const std::vector<VerdictRow> rows = {
      {Verdict::kPass, "PASS", "correct, and no fault was found", "", true},
      {Verdict::kWrong, "WRONG", "the result differs from the expected one",
       "run this input by hand with a few threads and check each step", true},
      {Verdict::kRace, "RACE",
       "two threads access the same memory, at least one of them writes, and nothing orders the accesses",
       "no barrier orders these two accesses", true},
      {Verdict::kBounds, "BOUNDS", "an out-of-bounds or misaligned memory access",
       "check the index against the length before the access", true},
      {Verdict::kUninit, "UNINIT", "a thread reads memory that nothing has written",
       "write every element before a thread reads it, including those past the end of the input", true},
      {Verdict::kBarrier, "BARRIER", "threads disagree about a barrier or a warp-wide operation",
       "every thread of the block must reach the same barrier: move it out of branches that depend on the thread index",
       true},
      {Verdict::kTimeout, "TIMEOUT", "a kernel or the host code did not finish in time",
       "check that every loop ends, for every thread", true},
      {Verdict::kCrash, "CRASH", "the program or a kernel crashed or exited",
       "add a printf before the line you suspect: the test shows what your program prints", true},
      {Verdict::kCompile, "COMPILE", "the source does not compile",
       "fix the first error; the others may follow from it", true},
      {Verdict::kApi, "API", "a CUDA call or a launch failed", "check the error that each CUDA call returns", true},
      {Verdict::kSlow, "SLOW", "correct, but the measured work misses the budget",
       "look at the most expensive lines first", true},
      {Verdict::kRejected, "REJECTED", "the result was not computed the way the task requires",
       "the kernels must do the work", true},
      {Verdict::kHarness, "HARNESS", "the harness failed; this is not the submission's fault and is not scored",
       "send this message to your instructor", false},
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
  std::string headline = std::string(NameOf(problem.verdict)) + "  " + std::string(test);
  // Nothing to explain and nothing to hint at: one sentence says what to do.
  if (problem.unfinished) return {headline, {problem.evidence.at(0)}, ""};
  if (!problem.place.empty()) headline += "   " + problem.place;
  return {headline, problem.evidence,
          InWordsOf(problem.file, problem.hint.empty() ? RowOf(problem.verdict).hint : problem.hint)};
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
  problem.hint = std::move(text.hint);
  problem.file = std::filesystem::path(finding.first.file).filename().string();
  problem.line = finding.first.line;
  problem.finding = finding;
  return problem;
}

}  // namespace lockstep::judge
