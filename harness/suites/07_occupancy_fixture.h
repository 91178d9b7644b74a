// What the public and the hidden tests of assignment 07 share.
#pragma once

#include <span>
#include <vector>

#include "judge/suite/launcher_test.h"
#include "suites/07_occupancy_case.h"

namespace lockstep::suites {

class OccupancyTest : public judge::LauncherTest {
 protected:
  // Asks the rung one case after the other, up to the first problem. Leaves out devices that the rung is not for.
  void Expect(std::span<const Case> cases);
  // Asks all cases of the running test.
  void ExpectAll();
  int number() const;  // the rung's

 private:
  std::vector<judge::Problem> ProblemsOf(const Case& one, const std::vector<worker::Argument>& arguments,
                                         const judge::CallReport& report);
};

}  // namespace lockstep::suites
