// Shared by the public and the hidden tests of assignment 12.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// The selected rungs with this number.
std::vector<std::string> Rung12(int number);

// Rung 1.
class RoundTripTest : public judge::LauncherTest {
 protected:
  // Copies n values of this pattern. No effect after a problem was found; the same for the others.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

// Rung 2.
class PreparedShiftTest : public judge::LauncherTest {
 protected:
  void Expect(uint64_t n, int64_t shift, judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

// Rung 3.
class PreparedSumTest : public judge::LauncherTest {
 protected:
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

// Rung 4.
class StreamedTest : public judge::LauncherTest {
 protected:
  void Expect(uint64_t n, judge::Role role = judge::Role::kChecked);
  // Checks the chunks, the streams and the waits of such a call.
  void ExpectOverlap(uint64_t n);

 private:
  judge::CallReport Run(uint64_t n, judge::Role role);
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
