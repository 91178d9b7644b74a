// Assignment 08, the coalescing experiment: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/08_coalescing_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenCoalescingTest : public CoalescingTest {};

TEST_P(HiddenCoalescingTest, IncrementsRandomLengths) {
  judge::Random random(Seed());
  for (int k = 0; k < 40; ++k) Expect(static_cast<uint64_t>(random.Between(1, 3000)), Values::kRandom);
}

// Each length that the last row, pair or block may have.
TEST_P(HiddenCoalescingTest, IncrementsTheShortestArrays) {
  for (uint64_t n = 1; n <= 70; ++n) Expect(n);
}

// Buffers still hold what the longer arrays before left; a result that was remembered by its address is wrong.
TEST_P(HiddenCoalescingTest, IncrementsAgainAtTheSameAddresses) {
  CoalescingBuffers buffers(judge::Suite::Get().runner(Role::kChecked).device(), each() * 5000);
  for (const uint64_t n : {5000, 257, 4999, 2, 257, 129}) {
    ExpectIn(buffers, MakeFloats(Values::kRandom, each() * n, Seed(n)), "in buffers that held other values before");
  }
}

// More blocks of 256 threads than a grid has in y, and past what a float holds as an index.
TEST_P(HiddenCoalescingTest, IncrementsVeryLargeArrays) {
  Expect(1000, Values::kRamp, Role::kPlain);
  Expect(((uint64_t{1} << 24) + 43) / each(), Values::kRandom, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenCoalescingTest, testing::ValuesIn(RungsWithKernels()), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
