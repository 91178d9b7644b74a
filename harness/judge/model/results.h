// The results of a run, and the file that holds them. docs/reference/result-json.md describes the format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "judge/input/seed.h"
#include "judge/model/profile.h"
#include "judge/model/statistics.h"
#include "judge/model/verdict.h"
#include "vgpu/core/finding.h"

namespace lockstep::judge {

struct TestResult {
  std::string name, rung;
  Verdict verdict = Verdict::kPass;
  bool unfinished = false;  // it failed because the student has not begun this rung
  double seconds = 0;
  Message message;        // empty on a pass
  std::string output;     // the submission's output, truncated
  std::string reproduce;  // the command that runs this test again
  std::vector<vgpu::Finding> findings;
  std::vector<std::string> launches;  // of the call that failed: "fill_kernel<<<3,128>>>  launch.cu:12"
  std::vector<std::string> kernels;   // of these launches
  uint64_t launches_before = 0;       // how many launches the test's earlier calls made
};

struct EvidenceResult {
  std::string criterion, rung, metric;
  std::optional<double> value;  // none: could not be measured
  Verdict verdict = Verdict::kPass;
  Message message;
  std::string unmet;  // why it doesn't count, whatever its value; empty if it does
};

// A timed criterion. Times are per call, medians of the repeats.
struct TimingResult {
  std::string criterion, rung;
  uint64_t elements = 0, least_bytes = 0;  // of one call
  uint32_t calls = 0;                      // of a batch
  int repeats = 0;
  double microseconds = 0, reference_microseconds = 0, copy_microseconds = 0;
  std::optional<Estimate> figure;  // the ratio of the base's time to the submission's; none: inconclusive
  Verdict verdict = Verdict::kPass;
  Message message;
  std::vector<std::pair<std::string, std::string>> gpu;  // the GPU's state before and after
  bool throttled = false;
};

// The leaderboard's metric, for the submission and the reference; times are modelled for the device `profile`.
struct RankingResult {
  std::string rung, metric, profile;
  std::optional<double> value, reference;  // none: could not be measured
};

struct DeviceDescription {
  std::string kind, profile, name;
  int threads = 1;
};

struct Results {
  std::string assignment, suite;
  SeedNumber seed = 0;
  bool finished = false;
  DeviceDescription device;
  std::vector<TestResult> tests;
  std::vector<EvidenceResult> evidence;
  std::vector<TimingResult> timings;
  std::vector<RungProfile> profiles;
  std::optional<RankingResult> ranking;  // of a finished run; none: the assignment has no leaderboard

  bool HarnessFailed() const;
  // Of "submission" or "reference"; nullptr if there is none.
  const RungProfile* FindProfile(std::string_view rung, std::string_view source) const;
};

std::string ResultJson(const Results& results);

// Replaces the file atomically: a reader sees the old or the new one. Throws std::runtime_error.
void WriteAtomically(const std::filesystem::path& path, const std::string& text);

// figures.json: the reference's profiles, for machines that don't have the reference. It has a result's profile totals
// without zeros, one rung per line; equal launches in a row are one with a count. ReadFigures returns nothing if the
// file is absent or for another device profile, and throws std::runtime_error if it is malformed.
std::string FiguresJson(const Results& results);
std::vector<RungProfile> ReadFigures(const std::filesystem::path& path, const std::string& device_profile);

}  // namespace lockstep::judge
