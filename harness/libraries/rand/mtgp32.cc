// MTGP32: M. Saito, M. Matsumoto, "Variants of Mersenne Twister Suitable for Graphic Processors", ACM TOMS 39 (2013),
// with period 2^11213 - 1 and the parameters in the toolkit's header. Each lane has its own parameters, and gives 256
// results; then the next lane follows.
#pragma GCC visibility push(default)
#include <curand.h>
#include <curand_mtgp32dc_p_11213.h>
#pragma GCC visibility pop

#include <array>
#include <vector>

#include "libraries/rand/engine.h"

namespace lockstep::libraries {

namespace {

constexpr size_t kLanes = 192, kLegacyLanes = 64, kDynamicLanes = 200;  // dynamic: of 924 (curandGenerate)
constexpr size_t kTurn = 256;                                           // consecutive results from one lane
constexpr size_t kState = 351;                                          // 32-bit words for 11213 bits

class State {
 public:
  State(const mtgp32_params_fast_t& parameters, uint32_t seed) : parameters_(&parameters) {
    const uint32_t hidden_seed = parameters.tbl[4] ^ (parameters.tbl[8] << 16);
    uint32_t fill = hidden_seed + (hidden_seed >> 16);
    fill += fill >> 8;
    words_.fill((fill & 0xff) * 0x01010101u);
    words_[0] = seed;
    words_[1] = hidden_seed;
    for (uint32_t i = 1; i < kState; ++i) {
      words_[i] ^= 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + i;
    }
  }

  uint32_t Next() {
    const auto pick_up = static_cast<size_t>(parameters_->pos);
    const uint32_t tempering = Word(pick_up - 1);
    uint32_t x = (Word(0) & parameters_->mask) ^ Word(1);
    x ^= x << parameters_->sh1;
    const uint32_t y = x ^ (Word(pick_up) >> parameters_->sh2);
    const uint32_t next = y ^ parameters_->tbl[y & 0xf];
    words_[first_] = next;  // after the newest, in the oldest's place
    first_ = first_ + 1 == kState ? 0 : first_ + 1;
    const uint32_t folded = tempering ^ (tempering >> 16);
    return next ^ parameters_->tmp_tbl[(folded ^ (folded >> 8)) & 0xf];
  }

 private:
  uint32_t Word(size_t i) const { return words_[first_ + i < kState ? first_ + i : first_ + i - kState]; }

  const mtgp32_params_fast_t* parameters_;
  std::array<uint32_t, kState> words_;
  size_t first_ = 0;  // index of the oldest word
};

class Mtgp32 : public Engine {
 public:
  explicit Mtgp32(const EngineSettings& settings) {
    const size_t count = settings.is_dynamic ? kDynamicLanes : settings.is_legacy ? kLegacyLanes : kLanes;
    const auto seed = static_cast<uint32_t>(settings.seed ^ (settings.seed >> 32));
    for (size_t lane = 0; lane < count; ++lane) {
      lanes_.emplace_back(mtgp32dc_params_fast_11213[lane], static_cast<uint32_t>(seed + lane + 1));
    }
  }
  // A draw is one word here.
  void Next(uint32_t* words, uint64_t results, Draw) override {
    for (uint64_t i = 0; i < results; ++i) {
      words[i] = lanes_[next_ / kTurn].Next();
      if (++next_ == lanes_.size() * kTurn) next_ = 0;
    }
  }

 private:
  std::vector<State> lanes_;
  size_t next_ = 0;  // result
};

}  // namespace

std::unique_ptr<Engine> MakeMtgp32(const EngineSettings& settings) { return std::make_unique<Mtgp32>(settings); }

}  // namespace lockstep::libraries
