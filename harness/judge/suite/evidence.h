// Evidence: the counters of a rung's kernels, compared with the criteria's budgets.
//
// Each rung runs once at the assignment's size on a virtual GPU with the counters on, the submission's and, if there
// is one, the reference's; without a reference the recorded figures.json is used. Only a run with the right result
// counts: the work of a wrong answer proves nothing. Each criterion is a GoogleTest test of its own.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/run/call.h"
#include "judge/suite/suite.h"

namespace lockstep::judge {

// One run of a rung with n elements: what it came to, and all that is wrong with it.
struct EvidenceRun {
  CallReport report;
  std::vector<Problem> problems;
};

// How a suite runs a rung for evidence.
using EvidenceFunction =
    std::function<EvidenceRun(Runner& runner, const std::string& rung, uint64_t elements, const SeedKey& seed)>;

class Evidence {
 public:
  Evidence(Suite& suite, EvidenceFunction run) : suite_(suite), run_(std::move(run)) {}

  // Each is run once. The profile is absent where the run has problems.
  struct Measurement {
    std::optional<RungProfile> profile;
    std::vector<Problem> problems;
  };
  const Measurement& Submission(const std::string& rung);
  // nullptr: there is no reference. Throws HarnessError where it fails.
  const RungProfile* Reference(const std::string& rung);

  struct Judgement {
    EvidenceResult result;
    std::string file;  // where to look
    int line = 0;
    bool unfinished = false;
  };
  Judgement Judge(const EvidenceCriterion& criterion, const std::string& test);

 private:
  Suite& suite_;
  EvidenceFunction run_;
  std::map<std::string, Measurement> submission_;
  std::map<std::string, std::optional<RungProfile>> reference_;
};

// The leaderboard's metric, of what a run has measured. Times are those of the device that the tests run on, also where
// the evidence's are another's: students compete on a device of today.
RankingResult Rank(const Ranking& ranking, const Results& results, const Options& options);

// "full marks up to 12, none from 32 on"
std::string BudgetText(const Budget& budget);

// "counts only if sectors / elements is at most 0.5; here it is 1.125"
std::string UnmetText(const Condition& condition, double value);

// "Bank conflicts gone" is the test BankConflictsGone.
std::string TestNameOf(std::string_view title);

// Registers one test a criterion of the selected rungs. After InitGoogleTest.
void RegisterEvidenceTests(Evidence& evidence);

}  // namespace lockstep::judge
