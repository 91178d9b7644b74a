// The table at the end of a run: each rung's counters, with the reference's and the published figures.
#pragma once

#include <string>

#include "judge/suite/evidence.h"
#include "judge/suite/suite.h"

namespace lockstep::judge {

// Empty columns are left out. Columns are aligned by display width; `color` makes the heading bold. "" if nothing was
// measured.
std::string LadderTable(const Suite& suite, bool color);

}  // namespace lockstep::judge
