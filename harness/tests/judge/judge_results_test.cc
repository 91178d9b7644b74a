#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "judge/model/results.h"
#include "judge/model/text.h"
#include "tests/support/golden.h"

namespace lockstep::judge {
namespace judge_results_test {

TEST(TextTest, PrintableKeepsTextAndWritesOutTheRest) {
  EXPECT_EQ(Printable("plain\n\ttext"), "plain\n\ttext");
  EXPECT_EQ(Printable("µs ✓ 𝄞"), "µs ✓ 𝄞");
  EXPECT_EQ(Printable("\033[31mred\r"), "\\x1B[31mred\\x0D");
  EXPECT_EQ(Printable(std::string("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\xff\xfe"), "\\xFF\\xFE");
  EXPECT_EQ(Printable("\xc3"), "\\xC3");                    // cut short
  EXPECT_EQ(Printable("\xc0\xaf"), "\\xC0\\xAF");           // overlong
  EXPECT_EQ(Printable("\xed\xa0\x80"), "\\xED\\xA0\\x80");  // surrogate
  EXPECT_EQ(Printable("\xf4\x90\x80\x80"), "\\xF4\\x90\\x80\\x80");
  EXPECT_EQ(Printable("\xc2\x9b"), "\\xC2\\x9B");  // a control character of two bytes
}

TEST(TextTest, ExcerptIsBoundedAndSaysSo) {
  EXPECT_EQ(Excerpt("a\nb\nc\n", 5, 10, "> "), "> a\n> b\n> c");
  EXPECT_EQ(Excerpt("a\nb\nc\n", 1, 10, "> "), "> a\n> … and 2 more lines");
  EXPECT_EQ(Excerpt("abcdef", 1, 3, ""), "abc …");
  EXPECT_EQ(Excerpt("aaµ", 1, 3, ""), "aa …");
  EXPECT_EQ(Excerpt("", 1, 3, ""), "");
}

TEST(TextTest, NumbersAreGrouped) {
  EXPECT_EQ(Grouped(0), "0");
  EXPECT_EQ(Grouped(999), "999");
  EXPECT_EQ(Grouped(4194304), "4,194,304");
  EXPECT_EQ(Figure(4194304), "4,194,304");
  EXPECT_EQ(Figure(0.731249), "0.7312");
  EXPECT_EQ(Figure(-12345.6), "-12,346");
}

TEST(TextTest, NumbersHaveTheDigitsThatTellThemApart) {
  EXPECT_EQ(FigureApart(12.0005, 12), "12.001");
  EXPECT_EQ(FigureApart(12.0000001, 12), "12.0000001");
  EXPECT_EQ(FigureApart(0.74001, 0.74), "0.74001");
  EXPECT_EQ(FigureApart(12.25, 12), "12.25");
  EXPECT_EQ(FigureApart(12, 12), "12");
}

Results Example() {
  Results results;
  results.assignment = "04_reduction";
  results.suite = "public";
  results.seed = 7;
  results.finished = true;
  results.device = {"vgpu", "h200", "NVIDIA H200", 2};
  TestResult test;
  test.name = "ReductionTest.SumsAnyLength/reduce1_interleaved";
  test.rung = "reduce1_interleaved";
  test.verdict = Verdict::kRace;
  test.seconds = 0.25;
  test.message = {"RACE …", {{"at", "reduction.cu:41", "reduction.cu", 41}}, "read first"};
  test.output = "score: 100\xff\033[2J";
  test.reproduce = "make test";
  vgpu::Finding finding;
  finding.kind = vgpu::FindingKind::kRace;
  finding.kernel = "k";
  finding.first.file = "/secret/path/reduction.cu";
  finding.first.line = 41;
  finding.count = 3;
  test.findings = {finding};
  results.tests = {test};
  results.evidence = {
      {"reduce2.divergence", "reduce2_strided", "divergent_branches / branches", 0.25, Verdict::kSlow, {"m", {}, "h"}},
      {"reduce3.conflicts", "reduce3_sequential", "shared_conflicts", std::nullopt, Verdict::kWrong, {"n", {}, ""}}};
  vgpu::LaunchRecord launch;
  launch.kernel = "k";
  launch.grid = {4, 1, 1};
  launch.block = {128, 1, 1};
  launch.microseconds = 12.5;
  launch.bound_by = "dram";
  launch.counters.barriers = 9;
  launch.lines = {{"/secret/path/reduction.cu", 41, launch.counters}};
  vgpu::AccessSample sample{false, vgpu::MemorySpace::kGlobal, vgpu::AccessKind::kStore, 0x80000001u, 4, 2, 1, 3, 1};
  sample.at[0] = 0x7000'0000'0104;
  sample.at[31] = 0x7000'0000'2100;
  launch.lines[0].global = std::make_shared<const vgpu::AccessSample>(sample);
  results.profiles = {MakeProfile("reduce1_interleaved", "submission", 512, {launch})};
  results.profiles[0].advice = {{"k", 3, "dram", {0.5, 14, 0.4}, {}, {{"tile", "", 1.5, {{"/secret/path/a.cu", 41}}}}}};
  results.ranking = {"reduce1_interleaved", "microseconds", "h200", 12.5, std::nullopt};
  return results;
}

TEST(ResultsTest, JsonHasTheDocumentedForm) {
  const nlohmann::json json = nlohmann::json::parse(ResultJson(Example()));
  EXPECT_EQ(json["format"], 2);
  EXPECT_EQ(json["suite"], "public");
  EXPECT_EQ(json["seed"], "7");
  EXPECT_EQ(json["finished"], true);
  EXPECT_EQ(json["device"]["profile"], "h200");
  const auto& test = json["tests"][0];
  EXPECT_EQ(test["verdict"], "RACE");
  EXPECT_EQ(test["output"], "score: 100\\xFF\\x1B[2J");
  EXPECT_EQ(test["findings"][0]["kind"], "race");
  EXPECT_EQ(test["lines"],
            nlohmann::json::parse(R"([{"label":"at","text":"reduction.cu:41","file":"reduction.cu","line":41}])"));
  EXPECT_EQ(test["hint"], "read first");
  EXPECT_EQ(test["findings"][0]["places"][0]["file"], "reduction.cu");
  EXPECT_EQ(test["findings"][0]["places"][0]["line"], 41);
  EXPECT_EQ(test["findings"][0]["count"], 3);
  EXPECT_EQ(test["findings"][0]["missing"], "warp barrier");
  EXPECT_EQ(test["findings"][0]["places"][0]["access"], "load");
  EXPECT_EQ(json["evidence"][0]["value"], 0.25);
  EXPECT_EQ(json["evidence"][0]["verdict"], "SLOW");
  EXPECT_TRUE(json["evidence"][1]["value"].is_null());
  const auto& profile = json["profiles"][0];
  EXPECT_EQ(profile["n"], 512);
  EXPECT_EQ(profile["counters"]["barriers"], 9);
  EXPECT_EQ(profile["figures"]["threads"], 512);
  EXPECT_EQ(profile["figures"]["sectors"], 0);
  EXPECT_EQ(profile["launches"][0]["grid"], nlohmann::json({4, 1, 1}));
  EXPECT_EQ(profile["launches"][0]["bound_by"], "dram");
  EXPECT_EQ(profile["lines"][0]["file"], "reduction.cu");
  EXPECT_EQ(profile["lines"][0]["counters"]["barriers"], 9);
  ASSERT_EQ(profile["lines"][0]["accesses"].size(), 1u);
  const auto& access = profile["lines"][0]["accesses"][0];
  EXPECT_EQ(access["access"], "store");
  EXPECT_EQ(access["cost"], 2);
  EXPECT_EQ(access["lanes"][0], 4) << "from a multiple of 128";
  EXPECT_EQ(access["lanes"][31], 0x2000);
  EXPECT_EQ(access["lanes"][1], -1);
  EXPECT_EQ(profile["advice"][0]["changes"][0]["saved_microseconds"], 1.5);
  EXPECT_EQ(profile["advice"][0]["changes"][0]["lines"][0], nlohmann::json({{"file", "a.cu"}, {"line", 41}}));
  EXPECT_EQ(json["leaderboard"]["metric"], "microseconds");
  EXPECT_EQ(json["leaderboard"]["rung"], "reduce1_interleaved");
  EXPECT_EQ(json["leaderboard"]["profile"], "h200");
  EXPECT_EQ(json["leaderboard"]["value"], 12.5);
  EXPECT_TRUE(json["leaderboard"]["reference"].is_null());
  EXPECT_EQ(ResultJson(Example()).find("/secret"), std::string::npos);
}

TEST(ResultsTest, WhatASubmissionCanMakeLongIsCut) {
  Results results = Example();
  TestResult& test = results.tests[0];
  test.message.headline = test.output = std::string(1'000'000, '\033');
  test.findings[0].kernel = test.findings[0].first.file = test.findings[0].detail = std::string(240'000, 'k');
  test.findings.resize(100, test.findings[0]);
  vgpu::LaunchRecord launch = results.profiles[0].launches[0];
  launch.kernel = std::string(240'000, 'k');
  for (int line = 1; line <= 5000; ++line) {
    launch.lines.push_back({"reduction.cu", line, {}});
    launch.lines.back().counters.warp_instructions = static_cast<uint64_t>(line);
  }
  results.profiles[0] = MakeProfile("reduce1_interleaved", "submission", 512, {launch});
  launch.kernel.resize(1000);  // still longer than what is kept; 10,000 launches of the size above would be 14 GB
  launch.lines.clear();
  results.profiles[0].launches.resize(10'000, launch);
  const std::string text = ResultJson(results);
  EXPECT_LT(text.size(), size_t{8} << 20);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_EQ(json["tests"][0]["message"].get<std::string>().size(), 16u * 1024);
  EXPECT_EQ(json["tests"][0]["output"].get<std::string>().size(), 64u * 1024);
  EXPECT_EQ(json["tests"][0]["findings"].size(), 20u);
  EXPECT_EQ(json["tests"][0]["findings"][0]["kernel"].get<std::string>().size(), 200u);
  EXPECT_EQ(json["tests"][0]["findings"][0]["text"].get<std::string>().size(), 2000u);
  const auto& profile = json["profiles"][0];
  EXPECT_EQ(profile["launches"].size(), 10'000u) << "metrics need the shapes of all launches";
  EXPECT_TRUE(profile["launches"][199].contains("counters"));
  EXPECT_FALSE(profile["launches"][200].contains("counters"));
  EXPECT_EQ(profile["launches"][200]["kernel"].get<std::string>().size(), 60u);
  EXPECT_EQ(profile["lines"].size(), 1000u);
  EXPECT_EQ(profile["lines"][0]["line"], 4001) << "the costliest lines are kept";
}

TEST(ResultsTest, AFileThatIsTooLargeAllTheSameLosesItsDetails) {  // in turn
  Results results = Example();
  vgpu::LaunchRecord launch = results.profiles[0].launches[0];
  launch.kernel = std::string(240, 'k');
  RungProfile profile = MakeProfile("reduce1_interleaved", "submission", 512, {launch});
  profile.launches.resize(10'000, launch);
  results.profiles.resize(20, profile);
  const std::string text = ResultJson(results);
  EXPECT_LT(text.size(), size_t{64} << 20);
  const nlohmann::json json = nlohmann::json::parse(text);
  EXPECT_FALSE(json["profiles"][19].contains("lines"));
  EXPECT_EQ(json["profiles"][19]["launches"].size(), 10'000u);
}

TEST(TextTest, CutsBetweenCharacters) {
  EXPECT_EQ(Cut("abcdef", 6), "abcdef");
  EXPECT_EQ(Cut("abcdefg", 6), "abc…");
  EXPECT_EQ(Cut("ab\u00e4defg", 6), "ab…");
}

TEST(ResultsTest, HarnessFailureIsSeenInTestsAndEvidence) {
  Results results = Example();
  EXPECT_FALSE(results.HarnessFailed());
  results.evidence[0].verdict = Verdict::kHarness;
  EXPECT_TRUE(results.HarnessFailed());
}

class FileTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              ("results_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path folder_;
};

TEST_F(FileTest, IsReplacedAsAWhole) {
  WriteAtomically(folder_ / "r.json", "old");
  WriteAtomically(folder_ / "r.json", "new");
  EXPECT_EQ(tests::ReadText(folder_ / "r.json"), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(FileTest, LinksAreReplacedAndNotFollowed) {
  std::ofstream(folder_ / "victim") << "precious";
  std::filesystem::create_symlink(folder_ / "victim", folder_ / "r.json");
  WriteAtomically(folder_ / "r.json", "new");
  EXPECT_EQ(tests::ReadText(folder_ / "victim"), "precious");
  EXPECT_TRUE(std::filesystem::is_regular_file(std::filesystem::symlink_status(folder_ / "r.json")));
}

TEST_F(FileTest, FailureToWriteIsSaid) {
  EXPECT_THROW(WriteAtomically(folder_ / "nowhere" / "r.json", "x"), std::runtime_error);
}

TEST(ResultsTest, ATimelineIsKeptWithItsOperations) {
  Results results = Example();
  EXPECT_FALSE(nlohmann::json::parse(ResultJson(results))["profiles"][0].contains("timeline"));
  results.profiles[0].timeline = StreamTimeline{.timeline_us = 30, .bound_us = 20};
  results.profiles[0].timeline->operations.assign(
      3000, {vgpu::Lane::kToHost, 0, "copy", "stream \xff", 4096, true, 1.5, 2.5});
  const nlohmann::json timeline = nlohmann::json::parse(ResultJson(results))["profiles"][0]["timeline"];
  EXPECT_EQ(timeline["timeline_us"], 30);
  EXPECT_EQ(timeline["operations"].size(), 2000u);
  const auto& operation = timeline["operations"][0];
  EXPECT_EQ(operation["engine"], "to_host");
  EXPECT_EQ(operation["stream"], "stream \\xFF");
  EXPECT_EQ(operation["end"], 2.5);
}

TEST_F(FileTest, FiguresComeBack) {
  Results results = Example();
  results.profiles[0].timeline = StreamTimeline{.timeline_us = 30, .bound_us = 20};
  WriteAtomically(folder_ / "figures.json", FiguresJson(results));
  const std::vector<RungProfile> figures = ReadFigures(folder_ / "figures.json", "h200");
  ASSERT_EQ(figures.size(), 1u);
  EXPECT_EQ(figures[0].source, "reference");
  EXPECT_EQ(figures[0].counters, results.profiles[0].counters);
  EXPECT_EQ(figures[0].microseconds, 12.5);
  EXPECT_EQ(FigureOf(figures[0], "max_blocks"), 4);
  EXPECT_EQ(FigureOf(figures[0], "timeline_us"), 30);
  EXPECT_EQ(FigureOf(figures[0], "bound_us"), 20);
  EXPECT_TRUE(ReadFigures(folder_ / "figures.json", "g80").empty());
  EXPECT_TRUE(ReadFigures(folder_ / "absent.json", "h200").empty());
  std::ofstream(folder_ / "bad.json") << "{\"profiles\": 3}";
  EXPECT_THROW(ReadFigures(folder_ / "bad.json", "h200"), std::runtime_error);
}

TEST_F(FileTest, FiguresHaveALineForEachRungEqualLaunchesOnceAndNoZeros) {
  Results results = Example();
  std::vector<vgpu::LaunchRecord>& launches = results.profiles[0].launches;
  launches.insert(launches.end(), 128, launches[0]);
  launches.push_back(launches[0]);
  launches.back().grid.x = 5;
  launches.push_back(launches[0]);
  const std::string text = FiguresJson(results);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
  EXPECT_NE(text.find("\"counters\":{\"barriers\":9},\"count\":129}"), std::string::npos) << text;
  EXPECT_EQ(text.find(":0,"), std::string::npos) << text;
  WriteAtomically(folder_ / "figures.json", text);
  const std::vector<RungProfile> figures = ReadFigures(folder_ / "figures.json", "h200");
  ASSERT_EQ(figures.size(), 1u);
  ASSERT_EQ(figures[0].launches.size(), 131u);
  EXPECT_EQ(figures[0].launches[128].counters.barriers, 9u);
  EXPECT_EQ(figures[0].launches[129].grid.x, 5u);
}

// Nothing is lost by reading, and no committed file has another layout than --record writes.
TEST_F(FileTest, CommittedFiguresAreWrittenAgainAsTheyAre) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(LOCKSTEP_SOURCE_DIR) + "/assignments")) {
    const std::filesystem::path path = entry.path() / "figures.json";
    if (!std::filesystem::exists(path)) continue;
    ++files;
    const std::string text = tests::ReadText(path);
    const nlohmann::json json = nlohmann::json::parse(text);
    Results results;
    results.assignment = json["assignment"];
    results.device = {json["device"]["kind"], json["device"]["profile"], "", 1};
    results.profiles = ReadFigures(path, results.device.profile);
    EXPECT_FALSE(results.profiles.empty()) << path;
    for (RungProfile& profile : results.profiles) profile.source = "submission";
    const std::string nvcc = "\"nvcc\":" + json["nvcc"].dump() + ",";  // put in front by the grader
    EXPECT_EQ("{" + nvcc + FiguresJson(results).substr(1), text) << path;
  }
  EXPECT_GE(files, 11);
}

}  // namespace judge_results_test
}  // namespace lockstep::judge
