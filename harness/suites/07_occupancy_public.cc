// The cases of the public suite: 07_occupancy_table.inc. harness/tests/suites/occupancy_table_test.cc makes it from a
// calculation that students do not have.
#include "suites/07_occupancy_case.h"

namespace lockstep::suites {
namespace {

constexpr int kMistakes = 16;  // the most in any row

struct TableSm {
  SmLimits limits;
  const char* name;
};

struct TableHint {
  const char *text, *members[2];
};

struct TableMistake {
  About about;
  int hint;
  int64_t value;
};

struct TableRow {
  int test, sm;
  Kernel kernel;
  Answers answers;
  TableMistake mistakes[kMistakes];
};

constexpr About W = About::kWarps, R = About::kRegisters, S = About::kShared, B = About::kBlockSize;
#include "suites/07_occupancy_table.inc"

}  // namespace

std::vector<Case> CasesOf(const std::string& test, int number, const judge::SeedKey&) {
  std::vector<Case> cases;
  for (const TableRow& row : kRows) {
    const TableSm& sm = kSms[row.sm];
    if (test != kTests[row.test] || !Concerns(number, sm.limits)) continue;
    std::vector<Mistake> mistakes;
    for (const TableMistake& mistake : row.mistakes) {
      if (mistake.about == About::kNothing) continue;
      const TableHint& hint = kHints[mistake.hint];
      mistakes.push_back({mistake.about, mistake.value, hint.text, {}});
      for (const char* member : hint.members) {
        if (member != nullptr) mistakes.back().members.emplace_back(member);
      }
    }
    cases.push_back({{sm.limits, sm.name}, row.kernel, row.answers, std::move(mistakes)});
  }
  return cases;
}

}  // namespace lockstep::suites
