#include "judge/inputs.h"

#include <array>
#include <limits>
#include <set>
#include <utility>

#include "judge/oracle.h"

namespace lockstep::judge {

uint64_t SeedFor(uint64_t run_seed, std::string_view name) {
  uint64_t hash = 0xCBF29CE484222325u;
  for (const char c : name) hash = (hash ^ static_cast<uint8_t>(c)) * 0x100000001B3u;
  return Random(run_seed ^ hash).Next();
}

std::string_view NameOf(Pattern pattern) {
  switch (pattern) {
    case Pattern::kOnes:
      return "all ones";
    case Pattern::kSmall:
      return "small random integers";
    case Pattern::kAlternating:
      return "alternating signs";
    case Pattern::kRamp:
      return "a ramp";
    case Pattern::kExtremes:
      return "random over the whole range";
    case Pattern::kLargest:
      return "all the largest value";
    case Pattern::kSpikeFirst:
      return "one value first, zeros after it";
    case Pattern::kSpikeLast:
      return "zeros, one value last";
  }
  return "?";
}

const std::vector<Pattern>& AllPatterns() {
  static const std::vector<Pattern> patterns = {Pattern::kOnes,       Pattern::kSmall,    Pattern::kAlternating,
                                                Pattern::kRamp,       Pattern::kExtremes, Pattern::kLargest,
                                                Pattern::kSpikeFirst, Pattern::kSpikeLast};
  return patterns;
}

std::vector<int32_t> MakeInts(Pattern pattern, uint64_t n, uint64_t seed) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  constexpr int32_t kMin = std::numeric_limits<int32_t>::min();
  std::vector<int32_t> values(n);
  Random random(seed);
  // The pattern is chosen outside of the loop over the elements.
  const auto fill = [&](auto value) {
    for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(value(i));
  };
  switch (pattern) {
    case Pattern::kOnes:
      fill([](uint64_t) { return 1; });
      break;
    case Pattern::kSmall:
      fill([&](uint64_t) { return random.Between(-100, 100); });
      break;
    case Pattern::kAlternating:
      fill([&](uint64_t i) { return random.Between(1, 1000) * (i % 2 == 0 ? 1 : -1); });
      break;
    case Pattern::kRamp:
      fill([](uint64_t i) { return i % 1000 + 1; });
      break;
    case Pattern::kExtremes:
      fill([&](uint64_t) { return random.Between(kMin, kMax); });
      break;
    case Pattern::kLargest:
      fill([](uint64_t) { return kMax; });
      break;
    case Pattern::kSpikeFirst:
    case Pattern::kSpikeLast:
      break;
  }
  if (n == 0) return values;
  if (pattern == Pattern::kSpikeFirst) values.front() = static_cast<int32_t>(random.Between(1, kMax));
  if (pattern == Pattern::kSpikeLast) values.back() = static_cast<int32_t>(random.Between(1, kMax));
  if (n > 1 && pattern != Pattern::kSpikeFirst) {
    for (int32_t sum = WrappingSum(values); sum == 0 || sum == values.front(); sum = WrappingSum(values)) {
      values.back() += values.back() == kMax ? -7 : 1;
    }
  }
  return values;
}

// A Feistel network over the index: whatever its round function, no two indices come out alike.
std::vector<uint32_t> MakeDistinct(uint64_t n, uint64_t seed) {
  Random random(seed);
  std::array<uint32_t, 4> keys;
  for (uint32_t& key : keys) key = static_cast<uint32_t>(random.Next());
  std::vector<uint32_t> words(n);
  for (uint64_t i = 0; i < n; ++i) {
    uint32_t left = static_cast<uint32_t>(i) >> 16, right = static_cast<uint32_t>(i) & 0xFFFF;
    for (const uint32_t key : keys) {
      const uint32_t mixed = (right + (key & 0xFFFF)) * (key | 1);
      left ^= (mixed ^ (mixed >> 16)) & 0xFFFF;
      std::swap(left, right);
    }
    words[i] = left << 16 | right;
  }
  return words;
}

std::vector<uint64_t> Around(const std::vector<uint64_t>& boundaries) {
  std::set<uint64_t> sizes;
  for (const uint64_t b : boundaries) {
    if (b > 0) sizes.insert(b - 1);
    sizes.insert(b);
    sizes.insert(b + 1);
  }
  return {sizes.begin(), sizes.end()};
}

}  // namespace lockstep::judge
