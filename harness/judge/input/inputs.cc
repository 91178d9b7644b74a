#include "judge/input/inputs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <set>

#include "judge/input/oracle.h"

namespace lockstep::judge {

namespace {

// The pattern is chosen outside the loop over elements, and words are generated a page at a time.
template <class Value>
void Fill(std::vector<int32_t>& values, const SeedKey& seed, Value value) {
  std::array<uint32_t, 4 * kGroupWords> words;
  for (uint64_t first = 0; first < values.size(); first += words.size()) {
    const uint64_t count = std::min<uint64_t>(words.size(), values.size() - first);
    FillWords(seed, KeyUse::kWords, first, {words.data(), count});
    for (uint64_t i = 0; i < count; ++i) values[first + i] = value(words[i], first + i);
  }
}

int32_t Between(uint32_t word, int32_t low, int32_t high) {
  return low + static_cast<int32_t>(Within(word, static_cast<uint64_t>(high - low) + 1));
}

}  // namespace

uint64_t Random::Next() {
  if (used_ == 16) {
    MakeBlock(seed_, KeyUse::kDraws, block_++, words_);
    used_ = 0;
  }
  used_ += 2;
  return uint64_t{words_[used_ - 2]} << 32 | words_[used_ - 1];
}

int64_t Random::Between(int64_t low, int64_t high) {
  const uint64_t range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  // The upper half of a product instead of a remainder: divisions are slow.
  const uint64_t draw =
      range == 0 ? Next() : static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * range) >> 64);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + draw);
}

std::vector<uint32_t> MakeWords(uint64_t n, const SeedKey& seed) {
  std::vector<uint32_t> words(n);
  FillWords(seed, KeyUse::kWords, 0, words);
  return words;
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

std::vector<int32_t> MakeInts(Pattern pattern, uint64_t n, const SeedKey& seed) {
  constexpr int32_t kMax = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> values(n);
  switch (pattern) {
    case Pattern::kOnes:
      std::fill(values.begin(), values.end(), 1);
      break;
    case Pattern::kSmall:
      Fill(values, seed, [](uint32_t word, uint64_t) { return Between(word, -100, 100); });
      break;
    case Pattern::kAlternating:
      Fill(values, seed, [](uint32_t word, uint64_t i) { return Between(word, 1, 1000) * (i % 2 == 0 ? 1 : -1); });
      break;
    case Pattern::kRamp:
      for (uint64_t i = 0; i < n; ++i) values[i] = static_cast<int32_t>(i % 1000 + 1);
      break;
    case Pattern::kExtremes:
      Fill(values, seed, [](uint32_t word, uint64_t) { return static_cast<int32_t>(word); });
      break;
    case Pattern::kLargest:
      std::fill(values.begin(), values.end(), kMax);
      break;
    case Pattern::kSpikeFirst:
    case Pattern::kSpikeLast:
      break;
  }
  if (n == 0) return values;
  if (pattern == Pattern::kSpikeFirst) values.front() = Between(WordAt(seed, 0), 1, kMax);
  if (pattern == Pattern::kSpikeLast) values.back() = Between(WordAt(seed, 0), 1, kMax);
  if (n > 1 && pattern != Pattern::kSpikeFirst) {
    for (int32_t sum = WrappingSum(values); sum == 0 || sum == values.front(); sum = WrappingSum(values)) {
      values.back() += values.back() == kMax ? -7 : 1;
    }
  }
  return values;
}

// A word has the permuted index in its low bits, as many as n needs, and random bits above. The permutation is a
// Feistel network on the two halves of the index, whose round functions are tables: it is a bijection for any tables.
void FillDistinct(std::span<uint32_t> words, const SeedKey& seed) {
  constexpr int kRounds = 4;
  const uint64_t n = words.size();
  const int bits = n > 1 ? std::bit_width(n - 1) : 0, low_bits = bits / 2, high_bits = bits - low_bits;
  const uint32_t low_mask = (1u << low_bits) - 1, high_mask = (1u << high_bits) - 1;
  // One table after the other; a round looks up the half that the previous one changed.
  const uint64_t table_size = uint64_t{1} << high_bits;
  std::vector<uint32_t> drawn(kRounds * table_size);
  FillWords(seed, KeyUse::kTables, 0, drawn);
  const std::vector<uint16_t> tables(drawn.begin(), drawn.end());
  constexpr uint64_t kPage = 4 * kGroupWords;
  for (uint64_t first = 0; first < n; first += kPage) {
    const uint64_t end = std::min(first + kPage, n);
    FillWords(seed, KeyUse::kWords, first, {words.data() + first, end - first});
    for (uint64_t i = first; i < end; ++i) {
      auto low = static_cast<uint32_t>(i) & low_mask, high = static_cast<uint32_t>(i >> low_bits);
      const uint16_t* table = tables.data();
      for (int round = 0; round < kRounds; round += 2) {
        high ^= table[low] & high_mask;
        low ^= table[table_size + high] & low_mask;
        table += 2 * table_size;
      }
      words[i] = static_cast<uint32_t>(uint64_t{words[i]} << bits) | high << low_bits | low;
    }
  }
}

std::vector<uint32_t> MakeDistinct(uint64_t n, const SeedKey& seed) {
  std::vector<uint32_t> words(n);
  FillDistinct(words, seed);
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
