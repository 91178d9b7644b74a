// The fixture of tests that call launchers, with one parameter for each rung.
//
// A test adds each problem that it finds and stops at its first failing input. TearDown reports the worst problem once,
// and stores it in the result.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "judge/input/inputs.h"
#include "judge/input/seed.h"
#include "judge/model/text.h"
#include "judge/run/call.h"
#include "judge/suite/suite.h"

namespace lockstep::judge {

class LauncherTest : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  void TearDown() override;

  const std::string& rung() const { return GetParam(); }
  std::string name() const;
  // For this test's k-th input; independent of other tests.
  SeedKey Seed(uint64_t k = 0) const;

  // Adds a call's output and findings to the result.
  void Keep(const CallReport& report);
  void Add(std::vector<Problem> problems);
  bool ok() const { return problems_.empty(); }

 private:
  std::chrono::steady_clock::time_point start_;
  bool is_left_out_ = false;
  std::vector<Problem> problems_;
  std::string output_;
  std::vector<vgpu::Finding> findings_;
  std::vector<std::string> launches_, kernels_;  // of the last call
  std::shared_ptr<const vgpu::PageData> page_;
  uint64_t before_ = 0, counted_ = 0;  // launches: before that call, and up to its end
};

// Makes the current test fail (or be skipped) with this text at a location in the student's source; line 0: unknown.
// Like ADD_FAILURE_AT without the redundant line "Failed".
void ShowAt(const std::string& file, int line, const std::string& text, testing::TestPartResult::Type type);

// Names a parameter after its rung; for INSTANTIATE_TEST_SUITE_P.
std::string RungName(const testing::TestParamInfo<std::string>& info);

}  // namespace lockstep::judge

// Names that most suites use.
namespace lockstep::suites {
using judge::CallContext, judge::CallReport, judge::Grouped, judge::MakeProblem, judge::Pattern, judge::Problem;
using judge::Role, judge::Verdict, worker::Argument;
}  // namespace lockstep::suites
