// Jumps in MT19937's sequence: H. Haramoto, M. Matsumoto, T. Nishimura, F. Panneton, P. L'Ecuyer, "Efficient Jump Ahead
// for F2-Linear Random Number Generators", INFORMS Journal on Computing 20 (2008).
//
// Theory of operation. Each bit position of the sequence follows the same linear recurrence, given by the generator's
// characteristic polynomial p. So a word d steps ahead is the sum (exclusive or) of those words from here on whose
// coefficients in x^d modulo p are 1; that polynomial has at most 19937 coefficients. Squaring it doubles d: the lanes
// of cuRAND's generator are 2^2048 steps apart, which takes 2048 squarings, once per process.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace lockstep::libraries {

constexpr size_t kMersenneWords = 624;
// Only the highest bit of the first word matters.
using MersenneState = std::array<uint32_t, kMersenneWords>;

constexpr size_t kMersenneMiddle = 397;
constexpr uint32_t kMersenneTwist = 0x9908b0df;

// The word after 624 words, computed from the first, the second and the one 397 after the first.
inline uint32_t NextMersenneWord(uint32_t first, uint32_t second, uint32_t middle) {
  constexpr uint32_t kHigh = 0x80000000;
  const uint32_t joined = (first & kHigh) | (second & ~kHigh);
  return middle ^ (joined >> 1) ^ ((joined & 1) != 0 ? kMersenneTwist : 0);
}

class MersenneJump {
 public:
  MersenneJump();
  // The state one lane further on: 2^2048 steps.
  MersenneState NextLane(const MersenneState& state);

 private:
  std::vector<uint32_t> words_, sums_;
};

}  // namespace lockstep::libraries
