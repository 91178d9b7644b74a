// The order in which the warps of a block take turns.
//
// Hardware promises none. While checkers look on, they therefore begin at another warp and go round by another step in
// each round, so that code that is right in one order alone gives itself away: any two warps come in either order, and
// any warp comes first or last. The order depends on the block and on how many rounds it has had, so it is the same in
// every run and with any number of CPU threads. Memory is slower in such an order, so of a large grid's blocks only the
// first ones and a quarter of the others get it.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

class WarpTurns {
 public:
  explicit WarpTurns(uint32_t warps) : warps_(warps) {}
  WarpTurns(uint32_t warps, uint32_t block, uint32_t round) : warps_(warps) {
    if (block >= kAlways && Mixed(block) % kOneOf != 0) return;
    // Primes beyond the most warps that a block has: a step by one of them comes to all of them.
    constexpr uint32_t kSteps[] = {37, 41, 43, 47, 53, 59, 61, 67};
    const uint32_t random = Mixed(block * 0x9e3779b9 + round + 1);
    at_ = (random & 0xffff) * warps >> 16;
    step_ = kSteps[random >> 29] % warps;
  }

  // Each warp once in `warps` calls.
  uint32_t Next() {
    const uint32_t warp = at_;
    at_ += step_;
    if (at_ >= warps_) at_ -= warps_;
    return warp;
  }

 private:
  static constexpr uint32_t kAlways = 32, kOneOf = 4;

  static uint32_t Mixed(uint32_t x) {
    x = (x ^ x >> 16) * 0x7feb352d;
    x = (x ^ x >> 15) * 0x846ca68b;
    return x ^ x >> 16;
  }

  uint32_t warps_, at_ = 0, step_ = 1;
};

}  // namespace lockstep::vgpu
