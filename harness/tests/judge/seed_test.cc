// The generator of all inputs: ChaCha against published blocks, keys and words against values that another
// implementation gave, vectors and random access against the plain definition.
#include "judge/input/seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <set>
#include <vector>

namespace lockstep::judge {
namespace seed_test {

using Block = std::vector<uint32_t>;

template <int kRounds>
Block BlockOfState(const Block& from_word_4) {
  uint32_t words[16];
  SetChaChaConstants(words);
  std::copy(from_word_4.begin(), from_word_4.end(), words + 4);
  ChaChaBlock<kRounds>(words);
  return {std::begin(words), std::end(words)};
}

// RFC 8439, section 2.3.2.
TEST(ChaChaTest, TwentyRoundsGiveTheRfcsBlock) {
  const Block state = {0x03020100, 0x07060504, 0x0b0a0908, 0x0f0e0d0c, 0x13121110, 0x17161514,
                       0x1b1a1918, 0x1f1e1d1c, 1,          0x09000000, 0x4a000000, 0};
  EXPECT_EQ(BlockOfState<20>(state),
            (Block{0xe4e7f110, 0x15593bd1, 0x1fdd0f50, 0xc47120a3, 0xc7f4d1c7, 0x0368c033, 0x9aaa2204, 0x4e6cd4c3,
                   0x466482d2, 0x09aa9f07, 0x05d7c214, 0xa2028bd9, 0xd19c12b5, 0xb94e16de, 0xe883d0cb, 0x4e3c50a2}));
}

// draft-strombergson-chacha-test-vectors, TC1: all zeros.
TEST(ChaChaTest, EightRoundsGiveThePublishedBlock) {
  Block expected = {0x3e00ef2f, 0x895f40d6, 0x7f5bb8e8, 0x1f09a5a1, 0x2c840ec3, 0xce9a7f3b, 0x181be188, 0xef711a1e,
                    0x984ce172, 0xb9216f41, 0x9f445367, 0x456d5619, 0x314a42a3, 0xda86b001, 0x387bfdb8, 0x0e0cfe42};
  for (uint32_t& word : expected) word = __builtin_bswap32(word);  // the draft lists bytes, the lowest first
  EXPECT_EQ(BlockOfState<8>(Block(12)), expected);
}

TEST(SeedTest, WordsAreThoseRecorded) {
  const SeedKey key = 7;
  const std::pair<uint64_t, uint32_t> recorded[] = {
      {0, 0x398e10d6},   {1, 0x0899d62f},   {31, 0xad6dc62c},      {32, 0xa4e8ef24},
      {511, 0x148f62ea}, {512, 0x4ef238a5}, {1000000, 0xc29b8470}, {(uint64_t{1} << 40) + 5, 0x1649fcc6}};
  for (const auto& [element, word] : recorded) EXPECT_EQ(WordAt(key, element), word) << element;
}

TEST(SeedTest, KeysOfNamesAreThoseRecorded) {
  const SeedKey key = SeedFor(7, "ReductionTest.SumsOneBlock/reduce1#0");
  EXPECT_EQ(Block(std::begin(key.words), std::end(key.words)),
            (Block{0xdf5d6c5c, 0xf03aa6d8, 0x01da86ab, 0xf5ea977f, 0xcaf1479d, 0xcde6a420, 0x3b3f3464, 0x71b31936}));
  const SeedKey empty = SeedFor(~SeedNumber{0}, "");
  EXPECT_EQ(Block(std::begin(empty.words), std::end(empty.words)),
            (Block{0xa292d400, 0xfe03773b, 0x89e2b219, 0x4b32c4e0, 0x2e5b11e9, 0x7bd72012, 0x9f135617, 0x948e5534}));
}

TEST(SeedTest, KeysDependOnTheWholeNumberAndTheWholeName) {
  std::set<Block> keys;
  size_t made = 0;
  const auto add = [&](const SeedKey& key) {
    keys.emplace(std::begin(key.words), std::end(key.words));
    ++made;
  };
  for (int bit = 0; bit < 128; ++bit) add(SeedFor(SeedNumber{1} << bit, "A.B"));
  // Names that are prefixes of others, and names with zeros where a shorter name's block is padded.
  const std::string name("12345678abcdefgh\0\0", 18);
  for (size_t length = 0; length <= name.size(); ++length) add(SeedFor(7, name.substr(0, length)));
  add(SeedFor(SeedFor(7, "12345678"), "abcdefgh"));
  add(SeedFor(7, "12345678abcdefgi"));
  EXPECT_EQ(keys.size(), made);
  EXPECT_EQ(SeedFor(7, "A.B"), SeedFor(7, "A.B"));
  EXPECT_FALSE(SeedFor(7, "A.B") == SeedFor(8, "A.B"));
}

TEST(SeedTest, FilledWordsAreThoseOfEachElement) {
  const SeedKey key = SeedFor(1, "x");
  for (const uint64_t first : {uint64_t{0}, 3 * kGroupWords, (uint64_t{1} << 36) - kGroupWords}) {
    for (const uint64_t n : {0, 1, 31, 32, 33, 511, 512, 513, 1025, 1500}) {
      std::vector<uint32_t> words(n + 1, 0xabababab);
      FillWords(key, KeyUse::kWords, first, {words.data(), n});
      for (uint64_t i = 0; i < n; ++i) ASSERT_EQ(words[i], WordAt(key, first + i)) << first << " + " << i;
      EXPECT_EQ(words[n], 0xabababab) << "written past the end";
    }
  }
}

TEST(SeedTest, ElementsAndWordsOfBlocksAreOneToOne) {
  for (uint64_t element = 0; element < 3 * kGroupWords; ++element) {
    ASSERT_EQ(ElementOf(BlockOf(element), WordInBlock(element)), element);
    ASSERT_LT(WordInBlock(element), 16u);
  }
}

TEST(SeedTest, NoTwoUsesOfAKeyShareABlock) {
  std::set<Block> blocks;
  size_t made = 0;
  for (const KeyUse use : {KeyUse::kWords, KeyUse::kNames, KeyUse::kDraws, KeyUse::kTables, KeyUse::kLooks}) {
    for (const uint64_t counter : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 32, uint64_t{1} << 63}) {
      for (const uint32_t above : {0, 1}) {
        uint32_t block[16];
        MakeBlock(5, use, counter, block, above);
        blocks.emplace(std::begin(block), std::end(block));
        ++made;
      }
    }
  }
  EXPECT_EQ(blocks.size(), made);
}

// One bit of a key changes half of a word's bits: 10,000 such differences have the mean and spread of coin tosses.
TEST(SeedTest, EveryBitOfAKeyCounts) {
  int changed = 0;
  constexpr int kTrials = 10'000;
  for (int trial = 0; trial < kTrials; ++trial) {
    const SeedNumber number = trial, other = number ^ SeedNumber{1} << trial % 128;
    changed += std::popcount(WordAt(number, trial) ^ WordAt(other, trial));
  }
  EXPECT_NEAR(changed, 16 * kTrials, 5 * 283);  // sqrt(32 · 10,000 / 4) = 283
}

TEST(SeedTest, NumbersAreReadAndWrittenInDecimal) {
  EXPECT_EQ(SeedText(0), "0");
  EXPECT_EQ(SeedText(20'071'001), "20071001");
  const std::string most = "340282366920938463463374607431768211455";
  EXPECT_EQ(SeedText(~SeedNumber{0}), most);
  ASSERT_TRUE(ParseSeed(most));
  EXPECT_EQ(SeedText(*ParseSeed(most)), most);
  EXPECT_EQ(SeedText(ParseSeed("007").value_or(0)), "7");
  for (const char* text : {"", "-1", "+1", "7x", " 7", "340282366920938463463374607431768211456",
                           "1000000000000000000000000000000000000000"}) {
    EXPECT_FALSE(ParseSeed(text)) << text;
  }
}

TEST(SeedTest, RandomSeedsHaveTheirBits) {
  SeedNumber all = 0, some = 0;
  for (int i = 0; i < 64; ++i) {
    all |= RandomSeed(128);
    some |= RandomSeed(32);
  }
  EXPECT_EQ(SeedText(all), SeedText(~SeedNumber{0}));
  EXPECT_EQ(SeedText(some), "4294967295");
}

}  // namespace seed_test
}  // namespace lockstep::judge
