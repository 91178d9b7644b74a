// Shared by the public and the hidden tests of assignment 02.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// The input of a rung: n elements in blocks of this size; for rung 6 rows of `width`.
struct Shape {
  uint32_t n = 0, block = 0;
  uint32_t width = 0, height = 0;
};

// One call of a rung that fills an array (all except the fourth), and all its problems.
judge::EvidenceRun Fill(judge::Runner& runner, const std::string& rung, const Shape& shape);

// One call of rung 4 on an array filled as by rung 2, except for the elements at `wrong`.
judge::EvidenceRun Verify(judge::Runner& runner, const std::string& rung, uint32_t n, uint32_t block,
                          const std::vector<uint32_t>& wrong);

// The selected rungs among these numbers.
std::vector<std::string> SelectedOf(std::initializer_list<int> numbers);

class LaunchTest : public judge::LauncherTest {
 protected:
  // Fills n elements; for rung 1, n is rounded up to a multiple of the block, its only valid size.
  void ExpectFilled(uint32_t n, uint32_t block, judge::Role role = judge::Role::kChecked);
  // A block that can't be launched: the launcher must return the error.
  void ExpectRefused(uint32_t n, uint32_t block);
  enum class Failing { kAllocation, kCopy, kLaunch };
  // The call's first allocation, copy or launch fails: the launcher must return its error.
  void ExpectFailure(uint32_t n, Failing failing);
  int number() const { return rung().at(std::string("launch").size()) - '0'; }
};

// Rungs 2, 3 and 5: any length.
class AnyLengthTest : public LaunchTest {};
// Rung 3, which owns its memory.
class CopyBackTest : public LaunchTest {};
// Rung 4.
class VerifyTest : public LaunchTest {
 protected:
  void ExpectCounted(uint32_t n, uint32_t block, const std::vector<uint32_t>& wrong,
                     judge::Role role = judge::Role::kChecked);
};
// Rung 6.
class Grid2dTest : public LaunchTest {
 protected:
  void ExpectFilled2d(uint32_t width, uint32_t height, judge::Role role = judge::Role::kChecked);
};

}  // namespace lockstep::suites
