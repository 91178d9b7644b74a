// The shape of a warp access's addresses. Computed once per access, so that checkers need not inspect 32 addresses
// each.
#pragma once

#include <cstdint>

#include "vgpu/core/lane_mask.h"
#include "vgpu/memory/coalescing.h"

namespace lockstep::vgpu {

enum class AccessForm : uint8_t {
  kScattered,  // any addresses
  kStrided,    // lane l's address is base + l * stride, stride not 0: all addresses differ
  kUnit,       // kStrided with stride = bytes per lane; or a single lane
  kHalves,  // a full warp; each half-warp's lanes are consecutive or, for a load, all at one address. The halves of a
            // store do not overlap.
};

// mask must not be 0. shares: lanes may use the same address without harm (a load).
inline AccessForm FormOf(const uint64_t address[kWarpSize], LaneMask mask, uint64_t bytes, bool shares) {
  const AccessShape shape = ShapeOf(address, mask);
  if (shape.affine) {
    if ((mask & (mask - 1)) == 0 || shape.stride == static_cast<int64_t>(bytes)) return AccessForm::kUnit;
    if (shape.stride != 0) return AccessForm::kStrided;
  }
  if (mask != kFullMask) return AccessForm::kScattered;
  constexpr int kHalf = kWarpSize / 2;
  for (const uint64_t* half : {address, address + kHalf}) {
    const uint64_t stride = half[1] - half[0];
    if (stride != bytes && (stride != 0 || !shares)) return AccessForm::kScattered;
    uint64_t difference = 0;
    for (uint64_t lane = 0; lane < kHalf; ++lane) difference |= half[lane] ^ (half[0] + lane * stride);
    if (difference != 0) return AccessForm::kScattered;
  }
  const uint64_t span = bytes * kHalf;
  const bool apart = address[0] - address[kHalf] >= span && address[kHalf] - address[0] >= span;
  return apart || shares ? AccessForm::kHalves : AccessForm::kScattered;
}

}  // namespace lockstep::vgpu
