// Evidence: the counters of a rung's kernels, compared with the criteria's budgets.
//
// Each rung runs once at the assignment's size on a virtual GPU with the counters on, the submission's and, if there is
// one, the reference's; without a reference the recorded figures.json is used. Only a run with the right result counts:
// a wrong result proves nothing. Each criterion is a GoogleTest test of its own.
//
// A submission could use the technique only where it is measured. So if assignment.toml says `drawn`, a rung is
// measured again at sizes and shapes drawn from the seed, between the tests' calls and after small ones, and budgets
// count only if they hold there too (Draw).
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "judge/run/call.h"
#include "judge/suite/suite.h"

namespace lockstep::judge {

// One run of a rung with n elements: its measurements and problems.
struct EvidenceRun {
  CallReport report;
  std::vector<Problem> problems;
  uint64_t elements = 0;  // if not the requested number
  double room = 0;        // if not 0: a right design may cost up to this many times `none` in such a call
};

// The input of a rung's evidence run.
struct EvidenceCase {
  uint64_t elements = 0;
  SeedKey seed;
  bool drawn = false;  // draws everything else the task leaves open: a matrix's shape, the shift's distance
  bool round = false;  // drawn, but a multiple of all blocks, tiles and vectors
  bool wide = false;   // Draw::kWide: any address, shape and parameter that the task allows
  // Where a buffer begins, in elements from its allocation's start: if wide anywhere, if drawn and not round a few times
  // `unit`, else 0.
  uint64_t Offset(const char* buffer, uint64_t unit = 1) const;
};

// In elements of four bytes: a unit of EvidenceCase::Offset that costs nothing extra, whatever a design's vectors.
inline constexpr uint64_t kWholeSectors = 8;
inline constexpr double kUnalignedRoom = 1.2;  // EvidenceRun::room: a warp's 32 words may touch a fifth sector
inline constexpr uint64_t kComparable = uint64_t{1} << 16;  // elements from which a fixed cost hardly matters

// How an evidence run's size is drawn, and how strictly its budgets are checked.
enum class Draw : uint8_t {
  kRound,  // near the assignment's size or above, a multiple of all usual blocks: all budgets, with a small tolerance
  kAny,    // near it, a multiple of no block size: all budgets, with tolerance for partial warps, tiles, sectors
  kWide,   // 1/8 to 1/2 of it, 13/32 to 1/2 with a timeline: no plain engine times, tolerance for grids of fixed size
  kAlike,  // several consecutive calls of nearly one size: their costs must also be nearly equal
  kFew,    // at most 2^17 elements: only what has to be none at all, such as kernels beside a library's
};

// A suite's function for evidence runs.
using EvidenceFunction = std::function<EvidenceRun(Runner& runner, const std::string& rung, const EvidenceCase& one)>;

class Evidence {
 public:
  Evidence(Suite& suite, EvidenceFunction run) : suite_(suite), run_(std::move(run)) {}

  // Each rung is measured once. The profile is absent if the run has problems.
  struct Measurement {
    std::optional<RungProfile> profile;
    // Measurements at drawn sizes; the reference's too if a criterion compares with it.
    struct Elsewhere {
      Draw draw;
      RungProfile profile;
      std::optional<RungProfile> reference;
      uint64_t held_bytes = 0;  // of device memory, before the call
      double room = 0;          // EvidenceRun::room
    };
    std::vector<Elsewhere> elsewhere;
    std::vector<Problem> problems;
    uint64_t elements = 0;  // size at which the problems occurred
  };
  const Measurement& Submission(const std::string& rung);
  // nullptr: there is no reference. Throws HarnessError if the reference fails.
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
  void MakeSmallCalls(const std::string& rung, const SeedKey& seed, Measurement& measurement);
  EvidenceCase Drawn(const std::string& rung, Draw draw, const SeedKey& seed, bool is_larger = true) const;
  EvidenceCase Beyond(const std::string& rung, const SeedKey& seed) const;
  EvidenceCase Alike(EvidenceCase one, int64_t part) const;
  Role ElsewhereRole() const;
  EvidenceRun RunElsewhere(const std::string& rung, const EvidenceCase& one, bool checked);
  void MeasureElsewhere(const std::string& rung, Draw draw, EvidenceCase one, Measurement& measurement);
  void CheckKeepsNoMore(const std::string& rung, Measurement& measurement) const;
  void CheckKeepsNothing(const std::string& rung, const EvidenceCase& one, Measurement& measurement);
  void ReportLeak(const std::string& rung, const std::string& calls, Measurement& measurement) const;
  static double ExpectedAt(const MetricTerm& term, const Measurement& measurement, uint64_t elements);
  std::optional<double> ValueHere(const Metric& metric, const std::string& rung, const Measurement& measurement);
  std::string UnmetElsewhere(const EvidenceCriterion& criterion, const Measurement& measurement,
                             const RungProfile*& where);
  std::string TooSlow(const std::string& rung, const Measurement& measurement, const RungProfile*& where);
  std::string UnmetAlike(const EvidenceCriterion& criterion, const Measurement& measurement, const RungProfile*& where);
  Suite& suite_;
  EvidenceFunction run_;
  std::map<std::string, Measurement> submission_;
  std::map<std::string, std::optional<RungProfile>> reference_;
};

// The leaderboard's metric from a run's measurements. Times are for the device that the tests run on, even if the
// evidence is modelled on another: students compete on a current device.
RankingResult Rank(const Ranking& ranking, const Results& results, const Options& options);

// "full marks up to 12, none from 32 on"
std::string BudgetText(const Budget& budget);

// "counts only if sectors / elements is at most 0.5; here it is 1.125"
std::string UnmetText(const Condition& condition, double value);

// The limit of a figure at a drawn size, given its value `here` at the assignment's size. If the size is a multiple of
// whole blocks: a tenth more, but less than what earns nothing. Else: a quarter more, because of partial warps and
// tiles; sectors may go half of the way to `none`, because unaligned requests need more.
double BoundElsewhere(const Budget& budget, double here, Draw draw, bool is_traffic);

// Whether figures of calls with nearly equal sizes differ too much for the same technique: by a third, and by an eighth
// of the range from full marks to none, unless both earn full marks.
bool AreUnlike(const Budget& budget, double one, double other);

// Whether a criterion's budget can be checked at a size drawn this way.
bool HoldsElsewhere(const Metric& metric, Draw draw);

// Whether calls of nearly one size must have nearly equal values of the metric; a search's launches depend on the data.
bool IsAlike(const Metric& metric);

// The recorded reference's times for other numbers of elements; for fewer, half of them scaled, half constant. This is
// at least the true time if less than half is launch overhead.
RungProfile Scaled(RungProfile profile, uint64_t elements);

// "Bank conflicts gone" becomes BankConflictsGone.
std::string TestNameOf(std::string_view title);

// Registers one test per criterion of the selected rungs. Call after InitGoogleTest.
void RegisterEvidenceTests(Evidence& evidence);

}  // namespace lockstep::judge
