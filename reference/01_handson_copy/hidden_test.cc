// Assignment 01, copying: the tests that only the instructor's run has.
#include <gtest/gtest.h>

#include "suites/01_handson_copy_fixture.h"

namespace lockstep::suites {
namespace {

class HiddenCopyTest : public CopyTest {};
class HiddenCopyPathTest : public CopyPathTest {};
class HiddenCopyErrorTest : public CopyErrorTest {};
class HiddenPinnedCopyTest : public PinnedCopyTest {};

// Lengths of every order of magnitude, up to those of the largest array and the evidence.
std::vector<uint64_t> Drawn(const judge::SeedKey& seed) {
  judge::Random random(seed);
  std::vector<uint64_t> lengths;
  for (int bits = 3; bits <= 20; ++bits) {
    const int64_t upper = int64_t{1} << (bits < 20 ? bits : random.Between(20, 22));  // one long array is enough
    lengths.push_back(static_cast<uint64_t>(random.Between(upper / 2, upper)));
  }
  return lengths;
}

TEST_P(HiddenCopyTest, CopiesOtherLengths) {
  for (const uint64_t n : {3, 53, 1511, 7919, 20011, 131071}) Expect(n, Pattern::kExtremes);
}

// Results remembered by length are wrong here, and so are those that an earlier, longer copy left behind.
TEST_P(HiddenCopyTest, CopiesAgain) {
  for (const uint64_t n : {3000, 3000, 100000, 3000, 17}) Expect(n, Pattern::kSmall);
}

// The public test's million elements reach every limit that a copy has: this is just another length.
TEST_P(HiddenCopyTest, CopiesOtherLargeArrays) {
  Expect(1000, Pattern::kExtremes, Role::kPlain);
  Expect(300'007, Pattern::kExtremes, Role::kPlain);
}

TEST_P(HiddenCopyTest, FreesOnEveryCall) {
  for (const uint64_t n : {5000, 5000, 0, 77, 262144, 5000}) ExpectNothingHeld(Run(n, Pattern::kSmall), n);
  for (const uint64_t n : Drawn(Seed(1000))) ExpectNothingHeld(Run(n, Pattern::kSmall), n);
}

TEST_P(HiddenCopyPathTest, GoesFromBufferToBufferAtEveryLength) {
  for (const uint64_t n : {2, 77, 65537}) ExpectPath(n);
  for (const uint64_t n : Drawn(Seed(1000))) ExpectPath(n);
}

// After an error the next call starts afresh.
TEST_P(HiddenCopyErrorTest, WorksAfterAFailureAtEveryLength) {
  Expect(1000, Pattern::kSmall);
  judge::Random random(Seed(1001));
  for (const uint64_t n : Drawn(Seed(1000))) {
    const auto nth = static_cast<uint64_t>(random.Between(1, 5));
    ExpectError(n, nth > 3 ? Fault{Fault::Kind::kAllocation, nth - 3} : Fault{Fault::Kind::kCopy, nth});
    Expect(n + 1, Pattern::kExtremes);
  }
}

TEST_P(HiddenPinnedCopyTest, PinsAtEveryLength) {
  for (const uint64_t n : Drawn(Seed(1000))) ExpectPinned(n);
}

INSTANTIATE_TEST_SUITE_P(, HiddenCopyTest, testing::ValuesIn(RungsFrom(1)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenCopyPathTest, testing::ValuesIn(RungsFrom(2)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenCopyErrorTest, testing::ValuesIn(RungsFrom(3)), judge::RungName);
INSTANTIATE_TEST_SUITE_P(, HiddenPinnedCopyTest, testing::ValuesIn(RungsFrom(4)), judge::RungName);

}  // namespace
}  // namespace lockstep::suites
