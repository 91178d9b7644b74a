// A suite's run: its flags, its assignment, the runners with their devices, and the results.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "judge/model/assignment.h"
#include "judge/model/options.h"
#include "judge/model/results.h"
#include "judge/run/runner.h"

namespace lockstep::judge {

enum class Role : uint8_t {
  kChecked,         // correctness, with every fault checker
  kPlain,           // correctness of large inputs: only the bounds checker
  kMeasured,        // evidence: always on a virtual GPU with counters; with checkers unless a real GPU is graded
  kReference,       // the same without checkers, for the reference's worker
  kTimedReference,  // the reference's worker on the GPU that times the submission
};

// Makes a role's runner; nullptr if it is unavailable (no reference given).
using RunnerFactory = std::function<std::unique_ptr<Runner>(Role)>;

// The factory for real runs, and the memory that its runners share.
std::shared_ptr<SubmissionMemory> MakeSubmissionMemory(const Limits& limits);
RunnerFactory MakeRunnerFactory(const Options& options, const Limits& limits,
                                std::shared_ptr<SubmissionMemory> memory = nullptr);
// Makes a runner of the submission on another virtual GPU than the run's. `profile`: the device whose properties and
// limits the program sees. `clock`: the device for which times are modelled; it must outlive the runner. Counters are
// on and checkers off.
using ElsewhereFactory =
    std::function<std::unique_ptr<Runner>(const std::string& profile, const vgpu::DeviceProfile& clock)>;
ElsewhereFactory MakeElsewhereFactory(const Options& options, const Limits& limits,
                                      const std::shared_ptr<SubmissionMemory>& memory);

class Suite {
 public:
  Suite(Options options, Assignment assignment, std::string name, SeedNumber seed, RunnerFactory factory);

  // The instance for tests; set by main.
  static Suite& Get();
  static void Set(std::unique_ptr<Suite> suite);

  const Options& options() const { return options_; }
  const Assignment& assignment() const { return assignment_; }
  SeedKey seed() const { return results_.seed; }
  Results& results() { return results_; }
  const Results& results() const { return results_; }

  // Throws HarnessError if there is none. Equivalent roles share a runner.
  Runner& runner(Role role);
  bool has_runner(Role role);
  // A new runner for each call. Throws HarnessError if there is no factory.
  std::unique_ptr<Runner> MakeRunnerElsewhere(const std::string& profile, const vgpu::DeviceProfile& clock);
  void set_elsewhere(ElsewhereFactory factory) { elsewhere_ = std::move(factory); }
  // Tests to skip, by name.
  void set_left_out(std::function<bool(const std::string&)> left_out) { left_out_ = std::move(left_out); }
  bool LeavesOut(const std::string& test) const { return left_out_ && left_out_(test); }

  // Rungs selected by --rung.
  std::vector<std::string> SelectedRungs() const;
  // The selected rungs for which `keep` is true.
  std::vector<std::string> SelectedRungs(const std::function<bool(const std::string&)>& keep) const;
  // Whether --one-failure skips the rest of a rung: one of its tests failed, and the rung was begun. Later tests could
  // change neither its verdict nor its message, which are the first failure's.
  bool IsSettled(const std::string& rung) const;
  // Records the largest grid of a rung in any test (MaxBlocks): tests may use larger arrays than evidence runs.
  void NoteBlocks(const std::string& rung, uint64_t blocks) { most_blocks_[rung] = std::max(MostBlocks(rung), blocks); }
  uint64_t MostBlocks(const std::string& rung) const {
    const auto known = most_blocks_.find(rung);
    return known == most_blocks_.end() ? 0 : known->second;
  }
  // The command that runs a test again.
  std::string ReproduceLine(const std::string& test) const;
  // Whether all of a rung's criteria are bonus: leaving it out is no failure.
  bool IsBonus(const std::string& rung) const;

  // Adds the page data of one call, under its test's or rung's name, to the file given with --page.
  void AddPage(const std::string& name, const vgpu::PageData& page);
  // Writes the result file, and of a finished run the --record file, if they were requested.
  void Save() const;

 private:
  Role Shared(Role role) const;

  Options options_;
  Assignment assignment_;
  RunnerFactory factory_;
  ElsewhereFactory elsewhere_;
  std::function<bool(const std::string&)> left_out_;
  std::map<Role, std::unique_ptr<Runner>> runners_;
  std::map<std::string, uint64_t> most_blocks_;  // by rung
  Results results_;
  std::string pages_;
};

}  // namespace lockstep::judge
