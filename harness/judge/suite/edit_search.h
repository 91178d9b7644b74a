// Locates a mistake: tries single edits of the student's kernels and launches until a failing test passes (--edits).
// Runs in a separate process, whose results are never graded, and only with public tests.
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

// GoogleTest repeats the rung's tests, each time with another edit. The first round has no edit, and learns which test
// fails and which kernels it launches; when an edit lets it pass, the rung's other tests are run too.
class EditSearch : public worker::LaunchEditor, public testing::EmptyTestEventListener {
 public:
  // seconds: its limit of processor time.
  EditSearch(std::shared_ptr<SubmissionMemory> memory, std::string source, double seconds);
  void OnTestIterationStart(const testing::UnitTest&, int iteration) override;
  void OnTestStart(const testing::TestInfo& test) override {
    memory_->budget.BeginTest();
    if (!Skips(std::string(test.test_suite_name()) + "." + test.name())) lines_.clear();
  }
  // Ends the process once no edit or time is left, or if too many locations were found.
  void OnTestIterationEnd(const testing::UnitTest&, int iteration) override;
  vgpu::LaunchResult Launch(vgpu::Device& device, const vgpu::LaunchSpec& launch, std::span<const std::string> texts,
                            const std::string& call_site) override;
  // Whether this round skips the test.
  bool Skips(const std::string& test) const { return !confirming_ && !failing_.empty() && test != failing_; }

 private:
  struct Edit {
    int rank = 0;
    std::string kernel, call_site;  // of the launches to edit; call_site "": all
    std::string place, sentence;
    std::string text;  // PTX
    std::function<void(vgpu::LaunchSpec&, std::vector<uint8_t>& parameters)> change;
    bool forgets = false;  // variables are reset before each call
  };
  void Look(const vgpu::Device& device, const vgpu::LaunchSpec& launch, std::span<const std::string> texts,
            const std::string& call_site);
  void AddLaunchEdits(const vgpu::Device& device, const vgpu::LaunchSpec& launch, const std::string& call_site);
  bool IsOver() const;
  void Finish();

  const std::shared_ptr<SubmissionMemory> memory_;
  const std::string source_;  // the student's file
  const double seconds_;
  double begin_ = 0, processor_begin_ = 0;  // start of the search
  std::vector<Edit> edits_;
  std::map<std::pair<std::string, std::string>, uint64_t> seen_;  // number of launches by kernel and call site
  uint64_t most_instructions_ = 0;
  std::set<std::pair<std::string, int>> lines_,
      lines_of_failure_;  // lines executed in the last test, and in the failing one
  std::string failing_;
  size_t next_ = 0;  // index after the current edit
  bool confirming_ = false;
  std::map<std::string, std::string> found_;  // sentences by location, of edits with which the rung's tests pass
  std::pair<const vgpu::Device*, vgpu::ModuleHandle> loaded_{};  // the edited text
};

}  // namespace lockstep::judge
