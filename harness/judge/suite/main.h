// What a suite's own source passes to the judge's main program.
#pragma once

#include "judge/suite/evidence.h"

namespace lockstep::judge {

// Each suite defines it: how a rung is run for evidence.
EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one);

}  // namespace lockstep::judge
