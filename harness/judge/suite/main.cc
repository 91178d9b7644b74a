// The main program of every suite. It is compiled into the suites, not into the library, which is also used by tests
// with their own main program.
#include "judge/suite/main.h"

#include <gtest/gtest.h>
#include <malloc.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "judge/input/inputs.h"
#include "judge/run/kernel_work.h"
#include "judge/suite/edit_search.h"
#include "judge/suite/ladder_table.h"
#include "judge/suite/timing_criteria.h"

#ifndef GTEST_FLAG_GET  // GoogleTest 1.11, which Ubuntu 22.04 has
#define GTEST_FLAG_GET(name) ::testing::GTEST_FLAG(name)
#endif
#ifndef LOCKSTEP_SUITE
#define LOCKSTEP_SUITE "public"
#endif

namespace lockstep::judge {
namespace {

constexpr int kHarnessFailed = 3;
constexpr int kNoHurry = 1'000'000;  // seconds
// Short in the public suite, where students retype it; long in the instructor's, so that nobody can find it by trial.
constexpr int kSeedBits = std::string_view(LOCKSTEP_SUITE) == "public" ? 32 : 128;

int Fail(const std::string& sentence) {
  std::fprintf(stderr, "%s\n", sentence.c_str());
  return kHarnessFailed;
}

// By GoogleTest's flag; by default if standard output is a terminal.
bool UseColor() {
  const std::string& flag = GTEST_FLAG_GET(color);
  if (flag == "yes" || flag == "true" || flag == "1") return true;
  if (flag != "auto") return false;
  const char* terminal = std::getenv("TERM");
  return isatty(STDOUT_FILENO) != 0 && terminal != nullptr && std::strcmp(terminal, "dumb") != 0;
}

// Keeps the result file up to date: finished tests are on disk when the next one begins.
class ResultWriter : public testing::EmptyTestEventListener {
 public:
  explicit ResultWriter(std::shared_ptr<SubmissionMemory> memory) : memory_(std::move(memory)) {}
  void OnTestStart(const testing::TestInfo&) override { memory_->budget.BeginTest(); }
  void OnTestEnd(const testing::TestInfo&) override { Suite::Get().Save(); }

 private:
  const std::shared_ptr<SubmissionMemory> memory_;
};

std::string ProgramName(const char* program) {
  const char* slash = std::strrchr(program, '/');
  return slash == nullptr ? program : slash + 1;
}

// Results are written as tests end; a search for an edit repeats them instead.
void Listen(Suite& suite, const std::shared_ptr<SubmissionMemory>& memory) {
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (suite.options().quiet) delete listeners.Release(listeners.default_result_printer());
  if (suite.options().edit_seconds <= 0) return listeners.Append(new ResultWriter(memory));
  auto search = std::make_unique<EditSearch>(memory, suite.assignment().submission, suite.options().edit_seconds);
  memory->editor = search.get();
  suite.set_left_out([tried = search.get()](const std::string& test) { return tried->Skips(test); });
  listeners.Append(search.release());
  testing::GTEST_FLAG(repeat) = -1;
}

Assignment AssignmentOf(const Options& options) {
  Assignment assignment = LoadAssignment(options.assignment);
  Limits& limits = assignment.limits;
  // A person at the debugger's prompt needs more time than a call may take, and recording for a page takes time.
  if (options.debug || !options.page.empty())
    limits.call_seconds = limits.test_seconds = limits.submission_seconds = kNoHurry;
  return assignment;
}

int Run(const std::string& program, std::vector<std::string> arguments) {
  ParsedOptions parsed = ParseOptions(arguments);
  if (parsed.options.help) {
    std::fputs(HelpText(program).c_str(), stdout);
    return 0;
  }
  std::string errors;
  for (const std::string& error : parsed.errors) errors += program + ": " + error + "\n";
  if (!errors.empty()) return Fail(errors + "Type " + program + " --help for the flags.");
  if (parsed.options.assignment.empty()) {
    return Fail(program + ": --assignment=DIR is missing: the folder that holds assignment.toml");
  }

  if ((parsed.options.edit_seconds > 0 || parsed.options.debug || !parsed.options.page.empty()) &&
      std::string_view(LOCKSTEP_SUITE) != "public") {
    return Fail(program + ": --edits, --debug and --page are for public tests");
  }

  // For GoogleTest, whose --gtest_list_tests needs no worker.
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (std::string& argument : arguments) argv.push_back(argument.data());
  int argc = static_cast<int>(argv.size());
  argv.push_back(nullptr);

  const SeedNumber seed = parsed.options.seed ? *parsed.options.seed : RandomSeed(kSeedBits);
  Assignment assignment = AssignmentOf(parsed.options);
  if (!parsed.options.has_profile) parsed.options.evidence_profile = assignment.evidence_profile;
  const std::shared_ptr<SubmissionMemory> memory = MakeSubmissionMemory(assignment.limits);
  RunnerFactory factory = MakeRunnerFactory(parsed.options, assignment.limits, memory);
  ElsewhereFactory elsewhere = MakeElsewhereFactory(parsed.options, assignment.limits, memory);
  Suite::Set(std::make_unique<Suite>(parsed.options, std::move(assignment), LOCKSTEP_SUITE, seed, std::move(factory)));
  Suite& suite = Suite::Get();
  suite.set_elsewhere(std::move(elsewhere));
  SetWordSample(static_cast<uint32_t>(Random(SeedFor(suite.seed(), "words that are compared")).Next()));
  if (suite.SelectedRungs().empty()) {
    std::string rungs;
    for (const Rung& rung : suite.assignment().rungs) rungs += " " + rung.id;
    return Fail(program + ": --rung=" + parsed.options.rung + " names no rung; there are:" + rungs);
  }
  // Hundreds of 64 MiB inputs are allocated and freed: keeping the memory avoids clearing it in the kernel each time.
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  testing::InitGoogleTest(&argc, argv.data());
  Evidence evidence(suite, RunForEvidence);
  RegisterEvidenceTests(evidence);
  Timings timings(suite);
  RegisterTimingTests(timings);
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();

  if (parsed.options.worker.empty()) {
    return Fail(program + ": --worker=PATH is missing: the program that harness/worker/build.sh makes");
  }
  Listen(suite, memory);  // before the first runner, which uses the editor
  suite.results().device = suite.runner(Role::kChecked).device().Describe();
  // Evidence comes from a virtual GPU in any case.
  suite.results().device.profile = suite.options().evidence_profile;
  suite.Save();
  if (!suite.options().quiet) {
    std::printf("%s on %s (%s), seed %s\n", suite.assignment().title.c_str(), suite.results().device.name.c_str(),
                suite.results().device.kind.c_str(), SeedText(seed).c_str());
  }
  const int status = RUN_ALL_TESTS();
  const std::string filter = GTEST_FLAG_GET(filter);
  if (suite.options().all_evidence && (filter == "*" || filter.starts_with('-')) &&
      suite.assignment().evidence_elements > 0) {
    // The table and the report also show rungs without a measured criterion: in whole runs, and if the filter only
    // excludes tests, as when a killed run is continued.
    for (const std::string& rung : suite.SelectedRungs()) {
      if (suite.IsSettled(rung) || suite.assignment().FindRung(rung)->host_only) continue;
      memory->budget.BeginTest();
      if (evidence.Submission(rung).profile) evidence.Reference(rung);
    }
  }
  if (const auto& ranking = suite.assignment().ranking) {
    suite.results().ranking = Rank(*ranking, suite.results(), suite.options());
  }
  suite.results().finished = true;
  suite.Save();
  std::fputs(LadderTable(suite, UseColor()).c_str(), stdout);
  std::fflush(stdout);
  if (suite.results().HarnessFailed()) return kHarnessFailed;
  return status == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lockstep::judge

int main(int argc, char** argv) {
  // Writing to a dead worker must not kill the judge.
  std::signal(SIGPIPE, SIG_IGN);
  const std::string program = argc > 0 ? lockstep::judge::ProgramName(argv[0]) : "suite";
  int status = 0;
  try {
    status = lockstep::judge::Run(program, std::vector<std::string>(argv + 1, argv + argc));
  } catch (const std::exception& error) {
    status = lockstep::judge::Fail(program + ": " + error.what());
  }
  lockstep::judge::Suite::Set(nullptr);
  return status;
}
