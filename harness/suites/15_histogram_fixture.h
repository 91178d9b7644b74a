// What the public and the hidden tests of assignment 15 share.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "histogram.h"
#include "judge/device/buffer.h"
#include "judge/suite/evidence.h"
#include "judge/suite/launcher_test.h"

namespace lockstep::suites {

enum class Values : uint8_t {
  kRandom,  // each as likely as any other
  kOne,     // all the same, whichever
  kFew,     // four values
  kSkewed,  // one value for 7/8 to 15/16 of the elements, any for the others
  kSorted,  // from the smallest to the largest, all that there are
};

// How many elements into its allocation a buffer begins. Allocations are aligned to 256 bytes.
struct Offsets {
  uint64_t in = 0, bins = 0;
};

// d_in, d_weights and d_bins of a rung's histograms of up to `most` elements.
class HistogramBuffers {
 public:
  HistogramBuffers(judge::JudgeDevice& device, const std::string& rung, uint64_t most, Offsets offsets = {});

  std::optional<judge::DeviceArray<uint8_t>> bytes;
  std::optional<judge::DeviceArray<uint16_t>> words;  // on rung 5
  std::optional<judge::DeviceArray<uint32_t>> weights;  // on rung 3
  judge::DeviceArray<uint32_t> bins;
  Offsets offsets;
};

struct Input {
  std::vector<uint16_t> values;
  std::vector<uint32_t> weights;  // 1 where the rung counts
  std::string what;  // as messages name it
};
Input MakeInput(const std::string& rung, uint64_t n, Values values, const judge::SeedKey& seed);

// Counts the input, which fills the first part of d_in, and returns all that is wrong with how it went.
judge::EvidenceRun Count(judge::Runner& runner, const std::string& rung, HistogramBuffers& buffers, const Input& input);

class HistogramTest : public judge::LauncherTest {
 protected:
  // Counts n elements in buffers of their own. Does nothing where a problem was found before.
  void Expect(uint64_t n, Values values = Values::kRandom, Offsets offsets = {},
              judge::Role role = judge::Role::kChecked);
  // Inputs of these lengths one after another in the same buffers, with other values each time. The last call may keep
  // no memory where `repeats`: one of its length was made before.
  void ExpectInTurn(const std::vector<uint64_t>& lengths, const std::string& how, bool repeats = false);

 private:
  void Take(judge::EvidenceRun run);
  uint64_t inputs_ = 0;
};

}  // namespace lockstep::suites
