// A generator of cuRAND's host API, and code shared by its functions.
#pragma once

// The library exports only these functions.
#pragma GCC visibility push(default)
#include <curand.h>
#pragma GCC visibility pop

#include <memory>
#include <vector>

#include "libraries/library.h"
#include "libraries/rand/engine.h"
#include "libraries/rand/sobol.h"

namespace lockstep::libraries {

class Kept;

// A call that changed a generator, recorded so that another can be brought to the same state.
struct Step {
  const char* function;
  size_t count = 0;  // results
  double mean = 0, deviation = 0;
  uint64_t value = 0;  // for a setting
  uint64_t times = 1;  // consecutive repetitions
};

}  // namespace lockstep::libraries

// The type that curand.h declares but does not define.
struct curandGenerator_st {
  curandRngType_t type = CURAND_RNG_PSEUDO_XORWOW;
  bool is_host = false;  // its results go to host memory
  curandOrdering_t ordering = CURAND_ORDERING_PSEUDO_DEFAULT;
  cudaStream_t stream = nullptr;
  uint64_t seed = 0;
  uint64_t position = 0;  // results, or points, from the sequence's start to the next one
  uint32_t dimensions = 1;
  // A draw used more than one word: then a generator recreated on an H100 continues at a different position.
  bool has_wide_draws = false;
  // A seed or setting changed after results were generated; an H100's behaviour in that case is unknown.
  bool is_unclear = false;
  // Created for the first results. Shared with pending work of a stream.
  std::shared_ptr<lockstep::libraries::Engine> engine;
  std::shared_ptr<lockstep::libraries::Sobol> sobol;
  // NVIDIA's generator, if only NVIDIA's own library knows the results; created on demand.
  std::shared_ptr<lockstep::libraries::Kept> kept;
  bool is_kept = false;
  // All calls; and the settings that `kept` makes before its next results.
  std::vector<lockstep::libraries::Step> history, settings;
};

namespace lockstep::libraries {

inline bool IsQuasi(const curandGenerator_st& generator) { return generator.type >= CURAND_RNG_QUASI_DEFAULT; }
inline bool IsScrambled(const curandGenerator_st& generator) {
  return generator.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL32 || generator.type == CURAND_RNG_QUASI_SCRAMBLED_SOBOL64;
}
inline bool HasWideWords(const curandGenerator_st& generator) { return generator.type >= CURAND_RNG_QUASI_SOBOL64; }

// Reports that a form of a function is missing.
inline curandStatus_t Refuse(const char* function, const char* what) {
  lockstep_refuse("cuRAND's host API", function, what);
  return CURAND_STATUS_INTERNAL_ERROR;
}

inline bool HasGenerated(const curandGenerator_st& generator) {
  return generator.engine != nullptr || generator.sobol != nullptr;
}
void Remember(curandGenerator_st& generator, const Step& step);
// Creates the engine for the settings, unless it exists.
void MakeEngine(curandGenerator_st& generator);

}  // namespace lockstep::libraries
