// The interface between a suite's own source and the judge's main program.
#pragma once

#include "judge/suite/evidence.h"

namespace lockstep::judge {

// Defined by each suite: runs a rung for evidence.
EvidenceRun RunForEvidence(Runner& runner, const std::string& rung, const EvidenceCase& one);

}  // namespace lockstep::judge
