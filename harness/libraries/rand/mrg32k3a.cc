// MRG32k3a: P. L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number
// Generators", Operations Research 47 (1999). Two recurrences of order 3 with moduli near 2^32; a word is the
// difference of their values, from 1 to the first modulus. Lane i starts i * 2^76 steps after the seed's state.
#include <array>
#include <cstddef>
#include <vector>

#include "libraries/rand/engine.h"

namespace lockstep::libraries {

namespace {

constexpr size_t kLanes = 81920, kLegacyLanes = 4096, kDynamicLanes = 2048 * kMultiprocessors;
constexpr int kLog2LaneDistance = 76;
constexpr uint64_t kFirstModulus = 4294967087, kSecondModulus = 4294944443;
// The multipliers of the last value, of the one before it and of the one before that; modulo the modulus, because the
// paper subtracts some products.
constexpr std::array<uint64_t, 3> kFirst = {0, 1403580, kFirstModulus - 810728};
constexpr std::array<uint64_t, 3> kSecond = {527612, 0, kSecondModulus - 1370589};

using Wide = unsigned __int128;
using Values = std::array<uint64_t, 3>;  // oldest first
using Matrix = std::array<Values, 3>;

struct Recurrence {
  uint64_t modulus;
  std::array<uint64_t, 3> multipliers;

  uint64_t Step(Values& values) const {
    Wide sum = 0;
    for (size_t i = 0; i < values.size(); ++i) sum += Wide{multipliers[i]} * values[values.size() - 1 - i];
    const auto next = static_cast<uint64_t>(sum % modulus);
    values = {values[1], values[2], next};
    return next;
  }
  Matrix OneStep() const { return {{{0, 1, 0}, {0, 0, 1}, {multipliers[2], multipliers[1], multipliers[0]}}}; }
  void Apply(const Matrix& matrix, Values& values) const {
    Values product = {};
    for (size_t row = 0; row < product.size(); ++row) {
      Wide sum = 0;
      for (size_t i = 0; i < values.size(); ++i) sum += Wide{matrix[row][i]} * values[i];
      product[row] = static_cast<uint64_t>(sum % modulus);
    }
    values = product;
  }
  Matrix Product(const Matrix& a, const Matrix& b) const {
    Matrix product = {};
    for (size_t row = 0; row < product.size(); ++row) {
      for (size_t column = 0; column < product.size(); ++column) {
        Wide sum = 0;
        for (size_t i = 0; i < product.size(); ++i) sum += Wide{a[row][i]} * b[i][column];
        product[row][column] = static_cast<uint64_t>(sum % modulus);
      }
    }
    return product;
  }
  // The matrix of 2^log2_steps steps.
  Matrix Doubled(int log2_steps) const {
    Matrix matrix = OneStep();
    for (int i = 0; i < log2_steps; ++i) matrix = Product(matrix, matrix);
    return matrix;
  }
  Matrix Steps(uint64_t steps) const {
    Matrix result = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}, power = OneStep();
    for (; steps != 0; steps >>= 1) {
      if ((steps & 1) != 0) result = Product(result, power);
      power = Product(power, power);
    }
    return result;
  }
};

constexpr Recurrence kRecurrences[] = {{kFirstModulus, kFirst}, {kSecondModulus, kSecond}};

struct State {
  Values values[2];

  uint32_t Next() {
    const uint64_t first = kRecurrences[0].Step(values[0]), second = kRecurrences[1].Step(values[1]);
    return static_cast<uint32_t>(first > second ? first - second : first - second + kFirstModulus);
  }
};

State Seeded(uint64_t seed) {
  constexpr uint64_t kStart = 12345;  // the paper's
  State state = {{{kStart, kStart, kStart}, {kStart, kStart, kStart}}};
  if (seed == 0) return state;
  const uint64_t low = static_cast<uint32_t>(seed) ^ 0x55555555u,
                 high = static_cast<uint32_t>(seed >> 32) ^ 0xaaaaaaaau;
  for (size_t i = 0; i < 3; ++i) {
    const bool is_middle = i == 1;
    state.values[0][i] = state.values[0][i] * (is_middle ? high : low) % kFirstModulus;
    state.values[1][i] = state.values[1][i] * (is_middle ? low : high) % kSecondModulus;
  }
  return state;
}

class Mrg32k3a : public Engine {
 public:
  explicit Mrg32k3a(const EngineSettings& settings) {
    const size_t count = settings.is_dynamic ? kDynamicLanes : settings.is_legacy ? kLegacyLanes : kLanes;
    next_ = settings.offset % count;
    State start = Seeded(settings.seed);
    Matrix jump[2], skip[2];
    for (size_t i = 0; i < 2; ++i) {
      jump[i] = kRecurrences[i].Doubled(kLog2LaneDistance);
      skip[i] = kRecurrences[i].Steps(settings.offset / count);
    }
    for (size_t lane = 0; lane < count; ++lane) {
      lanes_.push_back(start);
      for (size_t i = 0; i < 2; ++i) {
        kRecurrences[i].Apply(skip[i], lanes_.back().values[i]);
        kRecurrences[i].Apply(jump[i], start.values[i]);
      }
      if (lane < next_) lanes_.back().Next();
    }
  }
  void Next(uint32_t* words, uint64_t results, Draw draw) override { DrawFrom(lanes_, &next_, words, results, draw); }

 private:
  std::vector<State> lanes_;
  size_t next_ = 0;
};

}  // namespace

std::unique_ptr<Engine> MakeMrg32k3a(const EngineSettings& settings) { return std::make_unique<Mrg32k3a>(settings); }

}  // namespace lockstep::libraries
