// How much of the device's memory a program can have.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

constexpr char kProgram[] = R"(
#include <cstdio>
#include <cstdlib>
int main(int, char** arguments) {
  char* memory = nullptr;
  const cudaError_t error = cudaMalloc(&memory, (size_t{1} << 30) * std::atoi(arguments[1]));
  size_t free = 0, total = 0;
  cudaMemGetInfo(&free, &total);
  std::printf("%s, %zu GiB free\n", cudaGetErrorName(error), free >> 30);
  if (error == cudaSuccess && cudaMemset(memory + (size_t{1} << 30) * std::atoi(arguments[1]) - 4, 1, 4) != cudaSuccess) return 1;
}
)";

class MemoryTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::ofstream(Program() + ".cu") << kProgram;
    const Output output = Execute(std::string(LOCKSTEP_NVCC) + " -cudart shared -arch=sm_80 " + Program() + ".cu -o " +
                                  Program() + " 2>&1");
    ASSERT_EQ(output.status, 0) << output.text;
  }
  static std::string Program() {
    static const TemporaryFolder folder;
    return folder.path() + "take";
  }
  static Output Run(const std::string& flags, int gib) {
    return Execute(std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run " + flags + " " + Program() + " " +
                   std::to_string(gib) + " 2>&1");
  }
};

TEST_F(MemoryTest, MoreThanIsThereByDefaultIsRefusedWithTheFlagThatGivesMore) {
  EXPECT_EQ(Run("", 16).text, "cudaSuccess, 0 GiB free\n");
  EXPECT_EQ(
      Run("", 17).text,
      "lockstep: cudaMalloc (main()): 18253611008 bytes are more than is left of the memory that programs can have "
      "here; vgpu-run --memory=GIB gives more\n"
      "cudaErrorMemoryAllocation, 16 GiB free\n");
}

TEST_F(MemoryTest, OnlyWhatIsTouchedIsTaken) { EXPECT_EQ(Run("--memory=100", 90).text, "cudaSuccess, 10 GiB free\n"); }

TEST_F(MemoryTest, MoreThanTheDeviceHasIsAnErrorWithoutAdvice) {
  EXPECT_EQ(Run("--memory=100 --device=t4", 17).text, "cudaErrorMemoryAllocation, 16 GiB free\n");
}

TEST_F(MemoryTest, ALimitThatIsNoNumberIsRefused) {
  EXPECT_EQ(Run("--memory=lots", 1).text, "vgpu-run: --memory needs a number; type vgpu-run --help\n");
}

}  // namespace
}  // namespace lockstep
