// The order in which the warps of a block take turns.
//
// Hardware guarantees no order. With checkers, each round starts at a different warp and uses a different step, so that
// code that works in only one order fails: any two warps run in either order, and any warp may be first or last. The
// order depends only on the block, its round, and which of many orders the launch has (other_orders.cc), so it is the
// same in every run. It makes memory accesses slower, so only the first blocks and a quarter of the others use it.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

class WarpSchedule {
 public:
  explicit WarpSchedule(uint32_t warps) : warps_(warps) {}
  // order: the number of one of many such orders.
  WarpSchedule(uint32_t warps, uint32_t block, uint32_t round, uint32_t order = 0) : warps_(warps) {
    if (block >= kAlways && Mixed(block) % kOneOf != 0) return;
    // Primes larger than the maximum number of warps in a block: stepping by one of them visits all warps.
    constexpr uint32_t kSteps[] = {37, 41, 43, 47, 53, 59, 61, 67};
    const uint32_t random = Mixed(block * 0x9e3779b9 + round + 1 + order * 0x85ebca6b);
    at_ = (random & 0xffff) * warps >> 16;
    step_ = kSteps[random >> 29] % warps;
  }

  // Returns each warp once in `warps` calls.
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
