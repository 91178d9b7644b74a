// cuBLAS's stand-in against what an H100's cuBLAS printed: programs/NAME.h100.txt.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/needs.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kLibraries = std::string(LOCKSTEP_BUILD_DIR) + "/lib";
const std::string kPrograms = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/libraries/programs/";
const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run --device=h200 ";

std::string Read(const std::string& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file.good()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

class BlasTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kLibraries + "/libcublas.so.13")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuBLAS in this build: install libopenblas-dev");
    }
  }
  void Build(const std::string& name, const std::string& library) {
    program_ = folder_.path() + name;
    const Output output =
        Execute(std::string(LOCKSTEP_NVCC) + " -std=c++17 -cudart shared -gencode arch=compute_80,code=compute_80 " +
                kPrograms + name + ".cu -o " + program_ + " -L" + kLibraries + " -l" + library + " 2>&1");
    ASSERT_EQ(output.status, 0) << output.text;
  }
  std::string Run(const std::string& flags, const std::string& redirection) {
    const Output output = Execute(kVgpuRun + flags + program_ + " " + redirection);
    EXPECT_EQ(output.status, 0) << output.text;
    return output.text;
  }

  const TemporaryFolder folder_;
  std::string program_;
};

TEST_F(BlasTest, StatusesAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("blas_statuses", "cublas"));
  EXPECT_EQ(Run("", "2>/dev/null"), Read(kPrograms + "blas_statuses.h100.txt"));
}

// Every family of functions; with the checks, none touches what its definition does not.
TEST_F(BlasTest, ValuesAreAsExactAsAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("blas_values", "cublas"));
  const std::string expected = Read(kPrograms + "blas_values.h100.txt");
  EXPECT_EQ(Run("", "2>/dev/null"), expected);
  EXPECT_EQ(Run("--threads=2 ", "2>/dev/null"), expected);
  EXPECT_NE(Run("--check=init,races ", "2>&1 >/dev/null").find("Findings\n  none\n"), std::string::npos);
}

TEST_F(BlasTest, ProductsOfCublasLtAreAsExactAsAnH100s) {
  ASSERT_NO_FATAL_FAILURE(Build("blaslt_values", "cublasLt"));
  EXPECT_EQ(Run("", "2>/dev/null"), Read(kPrograms + "blaslt_values.h100.txt"));
  EXPECT_NE(Run("--check=init,races ", "2>&1 >/dev/null").find("Findings\n  none\n"), std::string::npos);
}

}  // namespace
}  // namespace lockstep
