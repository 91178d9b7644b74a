// Jumps in MT19937's sequence: H. Haramoto, M. Matsumoto, T. Nishimura, F. Panneton, P. L'Ecuyer, "Efficient Jump Ahead
// for F2-Linear Random Number Generators", INFORMS Journal on Computing 20 (2008).
//
// Theory of operation. Each bit of the sequence of words follows one linear recurrence over bits, of the generator's
// characteristic polynomial p. So the words d steps ahead are sums (exclusive or) of the words from here on, and which
// of them are the coefficients of x^d modulo p, a polynomial of 19937 coefficients at most. It is squared once for each
// doubling of d: the lanes of cuRAND's generator are 2^2048 steps apart, which takes 2048 squarings, once in a process.
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

// The word that follows 624 words: of the first two of them and the one 397 after the first.
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
