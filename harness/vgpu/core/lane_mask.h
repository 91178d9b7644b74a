// A set of a warp's lanes, a bit each.
#pragma once

#include <bit>
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
    int operator*() const { return std::countr_zero(left); }
    void operator++() { left &= left - 1; }
    bool operator==(const Iterator&) const = default;
  };

  explicit EachLane(LaneMask mask) : mask_(mask) {}
  Iterator begin() const { return {mask_}; }
  Iterator end() const { return {0}; }

 private:
  LaneMask mask_;
};

}  // namespace lockstep::vgpu
