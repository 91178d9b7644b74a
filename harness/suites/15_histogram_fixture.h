// Shared by the public and the hidden tests of assignment 15.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "histogram.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

enum class Values : uint8_t {
  kRandom,  // all values equally likely
  kOne,     // every element has the same value
  kFew,     // four values
  kSkewed,  // one value for 7/8 to 15/16 of the elements, any for the others
  kSorted,  // every value, from the smallest to the largest
  kTwo,     // two values for 7/8 to 15/16 of the elements
};

// Offsets of buffers in their allocations, in elements; `in`: also of d_weights. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, bins = 0;
};

struct Input {
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;  // all 1 if the rung counts
  std::string what;               // the name in messages
};

class HistogramTest : public judge::LauncherTest {
 protected:
  // Runs inputs of these lengths in sequence in the same buffers; with several, the last must keep no memory. No effect
  // after a problem was found.
  void Expect(const std::vector<uint64_t>& lengths, Values values = Values::kRandom, Offsets offsets = {},
              judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
