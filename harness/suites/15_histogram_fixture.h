// What the public and the hidden tests of assignment 15 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "histogram.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

enum class Values : uint8_t {
  kRandom,  // each as likely as any other
  kOne,     // all the same, whichever
  kFew,     // four values
  kSkewed,  // one value for 7/8 to 15/16 of the elements, any for the others
  kSorted,  // from the smallest to the largest, all that there are
};

// How many elements into its allocation a buffer begins; d_weights as d_in. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, bins = 0;
};

struct Input {
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;  // 1 where the rung counts
  std::string what;               // as messages name it
};

class HistogramTest : public judge::LauncherTest {
 protected:
  // Counts inputs of these lengths, one after another in the same buffers; of several the last may keep no memory. Does
  // nothing where a problem was found before.
  void Expect(const std::vector<uint64_t>& lengths, Values values = Values::kRandom, Offsets offsets = {},
              judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
