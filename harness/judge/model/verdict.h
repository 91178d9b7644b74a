// The verdicts a test can end with, and the message a failed test shows.
//
// With several faults, a test has the worst verdict: verdicts are ranked, and consequences of a worse fault do not
// count (a CUDA error after an out-of-bounds access is part of that fault, see judge/run/call.h). A message has the
// verdict, the test and the launch; then the location and the evidence; then one hint.
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
  HintText hint;        // the fallback hint
  bool students_fault;
};

const std::vector<VerdictRow>& AllVerdicts();
const VerdictRow& RowOf(Verdict verdict);
std::string_view NameOf(Verdict verdict);
std::optional<Verdict> VerdictFromName(std::string_view name);

// The verdict for a fault or a checker's finding.
Verdict VerdictOf(vgpu::FindingKind kind);

// One thing that is wrong with a submission.
struct Problem {
  Verdict verdict = Verdict::kPass;
  std::string place;  // launch, or launcher and size: the end of the first line
  std::vector<vgpu::MessageLine> evidence;
  HintText hint;     // empty: use the verdict's own
  std::string file;  // where to look in the student's file, if known
  int line = 0;
  bool unfinished = false;                    // the student has not begun this part
  std::optional<vgpu::Finding> finding = {};  // the finding it was made from
  std::optional<uint64_t> element = {};       // WRONG: the first wrong element of the result
  std::string trail = {};                     // who stored that element (run/store_trail.h); a line after the launches
};

// The problem with the highest rank; the first one on a tie. nullptr if there is none.
const Problem* Worst(const std::vector<Problem>& problems);

// The message of a failed test: a headline, lines, and one hint, which may be empty.
struct Message {
  std::string headline;
  std::vector<vgpu::MessageLine> lines;
  std::string hint;
  Sight sight = {};          // of the hint
  std::string Text() const;  // everything except the hint, in several lines without a trailing newline
  std::string Whole() const { return hint.empty() ? Text() : Text() + "\n  hint    " + hint; }
};
Message MessageOf(const Problem& problem, std::string_view test);
inline std::string FormatProblem(const Problem& problem, std::string_view test) {
  return MessageOf(problem, test).Whole();
}

// "reduce3_sequential_kernel<<<1,128>>>"; dimensions beyond x only if used.
std::string LaunchText(std::string_view kernel, const vgpu::Dim3& grid, const vgpu::Dim3& block);

Problem ProblemOf(const vgpu::Finding& finding);

}  // namespace lockstep::judge
