// The words generated from a key: element i of an input is a function of only the key and i. The host and
// gpu_kernels.cu share this file, so it contains only plain numbers. seed.h creates the keys.
#pragma once

#include "judge/input/chacha.h"

namespace lockstep::judge {

// Published attacks reach seven rounds, with an infeasible number of steps.
inline constexpr int kInputRounds = 8;

using SeedNumber = unsigned __int128;

struct SeedKey {
  uint32_t words[8] = {};

  SeedKey() = default;
  // A number converts to a key: the run's first key, and those in tests.
  SeedKey(SeedNumber number) {  // NOLINT(google-explicit-constructor)
    constexpr uint32_t kRest[4] = {0x6b636f6c, 0x70657473, 0x706e6920, 0x2e737475};  // "lockstep inputs."
    for (int i = 0; i < 4; ++i) {
      words[i] = static_cast<uint32_t>(number >> 32 * i);
      words[4 + i] = kRest[i];
    }
  }
};

// The purpose of a block; it is word 15 of the state, so no two uses of a key share a block.
enum class KeyUse : uint32_t { kWords, kNames, kDraws, kTables, kLooks };

// Sets all words of a state except the low counter word, 12; the counter continues in words 13 and 14.
template <class Word>
LOCKSTEP_ON_BOTH inline void SetState(const SeedKey& key, KeyUse use, uint64_t counter_above, Word (&state)[16]) {
  SetChaChaConstants(state);
  for (int i = 0; i < 8; ++i) state[4 + i] = Word{} + key.words[i];
  state[13] = Word{} + static_cast<uint32_t>(counter_above);
  state[14] = Word{} + static_cast<uint32_t>(counter_above >> 32);
  state[15] = Word{} + static_cast<uint32_t>(use);
}

template <int kRounds = kInputRounds>
LOCKSTEP_ON_BOTH inline void MakeBlock(const SeedKey& key, KeyUse use, uint64_t counter, uint32_t (&block)[16],
                                       uint32_t above = 0) {
  SetState(key, use, uint64_t{above} << 32 | counter >> 32, block);
  block[12] = static_cast<uint32_t>(counter);
  ChaChaBlock<kRounds>(block);
}

// Elements take their words from groups of 32 blocks: first word 0 of each block, then word 1 of each, up to word 15.
// So the lanes of a vector, which compute one block each, produce neighbouring elements, and so do the threads of a
// warp.
inline constexpr uint64_t kGroupBlocks = 32, kGroupWords = 16 * kGroupBlocks;

LOCKSTEP_ON_BOTH constexpr uint64_t BlockOf(uint64_t element) {
  return element / kGroupWords * kGroupBlocks + element % kGroupBlocks;
}
LOCKSTEP_ON_BOTH constexpr uint32_t WordInBlock(uint64_t element) {
  return static_cast<uint32_t>(element % kGroupWords / kGroupBlocks);
}
LOCKSTEP_ON_BOTH constexpr uint64_t ElementOf(uint64_t block, uint32_t word) {
  return block / kGroupBlocks * kGroupWords + word * kGroupBlocks + block % kGroupBlocks;
}

// One element's word; for many neighbours a whole block is cheaper.
LOCKSTEP_ON_BOTH inline uint32_t WordAt(const SeedKey& key, uint64_t element) {
  uint32_t block[16];
  MakeBlock(key, KeyUse::kWords, BlockOf(element), block);
  uint32_t word = 0;
  // An index unknown at compile time would move a GPU's block to local memory.
  for (uint32_t i = 0; i < 16; ++i) word = i == WordInBlock(element) ? block[i] : word;
  return word;
}

// Maps a word to [0, range) as the upper half of a product, because divisions are slow. 0 < range <= 2^32.
LOCKSTEP_ON_BOTH constexpr uint64_t Within(uint32_t word, uint64_t range) { return word * range >> 32; }

}  // namespace lockstep::judge
