// A set of a warp's lanes, a bit each.
#pragma once

#include <bit>  // for what is done with masks
#include <cstdint>

namespace lockstep::vgpu {

inline constexpr int kWarpSize = 32;
using LaneMask = uint32_t;
inline constexpr LaneMask kFullMask = 0xffffffffu;

// The lanes of a mask, for a loop: for (const int lane : EachLane(mask)).
class EachLane {
 public:
  struct Iterator {
    LaneMask left;
    int operator*() const { return __builtin_ctz(left); }  // C++17: handed out, and pasted by from_handout's attacks
    void operator++() { left &= left - 1; }
    bool operator!=(const Iterator& other) const { return left != other.left; }
  };

  explicit EachLane(LaneMask mask) : mask_(mask) {}
  Iterator begin() const { return {mask_}; }
  Iterator end() const { return {0}; }

 private:
  LaneMask mask_;
};

}  // namespace lockstep::vgpu
