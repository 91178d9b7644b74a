// cuBLAS and cuFFT as submissions have them (libraries/submission): they give what the libraries for programs give,
// which were compared with an H100's, and their headers say what NVIDIA's say.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"
#include "tests/support/source_files.h"

namespace lockstep {
namespace submission_libraries_test {

const std::string kBuild = LOCKSTEP_BUILD_DIR;
const std::string kInclude = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/libraries/submission/include/";

std::vector<std::string> Words(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

// Whether the texts are equal, or are numbers that are near each other.
bool IsNear(const std::string& a, const std::string& b) {
  if (a == b) return true;
  char *a_end = nullptr, *b_end = nullptr;
  const double left = std::strtod(a.c_str(), &a_end), right = std::strtod(b.c_str(), &b_end);
  constexpr double kTolerance = 2e-5;  // single precision, sums of some hundred products
  return *a_end == 0 && *b_end == 0 && std::abs(left - right) <= kTolerance * std::max(1.0, std::abs(left));
}

class SubmissionLibrariesTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasFunction("libcublas.so.13", "cublasSgemm_v2") ||
        !LibraryProgram::HasFunction("libcufft.so.12", "cufftExecC2C")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no libraries for programs in this build: install libopenblas-dev and libeigen3-dev");
    }
    // The program is built without sanitizers, and nothing brings their runtime where vgpu-run does not start it.
    if (std::filesystem::exists(kBuild + "/link_flags.txt")) GTEST_SKIP() << "built with sanitizers";
    ASSERT_NO_FATAL_FAILURE(program_.Build("submission", "-lcublas -lcufft"));
  }
  Output RunAsSubmission(const std::string& settings = "") const {
    return Execute("env " + settings + " LD_LIBRARY_PATH=" + kBuild + "/lib/submission:" + kBuild + "/lib " +
                   program_.path() + " 2>/dev/null");
  }

  LibraryProgram program_;
};

TEST_F(SubmissionLibrariesTest, StatusesAndResultsAreTheOtherLibraries) {  // in turn
  const Output output = RunAsSubmission();
  ASSERT_EQ(output.status, 0);
  const std::vector<std::string> expected = Words(program_.Run("", "2>/dev/null")), got = Words(output.text);
  ASSERT_EQ(got.size(), expected.size());
  ASSERT_GT(got.size(), 200'000u);
  for (size_t k = 0; k < got.size(); ++k)
    ASSERT_TRUE(IsNear(expected[k], got[k])) << k << ": " << expected[k] << ", " << got[k];
}

TEST_F(SubmissionLibrariesTest, AJudgesProgramMayLoadThem) {  // in turn
  constexpr int kConnectionLost = 120;                        // there is no socket: it came as far as its first request
  EXPECT_EQ(RunAsSubmission("LOCKSTEP_SOCKET=999").status, kConnectionLost);
}

// What a header declares, each as an expression that prints: functions by their types, enumerators by their values.
std::string Printer(const std::string& header) {
  const std::string declared = std::regex_replace(tests::ReadText(kInclude + header), std::regex("\\\\\n"), " ");
  std::set<std::string> names;
  const std::regex function("\\b(cu(?:blas|fft)[A-Za-z0-9#_]*)\\("), enumerator("\\b(CU(?:BLAS|FFT)_[A-Za-z0-9_]+) = ");
  for (std::sregex_iterator it(declared.begin(), declared.end(), function), end; it != end; ++it) {
    for (const auto& [upper, lower] : {std::pair("S", "s"), std::pair("D", "d")}) {
      names.insert(std::regex_replace(std::regex_replace((*it)[1].str(), std::regex("##S##"), upper),
                                      std::regex("##s##"), lower));
    }
  }
  std::string source = "#include <" + header + ">\n#include <cstdio>\n#include <typeinfo>\nint main() {\n";
  for (const std::string& name : names)
    source += "  std::printf(\"" + name + " %s\\n\", typeid(decltype(" + name + ")).name());\n";
  for (std::sregex_iterator it(declared.begin(), declared.end(), enumerator), end; it != end; ++it) {
    source += "  std::printf(\"" + (*it)[1].str() + " %d\\n\", static_cast<int>(" + (*it)[1].str() + "));\n";
  }
  return source + "}\n";
}

TEST(SubmissionHeadersTest, SayWhatNvidiasSay) {
  const std::string toolkit = std::filesystem::path(LOCKSTEP_NVCC).parent_path().parent_path().string() + "/include";
  for (const std::string header : {"cublas_v2.h", "cufft.h"}) {
    if (!std::filesystem::exists(toolkit + "/" + header)) LOCKSTEP_SKIP_BUT_IN_CI("the toolkit has no " + header);
    const TemporaryFolder folder;
    const std::string source = folder.path() + "print.cc";
    std::ofstream(source) << Printer(header);
    const auto print = [&](const std::string& first) {
      const std::string program = folder.path() + "print";
      const Output built =
          Execute("g++ -std=c++20 -w -I" + first + " -I" + toolkit + " " + source + " -o " + program + " 2>&1");
      EXPECT_EQ(built.status, 0) << built.text;
      return Execute(program).text;
    };
    const std::string ours = print(kInclude), nvidias = print(toolkit);
    EXPECT_EQ(ours, nvidias);
    EXPECT_GT(Words(ours).size(), 60u);
  }
}

}  // namespace submission_libraries_test
}  // namespace lockstep
