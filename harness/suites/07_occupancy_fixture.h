// Shared by the public and the hidden tests of assignment 07.
#pragma once

#include <span>
#include <vector>

#include "judge/suite/launcher_test.h"
#include "suites/07_occupancy_case.h"

namespace lockstep::suites {

class OccupancyTest : public judge::LauncherTest {
 protected:
  // Runs the rung on the cases in order, up to the first problem. Skips devices that the rung does not apply to.
  void Expect(std::span<const Case> cases);
  // Runs all cases of the current test.
  void ExpectAll();
  int number() const;  // the rung's

 private:
  std::vector<judge::Problem> ProblemsOf(const Case& one, const std::vector<worker::Argument>& arguments,
                                         const judge::CallReport& report);
};

}  // namespace lockstep::suites
