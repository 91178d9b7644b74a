// Timed criteria: one GoogleTest test each, on a real GPU.
#pragma once

#include <map>
#include <string>

#include "judge/suite/suite.h"
#include "judge/suite/timing.h"

namespace lockstep::judge {

// The timed runs of a suite: each rung is timed once, for all its criteria.
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

// Registers one test a timed criterion of the selected rungs, but for those that compare with the reference where there
// is none, as on a student's machine; none at all where the device is no GPU, or the suite times nothing. After
// InitGoogleTest.
void RegisterTimingTests(Timings& timings);

}  // namespace lockstep::judge
