// assignment.toml, the one place for an assignment's numbers. docs/reference/assignment-toml.md describes it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "judge/model/metric.h"

namespace lockstep::judge {

struct Limits {
  double call_seconds = 20;                   // wall clock of one launcher call in the worker
  double busy_seconds = 0;                    // of processor time in it; 0: nobody looks
  uint64_t instruction_budget = 400'000'000;  // warp instructions of one launch
  double test_seconds = 60;                   // of all calls of one test together: see wall_budget.h
  double submission_seconds = 300;            // of all calls of a run
  uint64_t output_bytes = 1'000'000;          // what a worker may print
  uint64_t memory_mb = 2048;
  bool cublas = false, cufft = false;  // `libraries` has it: submissions may call the library
  uint64_t judge_mb = 8192;            // that the judge may have at work for a submission, the device's memory included
};

// What CUDA calls of the host may do with the buffers that a launcher is given; all else is the kernels' to do.
struct DeviceCalls {
  bool fill_result = false;  // what it begins with, before any kernel stores there: cudaMemset, or a few bytes copied
  bool copy_result = false;  // from other device memory
};

struct Rung {
  std::string id;  // the launcher's name
  std::string title;
  std::optional<double> published_ms, published_gb_s;
  uint64_t elements = 0;   // problem size of its evidence run; 0: the assignment's
  bool host_only = false;  // a function on the host, which launches nothing: it has no evidence run
  bool bonus = false;      // all its criteria are extra: leaving it out is no failure
};

// A criterion that is measured. Those that count tests are the grader's business.
struct EvidenceCriterion {
  std::string id, rung, title, hint;
  Metric metric;
  Budget budget;
  std::vector<Condition> only_where;  // where one doesn't hold the criterion earns nothing
  // All that decide on its points.
  std::vector<const Metric*> Metrics() const {
    std::vector<const Metric*> all = {&metric};
    for (const Condition& condition : only_where) all.push_back(&condition.metric);
    return all;
  }
};

// What the leaderboard ranks by: a metric of one rung's evidence run. In which order is the grader's business.
struct Ranking {
  Metric metric;
  std::string rung;
};

// What a measured time is compared with.
enum class TimingBase : uint8_t {
  kReference,  // the reference's time for the same
  kCopy,       // the time of a plain copy that moves as many bytes
};

// A criterion that is timed, on a real GPU alone. Its figure is the base's time as a multiple of the submission's.
struct TimingCriterion {
  std::string id, rung, title, hint;
  TimingBase base = TimingBase::kReference;
  Budget budget;
};

struct Assignment {
  std::filesystem::path folder;
  std::string id, title, submission;
  Limits limits;
  DeviceCalls device_calls;
  std::string evidence_profile = "h200";  // the device that evidence runs are modelled on
  bool evidence_timeline = false;         // what ran beside what in their streams is kept, and shown
  bool evidence_drawn = false;            // each rung is measured at a size of the seed's choice, too
  uint64_t evidence_elements = 0;         // problem size of the evidence runs; 0: the assignment has none
  std::vector<Rung> rungs;                // in ladder order
  std::vector<EvidenceCriterion> criteria;
  std::vector<TimingCriterion> timings;
  std::optional<Ranking> ranking;
  uint64_t timing_elements = 0;  // problem size of the timed runs; 0: a rung's evidence size

  // Problem size of a rung's evidence run.
  uint64_t EvidenceElements(std::string_view rung) const;
  uint64_t TimingElements(std::string_view rung) const;
  const Rung* FindRung(std::string_view id) const;
};

// A file that can't be taken; the message names file, key and what would be right.
class AssignmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Assignment LoadAssignment(const std::filesystem::path& folder);

// Whether what was given to --rung names this rung: its id, the id up to the underscore, or the number in it.
bool RungMatches(std::string_view id, std::string_view selector);

}  // namespace lockstep::judge
