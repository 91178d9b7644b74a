// The generator's random numbers: SplitMix64, the same on every machine. The seed is hashed first: the state advances
// by a constant, so neighbouring seeds would otherwise give shifted copies of one sequence.
#pragma once

#include <cstdint>

namespace lockstep::cosim {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(Mix(seed + 0x1234567)) {}

  uint64_t Bits() { return Mix(state_ += 0x9e3779b97f4a7c15); }
  // 0 … n-1.
  int Pick(int n) { return static_cast<int>(Bits() % static_cast<uint64_t>(n)); }
  bool OneIn(int n) { return Pick(n) == 0; }

 private:
  static uint64_t Mix(uint64_t z) {
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
  }

  uint64_t state_;
};

}  // namespace lockstep::cosim
