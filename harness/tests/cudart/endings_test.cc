// Findings of --check are printed however the program ends (cudart/programs/endings.cu).
#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "tests/support/nvcc.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

class EndingsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    CompileProgram(LOCKSTEP_SOURCE_DIR "/harness/tests/cudart/programs/endings.cu", Program(), "-g");
  }
  static std::string Program() {
    static const TemporaryFolder folder;
    return folder.path() + "endings";
  }
  // Prints the shell's status too: 128 + the signal for a program that a signal ended.
  static Output Run(const std::string& ending, const std::string& check = "--check") {
    // MALLOC_PERTURB_: memory that is freed is overwritten.
    return Execute("MALLOC_PERTURB_=77 sh -c '" LOCKSTEP_BUILD_DIR "/bin/vgpu-run --color=never " + check + " " +
                   Program() + " " + ending + "; echo status $?' 2>&1");
  }
  static size_t Times(const std::string& text, const std::string& part) {
    size_t times = 0;
    for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++times;
    return times;
  }
};

TEST_F(EndingsTest, TheRaceIsToldOnceHoweverTheProgramEnds) {
  for (const auto& [ending, status, named] : {std::tuple{"return", 0, ""},
                                              {"exit", 3, ""},
                                              {"static", 0, ""},
                                              {"assert", 128 + SIGABRT, "SIGABRT"},
                                              {"abort", 128 + SIGABRT, "SIGABRT"},
                                              {"exception", 128 + SIGABRT, "SIGABRT"},
                                              {"_exit", 3, "_exit()"},
                                              {"_Exit", 3, "_exit()"},
                                              {"quick_exit", 3, "quick_exit()"},
                                              {"null", 128 + SIGSEGV, "SIGSEGV"},
                                              {"stack", 128 + SIGSEGV, "SIGSEGV"},
                                              {"terminate", 128 + SIGTERM, "SIGTERM"},
                                              {"interrupt", 128 + SIGINT, "SIGINT"},
                                              {"own_handler", 0, ""},
                                              {"child", 0, ""}}) {
    const std::string text = Run(ending).text;
    EXPECT_EQ(Times(text, "\nRACE  AddUp"), 1u) << ending << text;
    EXPECT_EQ(Times(text, "Findings"), 1u) << ending << text;
    EXPECT_NE(text.find("status " + std::to_string(status) + "\n"), std::string::npos) << ending << text;
    const std::string until = std::string("until the program was ended by ") + named;
    EXPECT_EQ(Times(text, until), *named == '\0' ? 0u : 1u) << ending << text;
    EXPECT_EQ(Times(text, "LEAK"), std::string(ending) == "exit" ? 1u : 0u) << ending << text;
    EXPECT_EQ(Times(text, "objects are gone"), std::string(ending) == "static" ? 1u : 0u) << ending << text;
    EXPECT_EQ(Times(text, "it goes on"), std::string(ending) == "own_handler" ? 1u : 0u) << ending << text;
  }
}

TEST_F(EndingsTest, WithoutAReportNothingIsSaid) {
  for (const char* ending : {"abort", "_exit", "null"})
    EXPECT_EQ(Times(Run(ending, "").text, "Findings"), 0u) << ending;
}

}  // namespace
}  // namespace lockstep
