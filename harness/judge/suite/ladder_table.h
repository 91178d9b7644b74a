// The table at the end of a run: each rung's counters, beside the reference's and the published figures.
#pragma once

#include <string>

#include "judge/suite/evidence.h"
#include "judge/suite/suite.h"

namespace lockstep::judge {

// Columns that have nothing for any rung are left out. They are aligned by what a terminal shows; `color` writes the
// heading in bold. "" where nothing was measured.
std::string LadderTable(const Suite& suite, bool color);

}  // namespace lockstep::judge
