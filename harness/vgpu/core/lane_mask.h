// A set of a warp's lanes, a bit each.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

inline constexpr int kWarpSize = 32;
using LaneMask = uint32_t;
inline constexpr LaneMask kFullMask = 0xffffffffu;

}  // namespace lockstep::vgpu
