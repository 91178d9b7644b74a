// Evidence: the counters of a rung's kernels, compared with the criteria's budgets.
//
// Each rung runs once at the assignment's size on a virtual GPU with the counters on, the submission's and, if there
// is one, the reference's; without a reference the recorded figures.json is used. Only a run with the right result
// counts: the work of a wrong answer proves nothing. Each criterion is a GoogleTest test of its own.
//
// A submission could do the work as it should where it is measured, and no better than before elsewhere. So where
// assignment.toml says `drawn`, a rung is measured again at sizes and shapes that the seed draws, among the tests' calls
// and behind small ones, and budgets count only if it keeps to them there, too (Draw).
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
  uint64_t elements = 0;  // where they are others than those that were asked for
};

// What a rung is run on for evidence.
struct EvidenceCase {
  uint64_t elements = 0;
  SeedKey seed;
  bool drawn = false;  // so is all else that the task leaves open: a matrix's shape, how far to shift
  bool round = false;  // drawn, with whole blocks, tiles and vectors everywhere
};

// How a size is drawn, and what is asked of a rung there.
enum class Draw : uint8_t {
  kRound,  // near the assignment's size, a multiple of all usual blocks: all budgets, with little room
  kAny,    // near it, a multiple of nothing: all budgets, with room for parts of warps, tiles and sectors
  kWide,   // down to an eighth of it: all but timelines, with room for what a grid of fixed size costs
  kAlike,  // several that follow one another, of nearly one size: what they cost has to be nearly the same, too
};

// How a suite runs a rung for evidence.
using EvidenceFunction = std::function<EvidenceRun(Runner& runner, const std::string& rung, const EvidenceCase& one)>;

class Evidence {
 public:
  Evidence(Suite& suite, EvidenceFunction run) : suite_(suite), run_(std::move(run)) {}

  // Each is run once. The profile is absent where the run has problems.
  struct Measurement {
    std::optional<RungProfile> profile;
    // At sizes that were drawn; the reference's where a criterion compares with it.
    struct Elsewhere {
      Draw draw;
      RungProfile profile;
      std::optional<RungProfile> reference;
    };
    std::vector<Elsewhere> elsewhere;
    std::vector<Problem> problems;
    uint64_t elements = 0;  // that the problems were met with
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
  bool IsDrawn(const std::string& rung) const;
  void MakeSmallCalls(const std::string& rung, const SeedKey& seed);
  EvidenceCase Drawn(const std::string& rung, Draw draw, const SeedKey& seed, bool is_larger = true) const;
  EvidenceCase Alike(EvidenceCase one, int64_t part) const;
  void MeasureElsewhere(const std::string& rung, Draw draw, EvidenceCase one, Measurement& measurement);
  static double ExpectedAt(const MetricTerm& term, const Measurement& measurement, uint64_t elements);
  std::optional<double> ValueHere(const Metric& metric, const std::string& rung, const Measurement& measurement);
  std::string UnmetElsewhere(const EvidenceCriterion& criterion, const Measurement& measurement,
                             const RungProfile*& where);
  std::string UnmetAlike(const EvidenceCriterion& criterion, const Measurement& measurement, const RungProfile*& where);
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

// What a figure may be at most, or at least, at a size that was drawn, where it is `here` at the assignment's. Of whole
// blocks a tenth more, and never what earns nothing; else a quarter more is room for parts of warps and tiles, and
// traffic may go half of the way to nothing: at places that are multiples of nothing a request has more sectors.
double BoundElsewhere(const Budget& budget, double here, Draw draw, bool is_traffic);

// Whether calls of nearly one size that come to these figures are too different to be the same technique: by a third,
// and by an eighth of the way from full marks to none, and not both good.
bool AreUnlike(const Budget& budget, double one, double other);

// Whether a criterion can be held to its budget at a size that was drawn so.
bool HoldsElsewhere(const Metric& metric, Draw draw);

// "Bank conflicts gone" is the test BankConflictsGone.
std::string TestNameOf(std::string_view title);

// Registers one test a criterion of the selected rungs. After InitGoogleTest.
void RegisterEvidenceTests(Evidence& evidence);

}  // namespace lockstep::judge
