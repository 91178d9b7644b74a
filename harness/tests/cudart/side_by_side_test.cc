// Kernels that wait for the host and for each other. side_by_side.h100.txt is what side_by_side.cu printed on an H100.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/nvcc.h"
#include "tests/support/recorded.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kSource = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/cudart/programs/side_by_side";

class ConcurrentWorkTest : public testing::Test {
 protected:
  static void SetUpTestSuite() { CompileProgram(kSource + ".cu", Program()); }
  static std::string Program() {
    static const TemporaryFolder folder;
    return folder.path() + "side_by_side";
  }
  // With a time limit, as a wrong virtual GPU might wait forever.
  static Output Run(const std::string& flags, const std::string& arguments = "") {
    return Execute("timeout 60 " + std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --color=never " + flags + " " +
                   Program() + " " + arguments + " 2>&1");
  }
  static std::string Expected() { return ReadRecorded(kSource + ".h100.txt"); }
};

TEST_F(ConcurrentWorkTest, TheHostAndKernelsExchangeSignalsAsOnAnH100) {
  const Output output = Run("");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, Expected());
}

TEST_F(ConcurrentWorkTest, CheckersFindNothingInThem) {
  const Output output = Run("--check --threads=3");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, Expected() + "\nFindings\n  none\n");
}

TEST_F(ConcurrentWorkTest, AKernelMayGiveUpByItsClock) {
  // Waits 20 ms by the clock for a flag that is never set. The clock goes on while the kernel is suspended.
  const Output output = Run("", "20000000 endless");
  EXPECT_EQ(output.text, "endless: cudaErrorNotReady\ncudaSuccess\n");
}

TEST_F(ConcurrentWorkTest, AProgramMayEndBesideAKernelThatWaits) {
  const Output output = Run("", "0 exit");
  EXPECT_EQ(output.status, 0);
  EXPECT_EQ(output.text, "exit: cudaErrorNotReady\n");
}

TEST_F(ConcurrentWorkTest, AWaitInVainIsReported) {
  const Output output = Run("", "0 endless");
  EXPECT_EQ(output.status, 3);
  const auto says = [&](const std::string& text) { return output.text.find(text) != std::string::npos; };
  EXPECT_TRUE(says("TIMEOUT  WaitThenStore<<<1,32>>>\n  threads only waited for each other, or for the host"))
      << output.text;
  EXPECT_TRUE(says("side_by_side.cu:") && says("these threads wait for a value that never comes")) << output.text;
  EXPECT_TRUE(says("cudaErrorLaunchTimeout\n")) << output.text;
}

TEST_F(ConcurrentWorkTest, ABudgetEndsAWaitAsItDoesElsewhere) {
  const Output output = Run("--budget=1000", "0 endless");
  EXPECT_NE(output.text.find("threads only waited for each other, for more than 1,000 warp instructions"),
            std::string::npos)
      << output.text;
}

}  // namespace
}  // namespace lockstep
