// Shared by the public and the hidden tests of assignment 17.
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
  kLowBits,   // different only in their last eight bits
  kHighBits,  // different only in their first eight bits
  kSorted,
  kReversed,
};
constexpr Keys kAllKeys[] = {Keys::kRandom,   Keys::kOne,    Keys::kFew,     Keys::kLowBits,
                             Keys::kHighBits, Keys::kSorted, Keys::kReversed};

// Offsets of keys and of their values in their allocations, in elements. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, out = 0;
};

// A rung's input.
struct Input {
  std::vector<uint64_t> keys;
  std::vector<uint32_t> values;  // on rung 5
  uint32_t parameter = 0;        // the limit of a compaction, or the bit of a split
  std::string what;              // the name in messages
};

class SortTest : public judge::LauncherTest {
 protected:
  // Sorts inputs of these lengths in sequence in the same buffers; with several, the last call must keep no memory. No
  // effect after a problem was found, or for lengths that the rung does not support.
  void Expect(const std::vector<uint64_t>& lengths, Keys keys = Keys::kRandom, Offsets offsets = {},
              judge::Role role = judge::Role::kChecked);
  void ExpectLimit(uint64_t n, uint32_t limit);  // on the rungs of compaction

 private:
  void ExpectAll(const std::vector<Input>& inputs, Offsets offsets, judge::Role role);
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
