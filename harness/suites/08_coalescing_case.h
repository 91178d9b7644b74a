// A question of assignment 08 and its answers: one warp's request, and what it moves. Only data, without the rules: the
// public suite reads its cases from a table, the instructor's computes them.
#pragma once

#include <string>
#include <vector>

#include "../../assignments/08_coalescing/coalescing.h"

namespace lockstep::judge {
struct SeedKey;
}

namespace lockstep::suites {

struct PredictionCase {
  WarpRequest request;
  int sectors = 0;       // rung 1
  int transactions = 0;  // rung 9
};

// The cases of a public test, such as PredictsThePatterns. The public suite's are in 08_coalescing_public.cc; the
// instructor's suite has its own, some of which depend on the seed.
std::vector<PredictionCase> CasesOf(const std::string& test, const judge::SeedKey& seed);

}  // namespace lockstep::suites
