// Inputs of a test: seeded, named, and chosen so that trivial answers are wrong.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "judge/input/seed.h"

namespace lockstep::judge {

// A sequence of random numbers for a test's choices: lengths, shapes, positions. Deterministic and identical on every
// machine, unlike the standard library's distributions; no number reveals another.
class Random {
 public:
  explicit Random(const SeedKey& seed) : seed_(seed) {}
  uint64_t Next();
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high);

 private:
  SeedKey seed_;
  uint64_t block_ = 0;  // index of the next one
  uint32_t words_[16] = {};
  int used_ = 16;
};

// n words, any 32 bits each.
std::vector<uint32_t> MakeWords(uint64_t n, const SeedKey& seed);

enum class Pattern : uint8_t {
  kOnes,         // all 1
  kSmall,        // random in [-100, 100]
  kAlternating,  // signs alternate, random magnitudes
  kRamp,         // 1, 2, 3, …, 1000, then from 1 again
  kExtremes,     // random over the whole range of the type: sums wrap around
  kLargest,      // all the largest value: the sum wraps around at the second element
  kSpikeFirst,   // one value at the first position, zeros elsewhere
  kSpikeLast,    // one value at the last position, zeros elsewhere
};

std::string_view NameOf(Pattern pattern);  // "small random integers"
const std::vector<Pattern>& AllPatterns();

// n values. For n > 1 neither zero nor the first element equals their (wrapping) sum, so that an untouched output, the
// identity and a copy of the input are wrong; kSpikeFirst is the exception for the first element.
std::vector<int32_t> MakeInts(Pattern pattern, uint64_t n, const SeedKey& seed);

// Distinct 32-bit words in random order: a misplaced result shows where it came from. They are distinguished by as many
// bits as their number needs; the other bits are random, so that no word can be derived from the rest. At most 2^32.
void FillDistinct(std::span<uint32_t> words, const SeedKey& seed);
std::vector<uint32_t> MakeDistinct(uint64_t n, const SeedKey& seed);

// {b - 1, b, b + 1} for each b, ascending, without duplicates or negative numbers.
std::vector<uint64_t> Around(const std::vector<uint64_t>& boundaries);

}  // namespace lockstep::judge
