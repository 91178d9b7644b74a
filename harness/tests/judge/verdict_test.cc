#include "judge/model/verdict.h"

#include <gtest/gtest.h>

#include "tests/support/golden.h"
#include "vgpu/core/hint.h"

namespace lockstep::judge {
namespace verdict_test {

using vgpu::FindingKind;

vgpu::Finding Race() {
  vgpu::Finding finding;
  finding.kind = FindingKind::kRace;
  finding.kernel = "reduce3_sequential_kernel";
  finding.grid = {1, 1, 1};
  finding.block_dim = {128, 1, 1};
  finding.first = {{0, 0, 0},       {64, 0, 0}, "/home/ada/reduction.cu", 41, "", 0,
                   "ld.shared.u32", 90,         vgpu::AccessKind::kLoad};
  finding.second = vgpu::ThreadPlace{{0, 0, 0},       {0, 0, 0}, "/home/ada/reduction.cu", 47, "", 0,
                                     "st.shared.u32", 99,        vgpu::AccessKind::kStore};
  finding.memory = vgpu::MemoryPlace{vgpu::MemorySpace::kShared, 256, 4, true, "sdata", 0, 512, ""};
  finding.detail = "write after read";
  return finding;
}

TEST(VerdictTest, TableIsInOrderOfRankAndNamesAreFoundAgain) {
  for (size_t i = 0; i < AllVerdicts().size(); ++i) {
    const VerdictRow& row = AllVerdicts()[i];
    EXPECT_EQ(static_cast<size_t>(row.verdict), i);
    EXPECT_EQ(VerdictFromName(row.name), row.verdict);
    EXPECT_EQ(row.students_fault, row.verdict != Verdict::kHarness);
  }
  EXPECT_FALSE(VerdictFromName("pass"));
}

TEST(VerdictTest, AHintAboutAPythonFileHasNumbasNames) {
  vgpu::Finding race = Race();
  EXPECT_NE(MessageOf(ProblemOf(race), "Test").hint.find("__syncthreads()"), std::string::npos);
  race.first.file = "/home/ada/shift.py";
  race.second->file = race.first.file;
  const std::string hint = MessageOf(ProblemOf(race), "Test").hint;
  EXPECT_NE(hint.find("cuda.syncthreads()"), std::string::npos) << hint;
  EXPECT_EQ(hint.find("__sync"), std::string::npos) << hint;
}

TEST(VerdictTest, EveryVerdictIsDocumented) {
  const std::string page = tests::ReadText(LOCKSTEP_SOURCE_DIR "/docs/reference/verdicts.md");
  for (const VerdictRow& row : AllVerdicts()) {
    EXPECT_NE(page.find("`" + std::string(row.name) + "`"), std::string::npos) << row.name;
  }
}

TEST(VerdictTest, WorstIsTheFirstOfTheHighestRank) {
  EXPECT_EQ(Worst({}), nullptr);
  std::vector<Problem> problems(4);
  problems[0].verdict = Verdict::kWrong;
  problems[1].verdict = Verdict::kBounds;
  problems[1].place = "first";
  problems[2].verdict = Verdict::kBounds;
  problems[3].verdict = Verdict::kRace;
  EXPECT_EQ(Worst(problems)->place, "first");
}

TEST(VerdictTest, RaceMessage) {
  const Problem problem = ProblemOf(Race());
  EXPECT_EQ(problem.file, "reduction.cu");
  EXPECT_EQ(problem.line, 41);
  ExpectGolden("verdict_race.txt", FormatProblem(problem, "ReductionTest.SumsOneBlock/reduce3_sequential"));
}

TEST(VerdictTest, BoundsMessage) {
  vgpu::Finding finding = Race();
  finding.kind = FindingKind::kOutOfBounds;
  finding.fatal = true;
  finding.second.reset();
  finding.memory =
      vgpu::MemoryPlace{vgpu::MemorySpace::kGlobal, 0x200000000204, 4, true, "d_in", 0x200000000000, 516, ""};
  finding.detail = "";
  ExpectGolden("verdict_bounds.txt",
               FormatProblem(ProblemOf(finding), "ReductionTest.SumsAnyLength/reduce3_sequential"));
}

TEST(VerdictTest, UnsupportedInstructionIsTheProgramsChoice) {
  vgpu::Finding finding = Race();
  finding.kind = FindingKind::kUnsupported;
  finding.second.reset();
  finding.memory.reset();
  finding.first.instruction = "tcgen05.mma";
  finding.detail = "tcgen05.mma is not supported";
  const Problem problem = ProblemOf(finding);
  EXPECT_EQ(problem.verdict, Verdict::kApi);
  EXPECT_NE(FormatProblem(problem, "A.B").find("tcgen05.mma"), std::string::npos);
  EXPECT_TRUE(problem.hint == vgpu::Hint::kUnsupported);
}

TEST(VerdictTest, LaunchTextLeavesOutDimensionsOfOne) {
  EXPECT_EQ(LaunchText("k", {4, 1, 1}, {128, 1, 1}), "k<<<4,128>>>");
  EXPECT_EQ(LaunchText("k", {4, 2, 1}, {8, 8, 2}), "k<<<(4,2),(8,8,2)>>>");
}

}  // namespace verdict_test
}  // namespace lockstep::judge
