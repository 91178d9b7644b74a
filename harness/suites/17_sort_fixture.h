// What the public and the hidden tests of assignment 17 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "sort.h"

namespace lockstep::suites {

enum class Keys : uint8_t {
  kRandom,    // any bits
  kOne,       // all equal
  kFew,       // four different ones
  kLowBits,   // different in their last eight bits alone
  kHighBits,  // different in their first eight bits alone
  kSorted,
  kReversed,
};
constexpr Keys kAllKeys[] = {Keys::kRandom,   Keys::kOne,    Keys::kFew,     Keys::kLowBits,
                             Keys::kHighBits, Keys::kSorted, Keys::kReversed};

// How many elements into its allocation a buffer begins; values as keys. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, out = 0;
};

// What a rung is given.
struct Input {
  std::vector<uint64_t> keys;
  std::vector<uint32_t> values;  // on rung 5
  uint32_t parameter = 0;        // the limit of a compaction, or the bit of a split
  std::string what;              // as messages name it
};

class SortTest : public judge::LauncherTest {
 protected:
  // Inputs of these lengths, one after another in the same buffers; of several the last may keep no memory. Does nothing
  // where a problem was found before, and for lengths that the rung does not take.
  void Expect(const std::vector<uint64_t>& lengths, Keys keys = Keys::kRandom, Offsets offsets = {},
              judge::Role role = judge::Role::kChecked);
  void ExpectLimit(uint64_t n, uint32_t limit);  // on the rungs of compaction

 private:
  void ExpectAll(const std::vector<Input>& inputs, Offsets offsets, judge::Role role);
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
