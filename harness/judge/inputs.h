// Inputs of a test: seeded, named, and such that the trivial answers are wrong.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace lockstep::judge {

// Deterministic and the same on every machine, unlike the standard library's distributions.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  // Both are defined here because inputs are long: a call for each element costs more than drawing it.
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Uniform in [low, high].
  int64_t Between(int64_t low, int64_t high) {
    const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
    // The upper half of a product instead of a remainder: divisions are slow.
    const uint64_t draw =
        range == 0 ? Next() : static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * range) >> 64);
    return static_cast<int64_t>(static_cast<uint64_t>(low) + draw);
  }

 private:
  uint64_t state_;
};

// Mixes a test's name into the run's seed: a test's inputs do not depend on which tests ran before it.
uint64_t SeedFor(uint64_t run_seed, std::string_view name);

enum class Pattern : uint8_t {
  kOnes,         // all 1
  kSmall,        // random in [-100, 100]
  kAlternating,  // signs alternate, random magnitudes
  kRamp,         // 1, 2, 3, … modulo 1000
  kExtremes,     // random over the whole range of the type: sums wrap around
  kLargest,      // all the largest value: the sum wraps around at the second element
  kSpikeFirst,   // one value at the first position, zeros elsewhere
  kSpikeLast,    // one value at the last position, zeros elsewhere
};

std::string_view NameOf(Pattern pattern);  // "small random integers"
const std::vector<Pattern>& AllPatterns();

// n values. For n > 1 neither zero nor the first element is their (wrapping) sum, so that an untouched output, the
// identity and a copy of the input are wrong; spikes at the first position are the exception to the second.
std::vector<int32_t> MakeInts(Pattern pattern, uint64_t n, uint64_t seed);

// n words of 32 bits, all different, in random order: a result that is in the wrong place tells where it came from.
// n <= 2^32.
std::vector<uint32_t> MakeDistinct(uint64_t n, uint64_t seed);

// {b - 1, b, b + 1} for each b, ascending, without doubles; none below 0.
std::vector<uint64_t> Around(const std::vector<uint64_t>& boundaries);

}  // namespace lockstep::judge
