#include <gtest/gtest.h>

#include <fstream>

#include "judge/model/options.h"
#include "tests/support/golden.h"

namespace lockstep::judge {
namespace judge_options_test {

TEST(OptionsTest, TakesItsFlagsAndLeavesGoogleTestsOwn) {
  std::vector<std::string> arguments = {"--worker=w",        "--gtest_filter=A.*", "--seed=7",   "--device=cuda",
                                        "--assignment=d",    "--threads=4",        "--rung=3",   "--checks=none",
                                        "--profile=g80",     "--result=r.json",    "--prefix=p", "--reference=ref",
                                        "--evidence=judged", "--one-failure"};
  const ParsedOptions parsed = ParseOptions(arguments);
  EXPECT_TRUE(parsed.errors.empty());
  EXPECT_EQ(arguments, std::vector<std::string>{"--gtest_filter=A.*"});
  EXPECT_EQ(parsed.options.worker, "w");
  EXPECT_TRUE(parsed.options.seed == SeedNumber{7});
  EXPECT_EQ(parsed.options.device, DeviceKind::kCuda);
  EXPECT_EQ(parsed.options.threads, 4);
  EXPECT_EQ(parsed.options.rung, "3");
  EXPECT_FALSE(parsed.options.checks);
  EXPECT_FALSE(parsed.options.all_evidence);
  EXPECT_TRUE(parsed.options.one_failure);
  EXPECT_EQ(parsed.options.profile, "g80");
}

std::string ErrorOf(const std::string& argument) {
  std::vector<std::string> arguments = {argument};
  const ParsedOptions parsed = ParseOptions(arguments);
  return parsed.errors.size() == 1 ? parsed.errors[0] : "";
}

TEST(OptionsTest, ErrorsSayWhatToType) {
  EXPECT_EQ(ErrorOf("--wroker=x"), "there is no flag --wroker=x; --help lists them");
  EXPECT_EQ(ErrorOf("x.cu"), "there is no flag x.cu; --help lists them");
  EXPECT_EQ(ErrorOf("--worker"), "--worker takes a value: --worker=PATH");
  EXPECT_EQ(ErrorOf("--worker="), "--worker=: it takes a path");
  EXPECT_EQ(ErrorOf("--help=all"), "--help takes no value");
  EXPECT_EQ(ErrorOf("--seed=-1"), "--seed=-1: it takes a whole number below 2^128, as in --seed=7");
  EXPECT_EQ(ErrorOf("--seed=7x"), "--seed=7x: it takes a whole number below 2^128, as in --seed=7");
  EXPECT_EQ(ErrorOf("--threads=0"), "--threads=0: it takes a number from 1 to 1024");
  EXPECT_EQ(ErrorOf("--device=tpu"), "--device=tpu: it takes vgpu or cuda");
  EXPECT_EQ(ErrorOf("--checks=some"), "--checks=some: it takes all or none");
  EXPECT_EQ(ErrorOf("--evidence=none"), "--evidence=none: it takes all or judged");
}

TEST(OptionsTest, TakesTheSeedFromAFile) {
  const std::string path = testing::TempDir() + "judge_options_seed";
  for (const auto& [content, seed] : {std::pair<const char*, std::optional<SeedNumber>>{"11\n", SeedNumber{11}},
                                      {"11x\n", std::nullopt},
                                      {"", std::nullopt}}) {
    std::ofstream(path) << content;
    std::vector<std::string> arguments = {"--seed-file=" + path};
    const ParsedOptions parsed = ParseOptions(arguments);
    EXPECT_TRUE(parsed.options.seed == seed);
    EXPECT_EQ(parsed.errors.empty(), seed.has_value());
  }
  EXPECT_EQ(ErrorOf("--seed-file=/no/such/file"), "--seed-file=/no/such/file: it can't be read");
}

TEST(OptionsTest, HelpText) { ExpectGolden("suite_help.txt", HelpText("04_reduction_suite")); }

}  // namespace judge_options_test
}  // namespace lockstep::judge
