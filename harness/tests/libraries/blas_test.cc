// cuBLAS's stand-in against what an H100's cuBLAS printed: programs/NAME.h100.txt.
// In turn (dev/unit_tests.sh): its programs call the functions of a whole library.
#include <gtest/gtest.h>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"

namespace lockstep {
namespace blas_test {

class BlasTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasLibrary("libcublas.so.13")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuBLAS in this build: install libopenblas-dev");
    }
  }

  LibraryProgram program_;
};

TEST_F(BlasTest, StatusesAreAnH100s) {
  ASSERT_NO_FATAL_FAILURE(program_.Build("blas_statuses", "-lcublas"));
  EXPECT_EQ(program_.Run("", "2>/dev/null"), program_.OnAnH100());
}

// Every family of functions; the checks find no access to memory that the definition doesn't use.
TEST_F(BlasTest, ValuesAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("blas_values", "-lcublas");
  EXPECT_EQ(program_.Run("--threads=2 ", "2>/dev/null"), program_.OnAnH100());
}

TEST_F(BlasTest, ProductsOfCublasLtAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("blaslt_values", "-lcublasLt");
}

}  // namespace blas_test
}  // namespace lockstep
