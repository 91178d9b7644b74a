// Timed criteria: one GoogleTest test each, on a real GPU.
#pragma once

#include <map>
#include <string>

#include "judge/suite/suite.h"
#include "judge/suite/timing.h"

namespace lockstep::judge {

// The timed runs of a suite: each rung is timed once for all its criteria.
class Timings {
 public:
  explicit Timings(Suite& suite, TimingLimits limits = {}) : suite_(suite), limits_(limits) {}

  const Timing& Of(const std::string& rung);

  struct Judgement {
    TimingResult result;
    bool unfinished = false;
  };
  Judgement Judge(const TimingCriterion& criterion, const std::string& test);

 private:
  Suite& suite_;
  TimingLimits limits_;
  std::map<std::string, Timing> timings_;
};

// Registers one test per timed criterion of the selected rungs, except those that need a missing reference, as on a
// student's machine; none if the device is no GPU, or the suite has no timings. Call after InitGoogleTest.
void RegisterTimingTests(Timings& timings);

}  // namespace lockstep::judge
