// Kernels that launch kernels. device_launches.h100.txt is what an H100 printed.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "tests/support/nvcc.h"
#include "tests/support/recorded.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kPrograms = LOCKSTEP_SOURCE_DIR "/harness/tests/cudart/programs/";

class DeviceLaunchesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // in turn
    for (const std::string name : {"device_launches", "device_launches_found"}) {
      CompileProgram(kPrograms + name + ".cu -lcudadevrt", Folder() + name, "-rdc=true");
    }
  }
  static const std::string& Folder() {
    static const TemporaryFolder folder;
    return folder.path();
  }
  static Output Run(const std::string& flags, const std::string& program = "device_launches") {
    return Execute("timeout 60 " + std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --color=never " + flags + " " +
                   Folder() + program + " 2>&1");
  }
  // What the H100 printed: first without an argument, then with each argument, in this order.
  static std::string Recorded() { return ReadRecorded(kPrograms + "device_launches.h100.txt"); }
  static std::string RecordedOf(const std::string& argument) {
    // By argument: the text at which its part begins, and the text before which it ends.
    const std::map<std::string, std::pair<std::string, std::string>> places = {
        {"", {"one each:", "without end:"}},
        {"deep", {"without end:", "tail after tail:"}},
        {"chain", {"tail after tail:", "100 tails and"}},
        {"both", {"100 tails and", "4096 tails:"}},
        {"tails", {"4096 tails:", "0 becomes"}},
        {"limits", {"0 becomes", "10000 children:"}},
        {"pending", {"10000 children:", "fault:"}},
        {"fault", {"fault:", "no such text"}}};
    const auto& [from, to] = places.at(argument);
    const std::string text = Recorded();
    const size_t begin = text.find(from);
    return text.substr(begin, text.find(to) - begin);
  }
};

TEST_F(DeviceLaunchesTest, PrintsWhatAnH100Printed) {
  const Output output = Run("");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, RecordedOf(""));
}

TEST_F(DeviceLaunchesTest, CheckersFindNothingAndChangeNothing) {
  const Output output = Run("--check --threads=3");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, RecordedOf("") + "\nFindings\n  none\n");
}

TEST_F(DeviceLaunchesTest, PendingLaunchesMeetTheirLimitWhereAnH100sDo) {
  for (const char* argument : {"deep", "chain", "both", "tails", "limits", "pending"}) {
    EXPECT_EQ(Run("", std::string("device_launches ") + argument).text, RecordedOf(argument));
  }
}

TEST_F(DeviceLaunchesTest, AChildsFaultNamesItsParent) {
  const std::string text = Run("", "device_launches fault").text;
  EXPECT_NE(text.find("BOUNDS  Faulty<<<1,1>>>"), std::string::npos) << text;
  EXPECT_NE(text.find("from    LaunchesFaulty at device_launches.cu:"), std::string::npos) << text;
  EXPECT_NE(text.find(RecordedOf("fault")), std::string::npos) << text;
}

TEST_F(DeviceLaunchesTest, EachChildIsALaunchOfItsOwn) {
  const std::string text = Run("--profile", "device_launches_found profile").text;
  for (const char* row : {"AddsThrice                     1 ", "AddOne (by AddsThrice)         3 ",
                          "AddOne                         1 "}) {
    EXPECT_NE(text.find(row), std::string::npos) << row << "\n" << text;
  }
}

TEST_F(DeviceLaunchesTest, CheckersLookAtChildren) {
  const std::string text = Run("--check", "device_launches_found found").text;
  for (const char* line : {"RACE  Races<<<1,64>>>", "UNINIT  Reads<<<1,1>>>",
                           "from    LaunchesBoth at device_launches_found.cu:14, which launched it",
                           "from    LaunchesBoth at device_launches_found.cu:15, which launched it"}) {
    EXPECT_NE(text.find(line), std::string::npos) << line << "\n" << text;
  }
}

TEST_F(DeviceLaunchesTest, WorkOfAnotherStreamRacesWithAChild) {
  const std::string text = Run("--check", "device_launches_found streams").text;
  EXPECT_NE(text.find("RACE"), std::string::npos) << text;
  EXPECT_NE(text.find("first   StoresSecond in stream 1"), std::string::npos) << text;
  EXPECT_EQ(text.find("StoresFirst in stream"), std::string::npos) << text;
}

TEST_F(DeviceLaunchesTest, WhatIsMissingIsRefusedByName) {
  EXPECT_EQ(Run("", "device_launches_found attributes").text, "cudaSuccess\n");
  const std::string ones = Run("", "device_launches_found ones").text;
  EXPECT_NE(ones.find("cudaMemsetAsync in a kernel with a value that is not 0"), std::string::npos) << ones;
}

// A child that waits for the host runs concurrently with it, like any waiting kernel.
TEST_F(DeviceLaunchesTest, AChildMayWaitForTheHost) {
  EXPECT_EQ(Run("", "device_launches_found waits").text, "cudaErrorNotReady cudaSuccess 5\ncudaSuccess\n");
}

}  // namespace
}  // namespace lockstep
