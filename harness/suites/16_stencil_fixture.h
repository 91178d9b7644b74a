// Shared by the public and the hidden tests of assignment 16.
//
// Whole numbers, and the fractions that steps make of them, give the same float in every order of additions, so any
// other result is wrong. Real numbers have magnitudes from 1/2 to 1. A sum of k products of these in float, in any
// order, is within k u / (1 - k u) times the sum of the weights' magnitudes, with the unit roundoff u: far less than
// one product. A step may round three times, which is too little to keep pixels between steps in fewer bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"
#include "stencil.h"

namespace lockstep::suites {

struct Image {
  uint64_t width = 0, height = 0;
  uint64_t reach = 0;  // the filter's radius, or the number of steps
  uint64_t pixels() const { return width * height; }
};

enum class Values : uint8_t {
  kWhole,  // whole numbers from -8 to 8, without 0
  kReals,  // magnitudes from 1/2 to 1, of either sign
};

// Offsets of buffers in their allocations, in elements; `in`: also the weights'. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, out = 0;
};

class StencilTest : public judge::LauncherTest {
 protected:
  // Images of these shapes in sequence in the same buffers with different values each time; with several, the last must
  // keep no memory. No effect after a problem was found.
  void Expect(const std::vector<Image>& images, Values values = Values::kWhole, Offsets offsets = {},
              judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
