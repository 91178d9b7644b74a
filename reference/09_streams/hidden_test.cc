// Assignment 09, copies and kernels side by side: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "judge/input/inputs.h"
#include "suites/09_streams_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenStreamsTest : public StreamsTest {};
class HiddenChunksTest : public ChunksTest {};

TEST_P(HiddenStreamsTest, SimulatesOtherLengths) {
  for (const uint64_t n : {3, 511, 7919, 20011, 98304, 98305, 196609}) Expect(n);
}

// Results remembered by length are wrong here, and so are those that a longer call left behind.
TEST_P(HiddenStreamsTest, SimulatesAgain) {
  for (const uint64_t n : {3000, 3000, 150000, 3000, 0, 17, 150000}) ExpectWith(n, 4);
}

TEST_P(HiddenStreamsTest, SimulatesOtherLargeArrays) {
  Expect(1000, Role::kPlain);
  ExpectWith(1'500'007, 8, Role::kPlain);
}

TEST_P(HiddenChunksTest, UsesTheStreams) {
  for (const int streams : {8, 1, 4, 2}) ExpectStreams(300'000, streams);
  // Up to the evidence's size.
  judge::Random random(Seed(1000));
  ExpectStreams(static_cast<uint64_t>(random.Between(600'000, 2'100'000)), 5, Role::kPlain);
}

INSTANTIATE_TEST_SUITE_P(, HiddenStreamsTest, testing::ValuesIn(StreamRungs(false)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenChunksTest, testing::ValuesIn(StreamRungs(true)), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
