// Where a mistake is: single edits of the student's kernels and launches are tried, one after the other, until a test
// passes that failed (--edits). It has a process of its own, whose results are no one's grade, and public tests alone.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "judge/run/runner.h"
#include "judge/session/launch_editor.h"
#include "judge/suite/ptx_edits.h"

namespace lockstep::judge {

// GoogleTest repeats the rung's tests, with another edit each time. In the first round, without one, this learns which
// test fails, and which kernels it launches; after an edit that lets it pass, the rung's other tests are asked.
class EditSearch : public worker::LaunchEditor, public testing::EmptyTestEventListener {
 public:
  // seconds: of processor time that it may take.
  EditSearch(std::shared_ptr<SubmissionMemory> memory, std::string source, double seconds);
  void OnTestIterationStart(const testing::UnitTest&, int iteration) override;
  void OnTestStart(const testing::TestInfo& test) override {
    memory_->budget.BeginTest();
    if (!Skips(std::string(test.test_suite_name()) + "." + test.name())) lines_.clear();
  }
  // Ends the process once nothing is left to try.
  void OnTestIterationEnd(const testing::UnitTest&, int iteration) override;
  vgpu::LaunchResult Launch(vgpu::Device& device, const vgpu::LaunchSpec& launch, std::span<const std::string> texts,
                            const std::string& call_site) override;
  // Whether this round leaves the test out.
  bool Skips(const std::string& test) const { return !confirming_ && !failing_.empty() && test != failing_; }

 private:
  struct Edit {
    int rank = 0;
    std::string kernel, call_site;  // of the launches that it is for; call_site "": all
    std::string place, sentence;
    std::string text;  // PTX
    std::function<void(vgpu::LaunchSpec&, std::vector<uint8_t>& parameters)> change;
  };
  void Look(const vgpu::Device& device, const vgpu::LaunchSpec& launch, std::span<const std::string> texts,
            const std::string& call_site);
  void AddLaunchEdits(const vgpu::Device& device, const vgpu::LaunchSpec& launch, const std::string& call_site);
  bool IsOver() const;
  void Finish();

  const std::shared_ptr<SubmissionMemory> memory_;
  const std::string source_;  // the student's file
  const double seconds_;
  double begin_ = 0, processor_begin_ = 0;  // of the search
  std::vector<Edit> edits_;
  std::map<std::pair<std::string, std::string>, uint64_t> seen_;  // kernels and call sites: launches
  uint64_t most_instructions_ = 0;
  std::set<std::pair<std::string, int>> lines_,
      lines_of_failure_;  // that ran in the last test, and in the one that fails
  std::string failing_;
  size_t next_ = 0;  // behind the edit that is tried
  bool confirming_ = false;
  std::map<std::string, std::string> found_;  // sentences by places, of edits with which the rung's tests pass
  std::pair<const vgpu::Device*, vgpu::ModuleHandle> loaded_{};  // the edited text
};

}  // namespace lockstep::judge
