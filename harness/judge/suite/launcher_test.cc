#include "judge/suite/launcher_test.h"

#include <algorithm>

#include "judge/model/api_text.h"
#include "judge/model/text.h"
#include "vgpu/model/kernel_summary.h"

namespace lockstep::judge {
namespace {

constexpr size_t kMaxOutput = 64 * 1024;

std::string ThrownText(const testing::TestResult& result) {
  for (int i = 0; i < result.total_part_count(); ++i) {
    if (result.GetTestPartResult(i).failed()) return result.GetTestPartResult(i).summary();
  }
  return "";
}

}  // namespace

void LauncherTest::SetUp() {
  start_ = std::chrono::steady_clock::now();
  is_left_out_ = Suite::Get().IsSettled(rung()) || Suite::Get().LeavesOut(name());
  if (is_left_out_) GTEST_SKIP();
}

std::string LauncherTest::name() const {
  const testing::TestInfo* info = testing::UnitTest::GetInstance()->current_test_info();
  return std::string(info->test_suite_name()) + "." + info->name();
}

SeedKey LauncherTest::Seed(uint64_t k) const { return SeedFor(Suite::Get().seed(), name() + "#" + std::to_string(k)); }

void LauncherTest::Keep(const CallReport& report) {
  if (!report.trace.empty()) NoteBegun(rung());
  Suite::Get().NoteBlocks(rung(), MaxBlocks(report.launches));
  output_ += std::string_view(report.output).substr(0, kMaxOutput - std::min(kMaxOutput, output_.size()));
  findings_.insert(findings_.end(), report.findings.begin(), report.findings.end());
  if (!problems_.empty()) return;
  launches_ = LaunchLines(report.trace, report.launches);
  kernels_.clear();
  for (const vgpu::LaunchRecord& launch : report.launches) {
    const bool is_known = std::ranges::find(kernels_, launch.kernel) != kernels_.end();
    if (!is_known && !vgpu::IsLibraryCall(launch) && kernels_.size() < launches_.size()) {
      kernels_.push_back(launch.kernel);
    }
  }
  page_ = report.page;
  before_ = counted_;
  counted_ += static_cast<uint64_t>(std::count_if(report.launches.begin(), report.launches.end(),
                                                  [](const auto& launch) { return !vgpu::IsLibraryCall(launch); }));
}

void LauncherTest::Add(std::vector<Problem> problems) {
  problems_.insert(problems_.end(), std::make_move_iterator(problems.begin()), std::make_move_iterator(problems.end()));
}

void LauncherTest::TearDown() {
  if (is_left_out_) return;
  Suite& suite = Suite::Get();
  TestResult result;
  result.name = name();
  result.rung = rung();
  result.reproduce = suite.ReproduceLine(result.name);
  result.output = output_;
  result.findings = findings_;
  if (!problems_.empty()) {
    result.launches = launches_;
    result.kernels = kernels_;
    result.launches_before = before_;
  }
  const bool shown = HasFailure();
  if (shown) {
    // The test threw: the harness is broken, whatever else was found.
    Problem problem;
    problem.verdict = Verdict::kHarness;
    problem.place = rung();
    problem.evidence = {ThrownText(*testing::UnitTest::GetInstance()->current_test_info()->result())};
    Add({problem});
  }
  std::string printed = Excerpt(Printable(output_), 10, 200, "    ");
  if (!printed.empty()) printed = "\n  your program printed:\n" + printed;
  if (const Problem* worst = Worst(problems_)) {
    result.verdict = worst->verdict;
    result.unfinished = worst->unfinished;
    if (page_ != nullptr) suite.AddPage(result.name, *page_);
    if (!worst->trail.empty()) result.launches.push_back(worst->trail);
    result.message = MessageOf(*worst, result.name);
    const std::string text =
        Printable(result.message.Whole()) + printed + (worst->unfinished ? "" : "\n  again   " + result.reproduce);
    const bool skip = worst->unfinished && suite.IsBonus(rung());
    // GoogleTest has reported the exception.
    if (!shown) {
      ShowAt(worst->file, worst->line, text,
             skip ? testing::TestPartResult::kSkip : testing::TestPartResult::kNonFatalFailure);
    }
  } else if (!printed.empty() && !suite.options().quiet) {
    std::fputs((printed.substr(1) + "\n").c_str(), stdout);
  }
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  suite.results().tests.push_back(std::move(result));
}

void ShowAt(const std::string& file, int line, const std::string& text, testing::TestPartResult::Type type) {
  GTEST_MESSAGE_AT_(file.c_str(), line > 0 ? line : -1, text.c_str(), type);
}

std::string RungName(const testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace lockstep::judge
