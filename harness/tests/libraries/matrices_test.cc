// The stand-ins of cuBLAS, cuSPARSE and cuSOLVER against what an H100's libraries printed (programs/NAME.h100.txt); the
// work of the latter two in graphs, and the findings for mistakes of their callers.
// In turn (dev/unit_tests.sh): its programs call the functions of a whole library.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "tests/libraries/library_program.h"
#include "tests/support/needs.h"

namespace lockstep {
namespace matrices_test {

class LibraryTest : public testing::Test {
 protected:
  LibraryProgram program_;
};

class BlasTest : public LibraryTest {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasLibrary("libcublas.so.13")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuBLAS in this build: install libopenblas-dev");
    }
  }
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

class SparseTest : public LibraryTest {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasLibrary("libcusparse.so.12")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuSPARSE in this build");
    }
  }
};

TEST_F(SparseTest, StatusesAreAnH100s) { program_.ExpectH100s("sparse_statuses", "-lcusparse"); }

TEST_F(SparseTest, ProductsAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("sparse_values", "-lcusparse");
}

TEST_F(SparseTest, ConversionsSystemsAndFactorsAreAnH100s) { program_.ExpectH100s("sparse_matrices", "-lcusparse"); }

class SolverTest : public LibraryTest {
 protected:
  void SetUp() override {
    if (!LibraryProgram::HasFunction("libcusolver.so.12", "cusolverDnDpotrf")) {
      LOCKSTEP_SKIP_BUT_IN_CI("no stand-in for cuSOLVER in this build: install libopenblas-dev");
    }
  }
};

TEST_F(SolverTest, StatusesAreAnH100s) { program_.ExpectH100s("solver_statuses", "-lcusolver"); }

TEST_F(SolverTest, FactorsAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("solver_values", "-lcusolver");
}

TEST_F(SolverTest, EigenvaluesAndSingularValuesAreAsExactAsAnH100s) {  // daily
  program_.ExpectH100s("solver_spectra", "-lcusolver");
}

// One program for all of them, built once.
class SparseAndSolverWorkTest : public SolverTest {
 protected:
  static void TearDownTestSuite() { built_.reset(); }
  void SetUp() override {
    SolverTest::SetUp();
    if (IsSkipped() || built_ != nullptr) return;
    built_ = std::make_unique<LibraryProgram>();
    built_->Build("sparse_and_solver_work", "-lcusolver -lcusparse");
  }
  static std::string Run(const std::string& flags, const std::string& arguments) {
    return built_->Run(flags, arguments);
  }
  void ExpectIn(const std::string& flags, const std::string& mistake, const std::string& part) const {
    const std::string text = Run(flags, mistake + " 2>&1");
    EXPECT_NE(text.find(part), std::string::npos) << "\"" << part << "\" is not in:\n" << text;
  }

  static inline std::unique_ptr<LibraryProgram> built_;
};

TEST_F(SparseAndSolverWorkTest, IsDoneInGraphs) {
  EXPECT_EQ(Run("", "2>/dev/null"), "captured 0, 0\nbefore the graph 0 0\ny 6 6\nfactor 2 1 2 2\nwait 0\n");
  ExpectIn("--profile ", "", "\n  cusparseSpMV             1     -      -  ");
  ExpectIn("--profile ", "", "\n  cusolverDnDpotrf         1     -      -  ");
}

TEST_F(SparseAndSolverWorkTest, IndicesAndPivotsOutsideTheMatrixAreFaults) {
  ExpectIn("", "index", ": entry 2 of the column indices is 7, outside of 0 to 2\n");
  ExpectIn("", "index", "; cusparseSpMV reads memory at an index outside of the matrix\n");
  ExpectIn("", "index", "product 0\nwait 700\n");
  ExpectIn("", "offsets", ": entry 1 of the offsets is 4, outside of 0 to 3\n");
  ExpectIn("", "pivots", ": pivot 2 is no row of the matrix\n");
  ExpectIn("", "short", "; cusparseSpMV writes vector y\n");
}

TEST_F(SparseAndSolverWorkTest, UnwrittenElementsAreFoundWhereTheyCount) {
  ExpectIn("--check=init ", "unwritten",
           "UNINIT\n  global load of 8 bytes, cudaMalloc #5 + 8 bytes, which nothing has written; cusparseSpMV reads "
           "vector x\n");
  ExpectIn("--check=init ", "triangle", "Findings\n  none\n");
}

TEST_F(SparseAndSolverWorkTest, RacesOfStreamsAreFound) {
  ExpectIn("--check=races ", "races", "  second  cusparseSpMV in stream 1");
  ExpectIn("--check=races ", "workspace", "RACE\n  global memory, write after write");
}

TEST_F(SparseAndSolverWorkTest, WhatIsMissingIsRefusedByName) {
  ExpectIn("", "missing", "the virtual GPU does not support this function of cuSPARSE\n");
  ExpectIn("", "missing", "cusparseXcsrsort_bufferSizeExt 10\ncusolverDnIRSParamsCreate 9\n");
}

}  // namespace matrices_test
}  // namespace lockstep
