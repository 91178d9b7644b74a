// Tests what all stand-ins for NVIDIA's libraries share, with cuBLAS: work in streams and graphs, findings, refusals.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"
#include "tests/support/shell.h"
#include "tests/support/temporary_folder.h"

namespace lockstep {
namespace {

const std::string kLibraries = std::string(LOCKSTEP_BUILD_DIR) + "/lib";
const std::string kVgpuRun = std::string(LOCKSTEP_BUILD_DIR) + "/bin/vgpu-run ";

class LibrariesTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {  // in turn
    if (!std::filesystem::exists(kLibraries + "/libcublas.so.13")) return;
    folder_ = new TemporaryFolder;
    program_ = folder_->path() + "multiply";
    const std::string source = std::string(LOCKSTEP_SOURCE_DIR) + "/harness/tests/libraries/programs/multiply.cu";
    const Output output = Execute(std::string(LOCKSTEP_NVCC) +
                                  " -std=c++17 -lineinfo -cudart shared -Xcompiler -g1 -gencode "
                                  "arch=compute_80,code=compute_80 " +
                                  source + " -o " + program_ + " -L" + kLibraries + " -lcublas 2>&1");
    ASSERT_EQ(output.status, 0) << output.text;
  }
  static void TearDownTestSuite() { delete folder_; }
  void SetUp() override {
    if (folder_ == nullptr) LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuBLAS in this build: install libopenblas-dev");
  }
  static std::string Run(const std::string& arguments, const std::string& flags = "") {
    return Execute(kVgpuRun + flags + program_ + " " + arguments + " 2>&1").text;
  }
  static void ExpectIn(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }

  static inline TemporaryFolder* folder_ = nullptr;
  static inline std::string program_;
};

TEST_F(LibrariesTest, WorkIsDoneInStreamsAndGraphs) {
  EXPECT_EQ(Run(""),
            "product 0\nwait 0\noff by 0\ncaptured 0\noff by 106 before the graph\noff by 0 after it\nwait 0\n");
}

TEST_F(LibrariesTest, CallsAreLaunchesInTheProfile) {
  const std::string text = Run("", "--profile ");
  ExpectIn(text, "\n  cublasSgemm_v2         2     -      -  ");
}

TEST_F(LibrariesTest, AMatrixPastItsBufferIsAFault) {
  const std::string text = Run("outside");
  ExpectIn(text, "product 0\nwait 700\n");
  ExpectIn(
      text,
      "BOUNDS\n  global store of 4096 bytes, the last 128 of them past the end of cudaMalloc #3 (4096 bytes, offset "
      "128); cublasSgemm_v2 writes matrix C\n  at      multiply.cu:");
}

TEST_F(LibrariesTest, HostMemoryIsAFault) {
  const std::string text = Run("host");
  ExpectIn(text, "product 0\nwait 700\n");
  ExpectIn(text, "which is in no allocation; cublasSgemm_v2 reads matrix A\n");
}

TEST_F(LibrariesTest, UnwrittenMatricesAreFound) {
  const std::string text = Run("unwritten", "--check=init ");
  ExpectIn(text,
           "UNINIT\n  global load of 4 bytes, cudaMalloc #2 + 0 bytes, which nothing has written; cublasSgemm_v2 reads "
           "matrix B\n  at      multiply.cu:");
  EXPECT_EQ(Run("", "--check ").find("UNINIT"), std::string::npos);
}

TEST_F(LibrariesTest, RacesOfStreamsAreFound) {
  const std::string text = Run("races", "--check=races ");
  ExpectIn(text, "RACE\n");
  ExpectIn(text, "cudaMemsetAsync in stream 2");
  ExpectIn(text, "cublasSgemm_v2 in stream 1");
}

TEST_F(LibrariesTest, WhatIsMissingIsRefusedByName) {
  const std::string text = Run("missing");
  ExpectIn(text, "cublasXtCreate 15\n");
  ExpectIn(text, "the virtual GPU does not support this function of cuBLAS\n");
}

// A worker would have LOCKSTEP_SOCKET; the library is refused before anybody writes to the socket.
TEST_F(LibrariesTest, SubmissionsCantUseThem) {
  // In a build with sanitizers the program, which is built without, loads libraries that are built with them.
  const Output output = Execute(
      "env LOCKSTEP_SOCKET=999 ASAN_OPTIONS=$ASAN_OPTIONS:verify_asan_link_order=0 LD_LIBRARY_PATH=" + kLibraries +
      " " + program_ + " 2>&1");
  EXPECT_EQ(output.status, 126);
  ExpectIn(output.text, "lockstep: this program uses cuBLAS (libcublas.so.13), whose kernels are machine code");
}

// Functions of three libraries; recorded on an H200.
TEST_F(LibrariesTest, FunctionsThatExamplesCallAreAGpus) {
  LibraryProgram program;
  program.ExpectH100s("more_functions", "-lcublas -lcusolver -lcusparse");
}

}  // namespace
}  // namespace lockstep
