// assignment.toml, the only place for an assignment's numbers. docs/reference/assignment-toml.md describes it.
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
  double busy_seconds = 0;                    // processor time of such a call; 0: unlimited
  uint64_t instruction_budget = 400'000'000;  // warp instructions per launch
  double test_seconds = 60;                   // for all calls of one test: see wall_budget.h
  double submission_seconds = 300;            // for all calls of a run
  uint64_t output_bytes = 1'000'000;          // what a worker may print
  uint64_t memory_mb = 2048;
  uint64_t devices = 1;                // that a submission sees; with real GPUs, at most as many as the machine has
  bool cublas = false, cufft = false;  // from `libraries`: submissions may call the library
  uint64_t judge_mb = 8192;            // the judge's limit while it works for a submission, including device memory
};

// Operations that host code may do on the buffers passed to a launcher; everything else must be done by kernels.
struct DeviceCalls {
  bool fill_result = false;  // initialisation before any kernel stores there: cudaMemset, or copying a few bytes
  bool copy_result = false;  // from other device memory
};

struct Rung {
  std::string id;  // the launcher's name
  std::string title;
  std::optional<double> published_ms, published_gb_s;
  uint64_t elements = 0;   // problem size of its evidence run; 0: the assignment's
  bool host_only = false;  // a host function without launches, so it has no evidence run
  bool bonus = false;      // all its criteria are bonus: leaving it out is no failure
};

// A measured criterion. Criteria that count tests are handled by the grader.
struct EvidenceCriterion {
  std::string id, rung, title, hint;
  Metric metric;
  Budget budget;
  std::vector<Condition> only_where;  // unless all hold, the criterion earns nothing
  std::vector<Condition> unaligned;   // what holds instead in calls with an EvidenceRun::room
  // All metrics that decide its points.
  std::vector<const Metric*> Metrics() const {
    std::vector<const Metric*> all = {&metric};
    for (const auto* conditions : {&only_where, &unaligned}) {
      for (const Condition& condition : *conditions) all.push_back(&condition.metric);
    }
    return all;
  }
};

// The leaderboard's sort key: a metric of one rung's evidence run. The grader knows the direction.
struct Ranking {
  Metric metric;
  std::string rung;
};

// The base of a measured time.
enum class TimingBase : uint8_t {
  kReference,  // the reference's time for the same work
  kCopy,       // the time of a plain copy of as many bytes
};

// A timed criterion, only on a real GPU. Its figure is the ratio of the base's time to the submission's.
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
  std::string evidence_profile = "h200";  // the device on which evidence runs are modelled
  bool evidence_timeline = false;         // the timeline of streams is recorded and shown
  bool evidence_drawn = false;            // each rung is also measured at sizes drawn from the seed
  double evidence_slowest = 0;            // how many times a rung may take the reference's time; 0: any number
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

// A file that is rejected; the message names the file, the key and a valid value.
class AssignmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

Assignment LoadAssignment(const std::filesystem::path& folder);

// Whether the value of --rung names this rung: its id, the id up to the underscore, or its number.
bool RungMatches(std::string_view id, std::string_view selector);

}  // namespace lockstep::judge
