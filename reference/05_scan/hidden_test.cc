// Assignment 05, scan: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "suites/05_scan_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenScanTest : public ScanTest {};

TEST_P(HiddenScanTest, ScansOtherLengths) {
  for (const uint64_t n : judge::Around({16, 48, 96, 128, 480, 640, 992})) Expect(n, Pattern::kAlternating);
  for (const uint64_t n : {53, 257, 1021, 1511, 7919, 20011, 131071}) Expect(n, Pattern::kSmall);
}

TEST_P(HiddenScanTest, ScansFromAnyAddress) {
  for (const uint64_t offset : {1, 2, 3}) {
    for (const uint64_t n : {1, 127, 512, 1000, 4097, 9001}) {
      Expect(n, Pattern::kSmall, Role::kChecked, offset, 0);
      Expect(n, Pattern::kSmall, Role::kChecked, 0, offset);
      Expect(n, Pattern::kSmall, Role::kChecked, offset, 4 - offset);
    }
  }
}

// A result that was remembered by address and length is wrong here.
TEST_P(HiddenScanTest, ScansAgainAtTheSameAddresses) {
  ScanBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 3000);
  for (uint64_t call = 0; call < 4; ++call) {
    for (const uint64_t n : {500, 3000}) {
      ScanInput input = MakeIntegers(rung(), Pattern::kSmall, n, Seed(call * 10000 + n));
      input.what += ", new values at the same address, call " + std::to_string(call + 1);
      ExpectIn(buffers, input);
    }
  }
}

// Scratch still holds what larger and smaller calls left there.
TEST_P(HiddenScanTest, ScansFewAfterMany) {
  ScanBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 100000);
  for (const uint64_t n : {100000, 1025, 99999, 1, 4097, 100000}) {
    ScanInput input = MakeIntegers(rung(), Pattern::kAlternating, n, Seed(n));
    input.what += ", in buffers that held other values before";
    ExpectIn(buffers, input);
  }
}

TEST_P(HiddenScanTest, ScansOtherRealNumbers) {
  for (const uint64_t n : {2, 1023, 4097, 50021}) ExpectReals(n, 0.25);
  for (const uint64_t n : {100, 511, 900}) ExpectReals(n, -0.5);
}

class HiddenLongScanTest : public LongScanTest {};

TEST_P(HiddenLongScanTest, ScansVeryLargeArrays) {
  Expect(1000, Pattern::kSmall, Role::kPlain);
  // 528 tiles: a grid of as many blocks as an H200 holds, and more of them than a block has threads.
  for (const uint64_t n : {540'000, 777'777}) Expect(n, Pattern::kAlternating, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenScanTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenLongScanTest, testing::ValuesIn(SelectedLongRungs()), judge::RungName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(HiddenLongScanTest);

}  // namespace
}  // namespace lockstep::suites
