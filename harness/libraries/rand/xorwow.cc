// XORWOW: G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003), page 5. A step shifts and
// exclusive-ors five words, which is linear over bits, and a counter is added. Lane i starts i * 2^67 steps after the
// seed's state: there the counter has its first value again, and the words are those of the seed multiplied by a power
// of the step's matrix, which has 160 x 160 bits.
#include <array>
#include <vector>

#include "libraries/rand/engine.h"

namespace lockstep::libraries {

namespace {

constexpr size_t kLanes = 4096;
constexpr int kLog2LaneDistance = 67;
constexpr uint64_t kSeedDistance = 3133713;  // between the lanes' seeds, in CURAND_ORDERING_PSEUDO_SEEDED
constexpr int kWords = 5, kBits = 32;
constexpr uint32_t kCounterStep = 362437;

using Words = std::array<uint32_t, kWords>;

struct State {
  Words words;
  uint32_t counter = 0;

  uint32_t Next() {
    const uint32_t first = words[0] ^ (words[0] >> 2);
    for (size_t i = 0; i + 1 < words.size(); ++i) words[i] = words[i + 1];
    words.back() = (words.back() ^ (words.back() << 4)) ^ (first ^ (first << 1));
    counter += kCounterStep;
    return words.back() + counter;
  }
};

// Row i is bit i's contribution to the product.
class Matrix {
 public:
  static Matrix OneStep() {
    Matrix matrix;
    for (size_t bit = 0; bit < matrix.rows_.size(); ++bit) {
      State state = {};
      state.words[bit / kBits] = uint32_t{1} << (bit % kBits);
      state.Next();
      matrix.rows_[bit] = state.words;
    }
    return matrix;
  }
  Words Times(const Words& words) const {
    Words product = {};
    for (size_t bit = 0; bit < rows_.size(); ++bit) {
      if ((words[bit / kBits] >> (bit % kBits) & 1) == 0) continue;
      for (size_t i = 0; i < product.size(); ++i) product[i] ^= rows_[bit][i];
    }
    return product;
  }
  Matrix Squared() const {
    Matrix square;
    for (size_t bit = 0; bit < rows_.size(); ++bit) square.rows_[bit] = Times(rows_[bit]);
    return square;
  }

 private:
  std::array<Words, size_t{kWords} * kBits> rows_ = {};
};

// [i]: the matrix of 2^i steps.
const std::vector<Matrix>& Powers() {
  static const auto* const powers = [] {
    auto* const made = new std::vector<Matrix>;
    made->push_back(Matrix::OneStep());
    while (made->size() <= kLog2LaneDistance) made->push_back(made->back().Squared());
    return made;
  }();
  return *powers;
}

State Seeded(uint64_t seed) {
  const uint32_t low = 1099087573u * (static_cast<uint32_t>(seed) ^ 0xaad26b49u);
  const uint32_t high = 2591861531u * (static_cast<uint32_t>(seed >> kBits) ^ 0xf7dcefddu);
  // The paper's initial state, combined with the seed.
  return {{123456789u + low, 362436069u ^ low, 521288629u + high, 88675123u ^ high, 5783321u + low},
          6615241u + high + low};
}

void Skip(State& state, uint64_t steps) {
  for (size_t bit = 0; steps >> bit != 0; ++bit) {
    if ((steps >> bit & 1) != 0) state.words = Powers()[bit].Times(state.words);
    if (bit + 1 == 64) break;
  }
  state.counter += kCounterStep * static_cast<uint32_t>(steps);
}

class Xorwow : public Engine {
 public:
  explicit Xorwow(const EngineSettings& settings) : next_(settings.offset % kLanes) {
    State start = Seeded(settings.seed);
    for (size_t i = 0; i < kLanes; ++i) {
      lanes_.push_back(settings.is_seeded ? Seeded(settings.seed + i * kSeedDistance) : start);
      Skip(lanes_.back(), settings.offset / kLanes + (i < next_ ? 1 : 0));
      start.words = Powers()[kLog2LaneDistance].Times(start.words);
    }
  }
  void Next(uint32_t* words, uint64_t results, Draw draw) override { DrawFrom(lanes_, &next_, words, results, draw); }

 private:
  std::vector<State> lanes_;
  size_t next_;
};

}  // namespace

std::unique_ptr<Engine> MakeXorwow(const EngineSettings& settings) { return std::make_unique<Xorwow>(settings); }

}  // namespace lockstep::libraries
