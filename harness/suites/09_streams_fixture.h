// Shared by the public and the hidden tests of assignment 09.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// n floats between 0 and 1.
std::vector<float> MakeFractions(uint64_t n, const judge::SeedKey& seed);

// One call of a launcher, and all its problems. streams: only for rung 2.
judge::EvidenceRun StreamOnce(judge::Runner& runner, const std::string& rung, const std::vector<float>& values,
                              int streams = 0);

std::vector<std::string> StreamRungs(bool chunked);

// Tests of every rung. Rung 2 is called with several numbers of streams.
class StreamsTest : public judge::LauncherTest {
 protected:
  void Expect(uint64_t n, judge::Role role = judge::Role::kChecked);
  void ExpectWith(uint64_t n, int streams, judge::Role role = judge::Role::kChecked);

 private:
  uint64_t inputs_ = 0;
};

// Tests of rung 2.
class ChunksTest : public StreamsTest {
 protected:
  // Checks for work in this many streams, or fewer if there were fewer launches. The default stream does not count.
  void ExpectStreams(uint64_t n, int streams, judge::Role role = judge::Role::kChecked);
};

}  // namespace lockstep::suites
