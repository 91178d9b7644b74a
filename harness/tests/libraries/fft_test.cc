// cuFFT's stand-in against what an H100's cuFFT printed, and the findings for mistakes of its callers.
// In turn (dev/unit_tests.sh): its programs call the functions of a whole library.
#include <gtest/gtest.h>

#include <string>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"

namespace lockstep {
namespace fft_test {

class FftTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasFunction("libcufft.so.12", "cufftExecC2C")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuFFT in this build: install libeigen3-dev");
    }
  }
  static void ExpectIn(const std::string& text, const std::string& part) {
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }

  LibraryProgram program_;
};

TEST_F(FftTest, StatusesAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(program_.Build("fft_statuses", "-lcufft"));
  EXPECT_EQ(program_.Run("", "2>/dev/null"), program_.OnAnH100());
}

// All types, lengths, ranks and layouts; the checks find no access to memory that the definition doesn't use.
TEST_F(FftTest, ValuesAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("fft_values", "-lcufft", "-O2");
}

TEST_F(FftTest, TransformsAreWorkOfTheirStreams) {
  ASSERT_NO_FATAL_FAILURE(program_.Build("fft_work", "-lcufft"));
  const std::string text = program_.Run("--check --profile ", "2>&1");
  ExpectIn(text, "runs 0 0\nwait 0\nright 1 1\ncaptured 0\nright 0 before the graph\nright 1 after it\n");
  ExpectIn(text, "Findings\n  none\n");
  ExpectIn(text, "\n  cufftExecR2C         6     -      -  ");
  ExpectIn(text, "\n  cufftExecC2R         3     -      -  ");

  const std::string outside = program_.RunFaulty("", "outside");
  ExpectIn(outside, "transform 0\nwait 700\n");
  ExpectIn(outside,
           "BOUNDS\n  global store of 6400 bytes, the last 8 of them past the end of cudaMalloc #2 (6392 bytes, offset "
           "0); cufftExecC2C writes the output\n  at      fft_work.cu:");
  ExpectIn(program_.RunFaulty("", "pitched"),
           "cufftExecC2C reads the input, which has 8 parts of 800 bytes, 808 bytes apart: this is in part 7\n");
  ExpectIn(program_.RunFaulty("", "host"), "which is in no allocation; cufftExecC2C reads the input\n");
  ExpectIn(
      program_.RunFaulty("--check=init ", "unwritten"),
      "UNINIT\n  global load of 8 bytes, cudaMalloc #1 + 6392 bytes, which nothing has written; cufftExecC2C reads "
      "the input\n  at      fft_work.cu:");
  const std::string races = program_.RunFaulty("--check=races ", "races");
  ExpectIn(races, "RACE\n");
  ExpectIn(races, "cudaMemsetAsync in stream 2");
  ExpectIn(races, "cufftExecC2C in stream 1");
  const std::string overwrites = program_.RunFaulty("--check=races ", "overwrites");
  ExpectIn(overwrites, "RACE\n  global memory, write after read, cudaMalloc #1 + 0 bytes");
  ExpectIn(overwrites, "cufftExecC2R in stream 1");
  ExpectIn(program_.RunFaulty("", "area"), "cufftExecC2C writes the work area\n");
  ExpectIn(program_.RunFaulty("", "other"), "): the plan is of type CUFFT_C2C, and that is computed\ntransform 0\n");
  ExpectIn(program_.RunFaulty("", "missing"), "the virtual GPU does not support this function of cuFFT\n");
  ExpectIn(program_.RunFaulty("", "half"), "the virtual GPU does not support half precision of cuFFT\n");
}

}  // namespace fft_test
}  // namespace lockstep
