// cuRAND's stand-in against what an H100's cuRAND printed: programs/rand/NAME.h100.txt.
// In turn (dev/unit_tests.sh): its programs call the functions of a whole library.
#include <gtest/gtest.h>

#include <cmath>
#include <regex>
#include <sstream>
#include <string>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"

namespace lockstep {
namespace rand_test {

class RandTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasLibrary("libcurand.so.10")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuRAND in this build: the toolkit has no curand.h");
    }
  }
  void Build(const std::string& name) { program_.Build("rand/" + name, "-lcurand"); }

  LibraryProgram program_;
};

TEST_F(RandTest, StatusesAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_statuses"));
  EXPECT_EQ(program_.Run("", "2>/dev/null"), program_.OnAnH100());
}

TEST_F(RandTest, SettingsAfterResultsAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_resets"));
  EXPECT_EQ(program_.Run("", "2>/dev/null"), program_.OnAnH100());
}

// Words must be equal; numbers with a decimal point (normal distributions) may differ by 0.001 + 1e-5 of their size.
void ExpectAlike(const std::string& text, const std::string& expected) {
  std::istringstream lines(text), expected_lines(expected);
  std::string line, expected_line;
  while (std::getline(expected_lines, expected_line)) {
    ASSERT_TRUE(std::getline(lines, line)) << "missing: " << expected_line;
    std::istringstream words(line), expected_words(expected_line);
    for (std::string word, expected_word; expected_words >> expected_word;) {
      ASSERT_TRUE(words >> word) << line << "\nH100: " << expected_line;
      if (expected_word.find('.') == std::string::npos) {
        ASSERT_EQ(word, expected_word) << line << "\nH100: " << expected_line;
      } else {
        const double value = std::stod(expected_word);
        ASSERT_NEAR(std::stod(word), value, 1e-3 + 1e-5 * std::abs(value)) << line << "\nH100: " << expected_line;
      }
    }
  }
  EXPECT_FALSE(std::getline(lines, line)) << line;
}

TEST_F(RandTest, BitsAndUniformsAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_values"));
  ExpectAlike(program_.Run("", "2>/dev/null"), program_.OnAnH100());
  const std::regex host(" on the host");
  ExpectAlike(std::regex_replace(program_.Run("", "host 2>/dev/null"), host, ""), program_.OnAnH100());
}

TEST_F(RandTest, MersenneTwisterIsAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_mersenne"));
  ExpectAlike(program_.Run("", "2>/dev/null"), program_.OnAnH100());
}

TEST_F(RandTest, MersenneTwisterStartsAgainAsAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_again"));
  EXPECT_EQ(program_.Run("", "2>&1"), program_.OnAnH100());
}

// Lines of means that are refused for a type of generator are not compared.
TEST_F(RandTest, PoissonIsAnH100s) {  // daily
  ASSERT_NO_FATAL_FAILURE(Build("rand_poisson"));
  std::istringstream lines(program_.Run("", "2>/dev/null")), expected_lines(program_.OnAnH100());
  int compared = 0;
  std::string line, expected_line;
  while (std::getline(expected_lines, expected_line)) {
    ASSERT_TRUE(std::getline(lines, line)) << "missing: " << expected_line;
    if (line.ends_with(": 999 999")) continue;
    EXPECT_EQ(line, expected_line);
    ++compared;
  }
  EXPECT_EQ(compared, 265);
}

TEST_F(RandTest, DirectionVectorsAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_directions"));
  EXPECT_EQ(program_.Run("", "2>/dev/null"), program_.OnAnH100());
}

// The first results of XORWOW with the seed 0, in a stream, as launches whose memory is checked.
TEST_F(RandTest, ResultsAreWorkOfTheStream) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_streams"));
  const std::string text = program_.Run("--check --profile ", "2>&1");
  EXPECT_NE(text.find("in order 1\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\n  curandGenerate         2     -      -  "), std::string::npos) << text;
  EXPECT_NE(text.find("Findings\n  none\n"), std::string::npos) << text;
}

TEST_F(RandTest, ResultsPastTheirBufferAreAFault) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_streams"));
  const std::string text = program_.Run("", "outside 2>&1");
  EXPECT_NE(text.find("outside 0\n"), std::string::npos) << text;
  EXPECT_NE(text.find("curandGenerateUniform writes the results\n"), std::string::npos) << text;
}

TEST_F(RandTest, WhatIsMissingIsRefusedByName) {
  ASSERT_NO_FATAL_FAILURE(Build("rand_streams"));
  const std::string text = program_.Run("", "missing 2>&1");
  for (const char* const what :
       {"curandSetGeneratorOrdering (", "does not support CURAND_ORDERING_PSEUDO_DYNAMIC of cuRAND's host API",
        "does not support this mean of Poisson's distribution with this type of generator of",
        "does not support normal numbers after Poisson's: call curandSetGeneratorOffset of"}) {
    EXPECT_NE(text.find(what), std::string::npos) << what << " is not in:\n" << text;
  }
  EXPECT_NE(text.find("statuses 999 999 999\n"), std::string::npos) << text;
}

}  // namespace rand_test
}  // namespace lockstep
