// What the public and the hidden tests of assignment 05 share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// The buffers of a scan of up to `capacity` floats; d_in and d_out begin some floats into their allocations.
class ScanBuffers {
 public:
  ScanBuffers(judge::JudgeDevice& device, uint64_t capacity, uint64_t in_offset = 0, uint64_t out_offset = 0);

  judge::DeviceArray<float> in, out;
  judge::DeviceArray<uint64_t> work;
};

// How far a result may be from the oracle's.
enum class Precision : uint8_t {
  kExact,    // not at all: all sums are integers that a float holds
  kBounded,  // i·ε·(|x[0]| + … + |x[i-1]|), what any order of adding these i elements keeps to
};

// A scan's input: its values, how exact the result has to be, and its name in messages.
struct ScanInput {
  std::vector<float> values;
  Precision precision = Precision::kExact;
  std::string what;
};

// Integers of this pattern as a rung gets them: small enough that all sums are exact, and such that neither zeros nor
// a copy of the input is right. What is to be found the largest of rises slowly and is negative.
ScanInput MakeIntegers(const std::string& rung, judge::Pattern pattern, uint64_t n, const judge::SeedKey& seed);
// Random in [low, low + 1).
ScanInput MakeReals(const std::string& rung, double low, uint64_t n, const judge::SeedKey& seed);

// The most elements that a rung takes.
uint64_t MostElements(const std::string& rung);

// Scans the values, which fill the first part of d_in, and returns all that is wrong with how it went.
judge::EvidenceRun Scan(judge::Runner& runner, const std::string& rung, ScanBuffers& buffers, const ScanInput& input);

class ScanTest : public judge::LauncherTest {
 protected:
  // Scans n values of this pattern in buffers of their own. Does nothing where a problem was found before, or where n
  // is more than the rung takes.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked, uint64_t in_offset = 0,
              uint64_t out_offset = 0);
  void ExpectReals(uint64_t n, double low);
  void ExpectValues(const ScanInput& input);
  // The same in buffers that the test keeps. is_repeated: a call of as many elements was made before, so that what this
  // one allocates and doesn't free is a leak, not a buffer that the launcher keeps for its next call.
  void ExpectIn(ScanBuffers& buffers, const ScanInput& input, judge::Role role = judge::Role::kChecked,
                bool is_repeated = false);

 private:
  uint64_t inputs_ = 0;
};

// On the rungs that take any length.
class LongScanTest : public ScanTest {};
std::vector<std::string> SelectedLongRungs();

// On the rung of maxima.
class LargestScanTest : public ScanTest {};
std::vector<std::string> SelectedLargestRungs();

}  // namespace lockstep::suites
