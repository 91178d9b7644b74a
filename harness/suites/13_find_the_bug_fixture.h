// Shared by the public and the hidden tests of assignment 13.
#pragma once

#include <cstdint>

#include "judge/suite/launcher_test.h"
#include "judge/suite/suite.h"

namespace lockstep::suites {

// An input: its length, and the offsets of d_in and d_out in their allocations, in elements.
struct Case {
  uint64_t n = 0, in_offset = 0, out_offset = 0;
};

enum class Values { kRandom, kAscending, kDescending };

class BugTest : public judge::LauncherTest {
 protected:
  // Runs the rung's program on such an input. No effect after a problem was found.
  void Expect(Case one, judge::Role role = judge::Role::kChecked, Values order = Values::kRandom);

 private:
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
