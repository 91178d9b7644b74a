#include "judge/run/wall_budget.h"

#include <cstdio>

namespace lockstep::judge {

void WallBudget::Spend(double own_seconds, double device_seconds) {
  const double seconds = own_seconds + device_seconds / kDeviceShare;
  test_.spent += seconds;
  submission_.spent += seconds;
}

std::string WallBudget::Exceeded() const {
  const bool whole = submission_.spent > submission_.allowed;
  const Account& account = whole ? submission_ : test_;
  if (account.spent <= account.allowed) return "";
  char text[160];
  std::snprintf(text, sizeof text, "not called: the calls before it took %.0f of the %.0f seconds that %s may take",
                account.spent, account.allowed, whole ? "all calls of a submission" : "the calls of one test");
  return text;
}

}  // namespace lockstep::judge
