// Library calls as data: which are refused before anything is computed, and what one may cost. Their results are
// compared with the libraries for programs in tests/libraries/submission_libraries_test.cc.
#include "vgpu/device/library_operation.h"

#include <gtest/gtest.h>

#include <chrono>

#include "tests/support/device_support.h"
#include "tests/support/ptx_testing.h"

namespace lockstep::vgpu {
namespace library_operation_test {

LibraryOperation Of(LibraryKind kind, int64_t m, int64_t n, int64_t k = 1) {
  LibraryOperation operation;
  operation.kind = kind;
  operation.m = m;
  operation.n = n;
  operation.k = k;
  operation.alpha.value = 1;
  operation.operands = {{{0, std::max<int64_t>(m, 1)}, {0, std::max<int64_t>(k, 1)}, {0, std::max<int64_t>(m, 1)}}};
  return operation;
}

LibraryOperation Transform(int64_t n, int64_t batch = 1) {
  LibraryOperation operation;
  operation.kind = LibraryKind::kFft;
  operation.n = n;
  operation.batch = batch;
  for (LibraryOperand& operand : operation.operands) operand.stride = n;
  return operation;
}

TEST(LibraryOperationTest, SizesAndStridesOfNoCallAreRefused) {
  EXPECT_EQ(WhyNot(Of(LibraryKind::kGemm, 10, 10, 10)), "");
  EXPECT_EQ(WhyNot(Of(LibraryKind::kGemm, 0, 0, 0)), "");
  EXPECT_EQ(WhyNot(Of(LibraryKind::kGemm, -1, 10, 10)), "such a size");
  EXPECT_EQ(WhyNot(Of(LibraryKind::kGemm, 10, 10, INT64_MIN)), "such a size");
  LibraryOperation tight = Of(LibraryKind::kGeam, 10, 20);
  tight.operands[1].leading = 10;
  EXPECT_EQ(WhyNot(tight), "");
  tight.operands[0].transposed = true;  // it is stored with 20 rows
  EXPECT_EQ(WhyNot(tight), "a leading dimension that is smaller than the rows");
  tight.operands[0].leading = INT64_MIN;
  EXPECT_NE(WhyNot(tight), "");
  LibraryOperation vector = Of(LibraryKind::kScal, 0, 10);
  vector.operands[0].leading = -3;
  EXPECT_EQ(WhyNot(vector), "");
  vector.operands[0].leading = (int64_t{1} << 31) + 1;
  EXPECT_EQ(WhyNot(vector), "such a leading dimension, increment or stride");
}

// In other operations the flag or the batch would lead to memory that is not checked.
TEST(LibraryOperationTest, OnlyWhatAFunctionSaysIsTransposedOrRepeated) {
  for (int kind = 0; kind <= static_cast<int>(LibraryKind::kFft); ++kind) {
    const auto which = static_cast<LibraryKind>(kind);
    LibraryOperation whole = which == LibraryKind::kFft ? Transform(8) : Of(which, 4, 4, 4);
    EXPECT_EQ(WhyNot(whole), "") << kind;
    whole.operands[2].transposed = true;
    EXPECT_EQ(WhyNot(whole), "such a transposed operand") << kind;
    whole.operands[2].transposed = false;
    whole.batch = 2;
    const bool is_batched = which == LibraryKind::kGemm || which == LibraryKind::kFft;
    EXPECT_EQ(WhyNot(whole), is_batched ? "" : "such a batch") << kind;
  }
  LibraryOperation update = Of(LibraryKind::kGer, 4, 4);
  update.operands[0].transposed = true;
  EXPECT_NE(WhyNot(update), "");
}

TEST(LibraryOperationTest, TransformsOfLengthsWithLargePrimesAreRefused) {
  EXPECT_EQ(WhyNot(Transform(127 * 113)), "");
  EXPECT_EQ(WhyNot(Transform(131)), "a length with a prime factor above 127");
  EXPECT_EQ(WhyNot(Transform(0)), "a transform of such a length");
  EXPECT_EQ(WhyNot(Transform((int64_t{1} << 22) + 1)), "a transform of such a length");
  LibraryOperation types = Transform(8);
  types.in = FourierForm::kReal;
  EXPECT_EQ(WhyNot(types), "a transform of such types");
  types.out = FourierForm::kHalf;
  EXPECT_EQ(WhyNot(types), "");
  types.is_inverse = true;
  EXPECT_EQ(WhyNot(types), "a transform of such types");
}

TEST(LibraryOperationTest, ACallThatWouldTakeLongIsRefused) {
  EXPECT_EQ(WhyNot(Of(LibraryKind::kGemm, 1200, 1200, 1200)), "");
  EXPECT_EQ(WhyNot(Of(LibraryKind::kGemm, 2000, 2000, 2000)), "so much work in one call");
  EXPECT_EQ(WhyNot(Transform(int64_t{1} << 22)), "");
  EXPECT_EQ(WhyNot(Transform(4, int64_t{1} << 30)), "so much work in one call");
  // This call computes nothing, but has very many rows to look at.
  LibraryOperation empty = Of(LibraryKind::kGemm, 1, 1, 0);
  empty.batch = int64_t{1} << 31;
  EXPECT_EQ(WhyNot(empty), "so much work in one call");
}

// A call that costs almost too much takes seconds, not many minutes.
TEST(LibraryOperationTest, TheCostIsAboutTheTimeHere) {
  Device device(*FindProfile("h200"), {});
  LibraryOperation product = Of(LibraryKind::kGemm, 300, 300, 300);
  product.operands[0].transposed = true;
  for (LibraryOperand& operand : product.operands) {
    operand.address = device.Allocate(300 * 300 * sizeof(float), "matrix");
    device.Fill(operand.address, 0, 300 * 300 * sizeof(float));
  }
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(DoOperation(device, "", product).error, LaunchError::kNone);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  EXPECT_LT(seconds.count() * kMostLibraryCost / CostOf(product), 300);
}

TEST(LibraryOperationTest, AMisalignedAddressIsAFault) {
  for (const bool is_double : {false, true}) {
    const uint64_t size = is_double ? sizeof(double) : sizeof(float);
    for (int operand = 0; operand < 4; ++operand) {
      TestDevice device(ptx::kHeader);
      const auto memory = device.Make(std::vector<double>(64, 1.0), "d_x");
      LibraryOperation dot = Of(LibraryKind::kDot, 0, 4);
      dot.is_double = is_double;
      uint64_t* const addresses[] = {&dot.operands[0].address, &dot.operands[1].address, &dot.result,
                                     &dot.alpha.address};
      for (uint64_t* address : addresses) *address = memory.address;
      EXPECT_EQ(DoOperation(*device, "solve.cu:40", dot).error, LaunchError::kNone);
      *addresses[operand] += size / 2;
      EXPECT_EQ(DoOperation(*device, "solve.cu:40", dot).error, LaunchError::kMisalignedAddress) << operand;
      ASSERT_FALSE(device->findings().findings().empty());
      EXPECT_EQ(device->findings().findings().back().kind, FindingKind::kMisaligned);
    }
  }
}

TEST(LibraryOperationTest, NamesAreThoseOfTheFunctions) {
  EXPECT_EQ(NameOf(Of(LibraryKind::kGemm, 1, 1)), "cublasSgemm");
  LibraryOperation index = Of(LibraryKind::kAmax, 1, 1);
  EXPECT_EQ(NameOf(index), "cublasIsamax");
  index.is_double = true;
  EXPECT_EQ(NameOf(index), "cublasIdamax");
  LibraryOperation transform = Transform(8);
  EXPECT_EQ(NameOf(transform), "cufftExecC2C");
  transform.in = FourierForm::kHalf;
  transform.out = FourierForm::kReal;
  EXPECT_EQ(NameOf(transform), "cufftExecC2R");
}

}  // namespace library_operation_test
}  // namespace lockstep::vgpu
