// cuSPARSE's stand-in against what an H100's cuSPARSE printed.
#include "tests/libraries/library_programs.h"

namespace lockstep {
namespace {

class SparseTest : public LibraryProgramTest {
 protected:
  void SetUp() override {
    if (!IsBuilt("libcusparse.so.12")) LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuSPARSE in this build");
  }
};

TEST_F(SparseTest, StatusesAreAnH100s) { ExpectH100s("sparse_statuses", "-lcusparse"); }

TEST_F(SparseTest, ProductsAreAsExactAsAnH100s) { ExpectH100s("sparse_values", "-lcusparse"); }

TEST_F(SparseTest, ConversionsSystemsAndFactorsAreAnH100s) { ExpectH100s("sparse_matrices", "-lcusparse"); }

}  // namespace
}  // namespace lockstep
