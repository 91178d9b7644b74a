// Shared by the public and the hidden tests of assignment 05.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/device/buffer.h"
#include "judge/input/inputs.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

// The buffers of a scan of up to `capacity` floats; d_in and d_out start at an offset in their allocations.
class ScanBuffers {
 public:
  ScanBuffers(judge::JudgeDevice& device, uint64_t capacity, uint64_t in_offset = 0, uint64_t out_offset = 0);

  judge::DeviceArray<float> in, out;
  judge::DeviceArray<uint64_t> work;
};

// The allowed difference from the oracle.
enum class Precision : uint8_t {
  kExact,    // none: all sums are integers that a float represents
  kBounded,  // i·ε·(|x[0]| + … + |x[i-1]|), the bound for any order of adding these i elements
};

// A scan's input: its values, the required precision, and its name in messages.
struct ScanInput {
  std::vector<float> values;
  Precision precision = Precision::kExact;
  std::string what;
};

// Integers of this pattern for a rung: small enough that all sums are exact, and such that neither zeros nor a copy of
// the input is right. Inputs for maxima rise slowly and are negative.
ScanInput MakeIntegers(const std::string& rung, judge::Pattern pattern, uint64_t n, const judge::SeedKey& seed);
// Random between low and low + 1; for the rung of maxima 2 less.
ScanInput MakeReals(const std::string& rung, double low, uint64_t n, const judge::SeedKey& seed);

// The most elements that a rung supports.
uint64_t MostElements(const std::string& rung);

// Scans the values in the first part of d_in, and returns all problems.
judge::EvidenceRun Scan(judge::Runner& runner, const std::string& rung, ScanBuffers& buffers, const ScanInput& input);

class ScanTest : public judge::LauncherTest {
 protected:
  // Scans n values of this pattern in new buffers. No effect after a problem was found, or if n is more than the rung
  // supports.
  void Expect(uint64_t n, judge::Pattern pattern, judge::Role role = judge::Role::kChecked, uint64_t in_offset = 0,
              uint64_t out_offset = 0);
  void ExpectReals(uint64_t n, double low);
  void ExpectValues(const ScanInput& input);
  // The same in the test's own buffers. is_repeated: an earlier call had the same size, so memory that this one
  // allocates and doesn't free is a leak, not a buffer kept for the next call.
  void ExpectIn(ScanBuffers& buffers, const ScanInput& input, judge::Role role = judge::Role::kChecked,
                bool is_repeated = false);

 private:
  uint64_t inputs_ = 0;
};

// For rungs that support any length.
class LongScanTest : public ScanTest {};
std::vector<std::string> SelectedLongRungs();

// For the rung that scans maxima.
class LargestScanTest : public ScanTest {};
std::vector<std::string> SelectedLargestRungs();

}  // namespace lockstep::suites
