// The verdicts a test can end with, and the message a failed test shows.
//
// With several faults, a test has the worst verdict: the verdicts are ranked, and a mere consequence of a worse fault
// does not count (a CUDA error after an out-of-bounds access belongs to the access, see judge/run/call.h). A message
// says the verdict, the test, the launch; then the place and the evidence; then one hint.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/model/hint_text.h"
#include "vgpu/core/finding.h"

namespace lockstep::judge {

// In order of rank.
enum class Verdict : uint8_t {
  kPass,
  kWrong,
  kRace,
  kBounds,
  kUninit,
  kBarrier,
  kTimeout,
  kCrash,
  kCompile,
  kApi,
  kSlow,
  kRejected,
  kHarness,
};

struct VerdictRow {
  Verdict verdict;
  const char* name;     // "RACE"
  const char* meaning;  // one sentence, without a full stop
  HintText hint;        // shown where nothing more exact is known
  bool students_fault;
};

const std::vector<VerdictRow>& AllVerdicts();
const VerdictRow& RowOf(Verdict verdict);
std::string_view NameOf(Verdict verdict);
std::optional<Verdict> VerdictFromName(std::string_view name);

// Which verdict a fault or a checker's finding stands for.
Verdict VerdictOf(vgpu::FindingKind kind);

// One thing that is wrong with a submission.
struct Problem {
  Verdict verdict = Verdict::kPass;
  std::string place;  // launch, or launcher and size: what the first line ends with
  std::vector<vgpu::MessageLine> evidence;
  HintText hint;     // empty: the verdict's own
  std::string file;  // where to look, if known; the student's
  int line = 0;
  bool unfinished = false;                    // the student has not begun this part
  std::optional<vgpu::Finding> finding = {};  // that it was made of
  std::optional<uint64_t> element = {};       // WRONG: the first wrong one of the result
  std::string trail = {};                     // who stored that one (run/store_trail.h); a line behind the launches
};

// The problem with the highest rank; the first of equals. nullptr where there is none.
const Problem* Worst(const std::vector<Problem>& problems);

// What is said of a failed test: a headline, lines, and one hint, which may be empty.
struct Message {
  std::string headline;
  std::vector<vgpu::MessageLine> lines;
  std::string hint;
  std::string Text() const;  // all but the hint, in several lines without a newline at the end
  std::string Whole() const { return hint.empty() ? Text() : Text() + "\n  hint    " + hint; }
};
Message MessageOf(const Problem& problem, std::string_view test);
inline std::string FormatProblem(const Problem& problem, std::string_view test) {
  return MessageOf(problem, test).Whole();
}

// "reduce3_sequential_kernel<<<1,128>>>"; a dimension beyond x only where it is used.
std::string LaunchText(std::string_view kernel, const vgpu::Dim3& grid, const vgpu::Dim3& block);

Problem ProblemOf(const vgpu::Finding& finding);

}  // namespace lockstep::judge
