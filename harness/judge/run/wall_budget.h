// How long the calls of one submission may take together.
//
// Each call has a limit of its own, but hundreds of calls just below it would hold up a grader for an hour. So the time
// of all calls is added up, for a test and for the submission. The program's own time counts in full; its kernels' time
// on the virtual GPU counts a third.
#pragma once

#include <limits>
#include <string>

namespace lockstep::judge {

// Seconds of kernels on the virtual GPU that count as one of the host code's own.
inline constexpr double kDeviceShare = 3;
// Seconds that one call's kernels may take, for one that its host code may. It stops what no budget of instructions
// stops; a right call on a slow machine has to be far from it.
inline constexpr double kMostDeviceSeconds = 6;

class WallBudget {
 public:
  WallBudget() = default;  // without end
  WallBudget(double test_seconds, double submission_seconds) : test_{test_seconds}, submission_{submission_seconds} {}

  void BeginTest() { test_.spent = 0; }
  void Spend(double own_seconds, double device_seconds);
  // "" while there is time left; else a sentence that says what was allowed.
  std::string Exceeded() const;

 private:
  struct Account {
    double allowed = std::numeric_limits<double>::infinity();
    double spent = 0;
  };
  Account test_, submission_;
};

}  // namespace lockstep::judge
