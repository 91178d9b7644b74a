// Shared by the public and the hidden tests of assignment 18.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpus.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// The input of a call: n words (rung 3: for each device), or a field and the number of steps.
struct Task {
  int devices = 1;
  uint64_t n = 0;
  int width = 0, height = 0, steps = 0;
};

class GpusTest : public judge::LauncherTest {
 protected:
  // Calls rungs 1 and 3 with each of these lengths. No effect after a problem was found.
  void ExpectWords(int devices, const std::vector<uint64_t>& lengths, judge::Role role = judge::Role::kChecked);
  // Calls rungs 2 and 4.
  void ExpectField(int devices, int width, int height, int steps, judge::Role role = judge::Role::kChecked);

 private:
  void Expect(const Task& task, judge::Role role);
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
