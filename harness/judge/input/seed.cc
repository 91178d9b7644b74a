#include "judge/input/seed.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <random>

namespace lockstep::judge {
namespace {

// Names are short and few: they can use all 20 rounds of the original ChaCha.
constexpr int kNameRounds = 20;

using Lanes [[gnu::vector_size(32)]] = uint32_t;
constexpr uint64_t kLanes = sizeof(Lanes) / sizeof(uint32_t);
static_assert(kGroupBlocks % kLanes == 0);

// All words of a group. Each lane computes a block, so that a vector holds one word of neighbouring blocks.
void FillGroup(const SeedKey& key, KeyUse use, uint64_t group, uint32_t* words) {
  Lanes lane;
  for (uint32_t i = 0; i < kLanes; ++i) lane[i] = i;
  const uint64_t first = group * kGroupBlocks;  // a group's counters have the same upper half
  for (uint64_t part = 0; part < kGroupBlocks; part += kLanes) {
    Lanes state[16];
    SetState(key, use, first >> 32, state);
    state[12] = lane + static_cast<uint32_t>(first + part);
    ChaChaBlock<kInputRounds>(state);
    for (uint64_t word = 0; word < 16; ++word)
      std::memcpy(words + word * kGroupBlocks + part, &state[word], sizeof(Lanes));
  }
}

}  // namespace

std::optional<SeedNumber> ParseSeed(std::string_view text) {
  constexpr SeedNumber kMost = ~SeedNumber{0};
  SeedNumber number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const SeedNumber digit = static_cast<SeedNumber>(c - '0');
    if (number > (kMost - digit) / 10) return std::nullopt;
    number = 10 * number + digit;
  }
  return text.empty() ? std::nullopt : std::optional(number);
}

std::string SeedText(SeedNumber number) {
  std::string text;
  do {
    text.insert(text.begin(), static_cast<char>('0' + static_cast<int>(number % 10)));
    number /= 10;
  } while (number != 0);
  return text;
}

SeedNumber RandomSeed(int bits) {
  std::random_device device;
  SeedNumber number = 0;
  for (int i = 0; i < 4; ++i) number = number << 32 | device();
  return number >> (128 - bits);
}

bool operator==(const SeedKey& a, const SeedKey& b) { return std::ranges::equal(a.words, b.words); }

// Each block absorbs eight bytes of the name, and yields the key for the next. The counter includes the remaining
// length, so no name's blocks are a prefix of a longer name's.
SeedKey SeedFor(const SeedKey& above, std::string_view name) {
  SeedKey key = above;
  do {
    const std::string_view part = name.substr(0, sizeof(uint64_t));
    uint64_t bytes = 0;
    for (size_t i = 0; i < part.size(); ++i) bytes |= uint64_t{static_cast<uint8_t>(part[i])} << 8 * i;
    uint32_t block[16];
    MakeBlock<kNameRounds>(key, KeyUse::kNames, bytes, block, static_cast<uint32_t>(name.size()));
    std::copy_n(block, std::size(key.words), key.words);
    name.remove_prefix(part.size());
  } while (!name.empty());
  return key;
}

void FillWords(const SeedKey& key, KeyUse use, uint64_t first, std::span<uint32_t> words) {
  uint64_t group = first / kGroupWords;
  for (; words.size() >= kGroupWords; words = words.subspan(kGroupWords)) FillGroup(key, use, group++, words.data());
  if (words.empty()) return;
  uint32_t last[kGroupWords];
  FillGroup(key, use, group, last);
  std::copy_n(last, words.size(), words.data());
}

}  // namespace lockstep::judge
