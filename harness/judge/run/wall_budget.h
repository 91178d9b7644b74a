// The total time limit for one submission's calls.
//
// Each call has a limit of its own, but hundreds of calls just below it would take an hour. So the time of all calls is
// added up, per test and per submission. The program's own time counts in full; its kernels' time on the virtual GPU
// counts a third.
#pragma once

#include <cstdio>
#include <limits>
#include <string>

namespace lockstep::judge {

// Kernel seconds on the virtual GPU that count as one second of host code.
inline constexpr double kDeviceShare = 3;
// The limit for one call's kernels, per second allowed for its host code. It catches what the instruction budget
// misses, and must be far above a correct call on a slow machine.
inline constexpr double kMostDeviceSeconds = 6;

class WallBudget {
 public:
  WallBudget() = default;  // unlimited
  WallBudget(double test_seconds, double submission_seconds) : test_{test_seconds}, submission_{submission_seconds} {}

  void BeginTest() { test_.spent = 0; }
  void Spend(double own_seconds, double device_seconds) {
    const double seconds = own_seconds + device_seconds / kDeviceShare;
    test_.spent += seconds;
    submission_.spent += seconds;
  }
  // "" while there is time left; else a sentence with the limit.
  std::string Exceeded() const {
    const bool whole = submission_.spent > submission_.allowed;
    const Account& account = whole ? submission_ : test_;
    if (account.spent <= account.allowed) return "";
    char text[160];
    std::snprintf(text, sizeof text, "not called: the calls before it took %.0f of the %.0f seconds that %s may take",
                  account.spent, account.allowed, whole ? "all calls of a submission" : "the calls of one test");
    return text;
  }

 private:
  struct Account {
    double allowed = std::numeric_limits<double>::infinity();
    double spent = 0;
  };
  Account test_, submission_;
};

}  // namespace lockstep::judge
