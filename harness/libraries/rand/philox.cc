// Philox4x32-10: J. Salmon, M. Moraes, R. Dror, D. Shaw, "Parallel Random Numbers: As Easy as 1, 2, 3", SC'11. A block
// of four words is a function of a counter and a key. The key is the seed; the counter's high half is the number of the
// lane, its low half the number of the block in the lane.
//
// A lane gives four consecutive results from one block, or from two blocks if a result takes two words or more (results
// 0 and 1 from the first, 2 and 3 from the second). After the fourth result the lane advances by as many blocks as that
// result's distribution uses, whatever the earlier ones used. Normals come in pairs, which begin at even results; if
// the number of results is odd, the last pair's second one is dropped.
#include <array>
#include <vector>

#include "libraries/rand/engine.h"

namespace lockstep::libraries {

namespace {

constexpr size_t kLanes = 65536, kDynamicLanes = 512 * kMultiprocessors;
constexpr uint32_t kBlock = 4;  // words per block; also consecutive results from one lane

using Block = std::array<uint32_t, kBlock>;

Block BlockOf(uint64_t number, uint64_t lane, uint64_t seed) {
  constexpr int kRounds = 10;
  constexpr uint64_t kFirstMultiplier = 0xD2511F53, kSecondMultiplier = 0xCD9E8D57;
  constexpr uint32_t kFirstWeyl = 0x9E3779B9, kSecondWeyl = 0xBB67AE85;
  Block block = {static_cast<uint32_t>(number), static_cast<uint32_t>(number >> 32), static_cast<uint32_t>(lane),
                 static_cast<uint32_t>(lane >> 32)};
  auto first_key = static_cast<uint32_t>(seed), second_key = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < kRounds; ++round) {
    const uint64_t first = kFirstMultiplier * block[0], second = kSecondMultiplier * block[2];
    block = {static_cast<uint32_t>(second >> 32) ^ block[1] ^ first_key, static_cast<uint32_t>(second),
             static_cast<uint32_t>(first >> 32) ^ block[3] ^ second_key, static_cast<uint32_t>(first)};
    first_key += kFirstWeyl;
    second_key += kSecondWeyl;
  }
  return block;
}

class Philox : public Engine {
 public:
  explicit Philox(const EngineSettings& settings)
      : seed_(settings.seed), blocks_(settings.is_dynamic ? kDynamicLanes : kLanes) {
    const size_t round = blocks_.size() * kBlock;
    next_ = settings.offset % round;
    for (size_t lane = 0; lane < blocks_.size(); ++lane) {
      blocks_[lane] = settings.offset / round + (lane < next_ / kBlock ? 1 : 0);
    }
  }

  void Next(uint32_t* words, uint64_t results, Draw draw) override {
    const uint64_t end = next_ + results;
    const uint32_t blocks_of_turn = draw.words / draw.results;
    Block blocks[2];
    for (uint64_t result = next_ - ResultsDrawn(draw); result < end; result += draw.results) {
      const size_t lane = result / kBlock % blocks_.size();
      const auto of_turn = static_cast<uint32_t>(result % kBlock);
      if (of_turn == 0 || result <= next_) {
        for (uint32_t i = 0; i < blocks_of_turn; ++i) blocks[i] = BlockOf(blocks_[lane] + i, lane, seed_);
      }
      const uint32_t first = of_turn * blocks_of_turn;
      for (uint32_t i = first; i < first + draw.words; ++i) *words++ = blocks[i / kBlock][i % kBlock];
      if (of_turn + draw.results == kBlock && result + draw.results <= end) blocks_[lane] += blocks_of_turn;
    }
    next_ = end % (blocks_.size() * kBlock);
  }
  uint32_t ResultsDrawn(Draw draw) const override { return static_cast<uint32_t>(next_ % draw.results); }

 private:
  uint64_t seed_;
  uint64_t next_ = 0;  // result
  std::vector<uint64_t> blocks_;
};

}  // namespace

std::unique_ptr<Engine> MakePhilox(const EngineSettings& settings) { return std::make_unique<Philox>(settings); }

}  // namespace lockstep::libraries
