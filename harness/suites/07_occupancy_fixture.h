// What the public and the hidden tests of assignment 07 share.
#pragma once

#include <vector>

#include "judge/suite/launcher_test.h"
#include "suites/07_occupancy_case.h"

namespace lockstep::suites {

class OccupancyTest : public judge::LauncherTest {
 protected:
  // Asks the rung. Does nothing where a problem was found before, or where the rung is not for such a device.
  void Expect(const Case& one);
  // Asks all cases of the running test.
  void ExpectAll();
  int number() const;  // the rung's

 private:
  std::vector<judge::Problem> Ask(const Case& one);
};

}  // namespace lockstep::suites
