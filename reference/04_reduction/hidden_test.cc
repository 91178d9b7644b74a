// Assignment 04, the reduction ladder: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include <limits>

#include "suites/04_reduction_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenReductionTest : public ReductionTest {};

TEST_P(HiddenReductionTest, SumsOtherLengths) {
  for (const uint64_t n : judge::Around({48, 512, 640, 2048, 64 * 256, 128 * 256})) Expect(n, Pattern::kExtremes);
  for (const uint64_t n : {53, 1511, 7919, 20011, 131071}) Expect(n, Pattern::kAlternating);
}

TEST_P(HiddenReductionTest, WrapsAround) {
  for (const uint64_t n : {2, 129, 1000, 70001}) {
    Expect(n, Pattern::kLargest);
    Expect(n, Pattern::kExtremes);
  }
}

// Each buffer at a different alignment; with lengths that fill whole blocks and vectors, and with others.
TEST_P(HiddenReductionTest, SumsFromAnyAddress) {
  for (const Offsets offsets : {Offsets{1, 0, 2}, {2, 3, 1}, {0, 1, 3}, {3, 2, 0}}) {
    for (const uint64_t n : {1, 127, 4096, 4097}) Expect(n, Pattern::kSmall, Role::kChecked, offsets);
  }
}

// Whatever a thread begins with, it must not hide an element.
TEST_P(HiddenReductionTest, ReducesTheLeastAndTheGreatest) {
  constexpr int32_t kLeast = std::numeric_limits<int32_t>::min(), kGreatest = std::numeric_limits<int32_t>::max();
  for (const uint64_t n : {1, 3, 301}) {
    ExpectOf(std::vector<int32_t>(n, kLeast), "all the smallest int");
    ExpectOf(std::vector<int32_t>(n, kGreatest), "all the largest int");
  }
}

// A result that was remembered by address and length is wrong here.
TEST_P(HiddenReductionTest, SumsAgainAtTheSameAddresses) {
  ReductionBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 3000);
  for (uint64_t call = 0; call < 4; ++call) {
    ExpectIn(buffers, judge::MakeInts(Pattern::kSmall, 3000, Seed(call)),
             "new values at the same address, call " + std::to_string(call + 1));
  }
}

// Scratch still holds the results of the larger call before it.
TEST_P(HiddenReductionTest, SumsFewAfterMany) {
  ReductionBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), 100000);
  for (const uint64_t n : {100000, 257, 99999, 1, 129}) {
    ExpectIn(buffers, judge::MakeInts(Pattern::kSmall, n, Seed(n)), "in buffers that held other values before");
  }
}

TEST_P(HiddenReductionTest, SumsVeryLargeArrays) {
  Expect(1000, Pattern::kExtremes, Role::kPlain);
  Expect((uint64_t{1} << 20) - 1, Pattern::kExtremes, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenReductionTest, testing::ValuesIn(judge::Suite::Get().SelectedRungs()),
                         judge::RungName);

}  // namespace
}  // namespace lockstep::suites
