// cuSPARSE's stand-in against what an H100's cuSPARSE printed.
// In turn (dev/unit_tests.sh): its programs call the functions of a whole library.
#include <gtest/gtest.h>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"

namespace lockstep {
namespace sparse_test {

class SparseTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasLibrary("libcusparse.so.12")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuSPARSE in this build");
    }
  }

  LibraryProgram program_;
};

TEST_F(SparseTest, StatusesAreAnH100s) { program_.ExpectH100s("sparse_statuses", "-lcusparse"); }

TEST_F(SparseTest, ProductsAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("sparse_values", "-lcusparse");
}

TEST_F(SparseTest, ConversionsSystemsAndFactorsAreAnH100s) { program_.ExpectH100s("sparse_matrices", "-lcusparse"); }

}  // namespace sparse_test
}  // namespace lockstep
