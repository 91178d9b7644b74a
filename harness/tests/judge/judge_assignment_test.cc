#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "judge/model/assignment.h"

namespace lockstep::judge {
namespace judge_assignment_test {

class AssignmentTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("assignment_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  Assignment Load(const std::string& text) {
    std::ofstream(folder_ / "assignment.toml") << text;
    return LoadAssignment(folder_);
  }
  std::string ErrorOf(const std::string& text) {
    try {
      Load(text);
    } catch (const AssignmentError& error) {
      return error.what();
    }
    return "";
  }

  std::filesystem::path folder_;
};

constexpr char kHead[] = R"(
id = "x"
title = "X"
submission = "x.cu"
[evidence]
n = 1000
[[rung]]
id = "x1_a"
title = "A"
published_ms = 8
[[rung]]
id = "x2_b"
title = "B"
)";

TEST_F(AssignmentTest, ReadsAll) {
  const Assignment assignment = Load(std::string(kHead) + R"(
[limits]
call_seconds = 2.5
instruction_budget = 1000
[[criterion]]
id = "a.sum"
rung = "x1_a"
points = 3
title = "Sum"
tests = ["*/x1_a"]
[[criterion]]
id = "b.branches"
rung = "x2_b"
points = 3
bonus = true
title = "Branches gone"
metric = "branches / x1_a.branches"
full = 0.5
none = 1
hint = "h"
[leaderboard]
metric = "microseconds / x1_a.microseconds"
rung = "x2_b"
order = "asc"
)");
  EXPECT_EQ(assignment.id, "x");
  EXPECT_EQ(assignment.limits.call_seconds, 2.5);
  EXPECT_EQ(assignment.limits.instruction_budget, 1000u);
  EXPECT_EQ(assignment.evidence_elements, 1000u);
  ASSERT_EQ(assignment.rungs.size(), 2u);
  EXPECT_EQ(assignment.rungs[0].published_ms, 8);
  EXPECT_FALSE(assignment.rungs[0].bonus);
  EXPECT_TRUE(assignment.rungs[1].bonus);
  ASSERT_EQ(assignment.criteria.size(), 1u);
  EXPECT_EQ(assignment.criteria[0].metric.denominator->scope, "x1_a");
  EXPECT_EQ(assignment.criteria[0].budget.full, 0.5);
  ASSERT_TRUE(assignment.ranking);
  EXPECT_EQ(assignment.ranking->metric.denominator->scope, "x1_a");
  EXPECT_EQ(assignment.ranking->rung, "x2_b");
  EXPECT_FALSE(Load(kHead).ranking);
}

TEST_F(AssignmentTest, ErrorsNameFileAndKey) {
  const auto expect = [&](const std::string& text, const std::string& part) {
    const std::string error = ErrorOf(text);
    EXPECT_NE(error.find("assignment.toml"), std::string::npos) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect("id = 3", "id has to be a text in quotes");
  expect("id = \"x\"", "title is missing");
  expect("id = ", "assignment.toml:1");
  expect("id = \"x\"\ntitle = \"X\"\nsubmission = \"x.cu\"", "there is no [[rung]]");
  expect(std::string(kHead) + "[[rung]]\nid = \"x1_a\"\ntitle = \"again\"", "is there twice");
  expect(std::string(kHead) + "[limits]\ninstruction_budget = -1", "instruction_budget has to be a whole number");
  expect(std::string(kHead) + "[limits]\ncall_seconds = 0", "call_seconds has to be above 0");
  const std::string criterion = std::string(kHead) + "[[criterion]]\nid = \"c\"\ntitle = \"C\"\n";
  expect(criterion + "rung = \"x1_a\"", "needs one of tests, metric and timing");
  expect(criterion + "rung = \"x9\"\nmetric = \"branches\"\nfull = 1\nnone = 2", "is the id of no [[rung]]");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"x9.branches\"\nfull = 1\nnone = 2", "neither \"reference\" nor");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"branches\"\nfull = 1\nnone = 2\nonly_where = \"x9.branches <= 2\"",
         "neither \"reference\" nor");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"branches\"\nfull = 1\nnone = 2\nonly_where = \"branches\"",
         "expected METRIC <= NUMBER");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"grace\"\nfull = 1\nnone = 2", "is no counter");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"branches\"\nfull = 1\nnone = 1", "full and none have to differ");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"branches\"\nfull = 1", "none is missing");
  expect(criterion + "rung = \"x1_a\"\nmetric = \"timeline_us / reference.bound_us\"\nfull = 1\nnone = 2",
         "needs timeline = true in [evidence]");
  const std::string leaderboard = std::string(kHead) + "[leaderboard]\n";
  expect(leaderboard + "metric = \"timeline_us\"\nrung = \"x1_a\"", "can't rank by a timeline");
  expect(leaderboard + "metric = \"microseconds\"\nrung = \"x9\"", "is the id of no [[rung]]");
  expect(leaderboard + "metric = \"grace\"\nrung = \"x1_a\"", "[leaderboard] metric = \"grace\": \"grace\" is no");
  expect(leaderboard + "metric = \"x9.branches\"\nrung = \"x1_a\"", "neither \"reference\" nor");
}

TEST_F(AssignmentTest, GivesLibrariesOnlyWhereItSaysSo) {
  const Limits none = Load(kHead).limits;
  EXPECT_FALSE(none.cublas || none.cufft);
  const Limits some = Load("libraries = [\"thrust\", \"cufft\"]\n" + std::string(kHead)).limits;
  EXPECT_FALSE(some.cublas);
  EXPECT_TRUE(some.cufft);
  for (const char* const wrong : {"\"cufft\"", "[1]", "true"}) {
    const std::string error = ErrorOf("libraries = " + std::string(wrong) + "\n" + kHead);
    EXPECT_NE(error.find("libraries has to be a list of texts in quotes"), std::string::npos) << error;
  }
}

TEST_F(AssignmentTest, ARungOnTheHostIsNotMeasured) {
  const std::string host = std::string(kHead) + "[[rung]]\nid = \"x3_c\"\ntitle = \"C\"\nhost_only = true\n";
  EXPECT_FALSE(Load(host).rungs[0].host_only);
  EXPECT_TRUE(Load(host).rungs[2].host_only);
  const std::string criterion = host + "[[criterion]]\nid = \"c\"\ntitle = \"C\"\nrung = \"x3_c\"\n";
  EXPECT_EQ(ErrorOf(criterion + "tests = [\"*\"]"), "");
  EXPECT_NE(ErrorOf(criterion + "metric = \"branches\"\nfull = 1\nnone = 2").find("host_only"), std::string::npos);
}

TEST_F(AssignmentTest, MissingFileSaysWhatToType) {
  EXPECT_THROW(LoadAssignment(folder_ / "nowhere"), AssignmentError);
}

TEST(AssignmentsTest, EachOneInTheTreeIsRead) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LOCKSTEP_SOURCE_DIR) + "/assignments")) {
    if (!std::filesystem::exists(entry.path() / "assignment.toml")) continue;
    EXPECT_EQ(LoadAssignment(entry.path()).id, entry.path().filename().string());
    ++count;
  }
  EXPECT_GT(count, 0);
}

TEST(RungTest, IsSelectedByIdPartOrNumber) {
  EXPECT_TRUE(RungMatches("reduce3_sequential", ""));
  EXPECT_TRUE(RungMatches("reduce3_sequential", "reduce3_sequential"));
  EXPECT_TRUE(RungMatches("reduce3_sequential", "reduce3"));
  EXPECT_TRUE(RungMatches("reduce3_sequential", "3"));
  EXPECT_FALSE(RungMatches("reduce3_sequential", "reduce"));
  EXPECT_FALSE(RungMatches("reduce3_sequential", "2"));
  EXPECT_FALSE(RungMatches("reduce13_x", "3"));
  EXPECT_FALSE(RungMatches("shuffle", "3"));
}

}  // namespace judge_assignment_test
}  // namespace lockstep::judge
