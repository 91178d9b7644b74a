// Assignment 11, libraries: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "suites/11_libraries_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenSumTest : public SumTest {};
class HiddenNormTest : public NormTest {};
class HiddenScanTest : public ScanTest {};
class HiddenTransposeTest : public TransposeTest {};
class HiddenFilterTest : public FilterTest {};
class HiddenManyFilterTest : public ManyFilterTest {};

// The array is another in each call: what was kept of the call before is wrong.
TEST_P(HiddenSumTest, SumsOtherLengths) {
  for (const uint64_t n : judge::Around({16, 48, 128, 2048, 4096})) Expect(n, Pattern::kAlternating);
  for (const uint64_t n : {53, 53, 53, 7919, 131071}) Expect(n, Pattern::kExtremes);
}

TEST_P(HiddenSumTest, SumsOtherLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  Expect(1'500'007, Pattern::kLargest, Role::kPlain);
}

TEST_P(HiddenNormTest, TakesOtherLengths) {
  for (const uint64_t n : judge::Around({16, 48, 128, 2048, 4096})) Expect(n);
  for (const uint64_t n : {53, 53, 53, 7919, 131071}) Expect(n);
}

TEST_P(HiddenNormTest, TakesOtherRealNumbers) {
  for (const uint64_t n : {2, 33, 500, 10007, 150'001}) {
    const judge::SeedKey seed = NextSeed();
    ExpectOf(MakeReals(n, seed), n > 100'000 ? Role::kPlain : Role::kChecked);
  }
  ExpectOf({std::vector<float>(1000), "zeros"});
}

TEST_P(HiddenScanTest, ScansOtherLengths) {
  for (const uint64_t n : judge::Around({16, 48, 128, 2048, 4096})) Expect(n, Pattern::kAlternating);
  for (const uint64_t n : {53, 53, 53, 7919, 131071}) Expect(n, Pattern::kExtremes);
}

TEST_P(HiddenScanTest, ScansOtherLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  Expect(1'500'007, Pattern::kSmall, Role::kPlain);
}

TEST_P(HiddenTransposeTest, TransposesOtherShapes) {
  for (const Shape shape : {Shape{3, 7}, Shape{40, 5}, Shape{129, 130}, Shape{17, 513}, Shape{513, 17}}) Expect(shape);
  for (const uint64_t n : {3, 3, 97, 4099}) {
    Expect({1, n});
    Expect({n, 1});
    Expect({n, 2});
  }
}

TEST_P(HiddenTransposeTest, TransposesOtherLargeMatrices) {
  Expect({30, 50}, Role::kPlain);
  Expect({3, 500'000}, Role::kPlain);
  Expect({400'000, 3}, Role::kPlain);
}

TEST_P(HiddenFilterTest, FiltersOtherLengths) {
  Expect(30, 3, 30);
  for (const uint64_t n : {6, 9, 15, 21, 49, 81, 128, 210, 729, 1225, 2048}) Expect(n, 4, n);
  for (const uint64_t n : {14, 14, 125}) ExpectDelta(n, 4, n / 3, 0.5f);
}

TEST_P(HiddenFilterTest, FiltersOtherLongSignals) {
  Expect(30, 3, 30, Role::kPlain);
  Expect(5103, 4, 5103, Role::kPlain);
  Expect(117649, 2, 20, Role::kPlain);
  Expect(100'000, 4, 20, Role::kPlain);
}

TEST_P(HiddenManyFilterTest, FiltersManyOtherSignals) {
  Expect(30, 3, 30);
  Expect(21, 33, 21);
  Expect(2000, 65, 2000, Role::kPlain);
  Expect(800, 200, 64, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenSumTest, testing::ValuesIn(LibraryRungs({"libraries1"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenNormTest, testing::ValuesIn(LibraryRungs({"libraries2"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenScanTest, testing::ValuesIn(LibraryRungs({"libraries3"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenTransposeTest, testing::ValuesIn(LibraryRungs({"libraries4"})), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenFilterTest, testing::ValuesIn(LibraryRungs({"libraries5", "libraries6"})),
                         judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenManyFilterTest, testing::ValuesIn(LibraryRungs({"libraries6"})), judge::RungName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenSumTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenNormTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenScanTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenTransposeTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenFilterTest);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenManyFilterTest);

}  // namespace
}  // namespace lockstep::suites
