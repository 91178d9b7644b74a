// Written by cuTensorMapEncodeTiled and read by cp.async.bulk.tensor: a tensor in global memory and the tile to copy.
// CUDA calls its 128 bytes opaque, so the layout is our choice.
#pragma once

#include <cstdint>

#include "vgpu/ptx/module.h"

namespace lockstep::vgpu {

struct TensorMap {
  static constexpr uint64_t kMagic = 0x70614d726f736e54;  // "TnsorMap"
  static constexpr uint32_t kMostDimensions = 5;

  uint64_t magic = 0;
  uint64_t address = 0;
  uint64_t strides[kMostDimensions - 1] = {};        // bytes, from the second dimension on
  uint32_t last[kMostDimensions] = {};               // sizes in elements, minus 1
  uint16_t box[kMostDimensions] = {1, 1, 1, 1, 1};   // elements covered by a tile
  uint8_t steps[kMostDimensions] = {1, 1, 1, 1, 1};  // distance between elements of the tile
  uint8_t dimensions = 0;
  uint8_t type = 0;           // ptx::Type of an element
  uint8_t swizzle_bytes = 0;  // 0, 32, 64 or 128
  bool is_tf32 = false;       // loaded values lose the low 13 bits
  bool fills_nan = false;     // elements outside the tensor are NaNs
  bool is_supported = true;   // false: im2col, or an interleaved layout

  bool valid() const { return magic == kMagic && dimensions >= 1 && dimensions <= kMostDimensions; }
  ptx::Type element() const { return static_cast<ptx::Type>(type); }
  // Elements of the tile along a dimension.
  uint32_t Extent(uint32_t dimension) const {
    return (uint32_t{box[dimension]} + steps[dimension] - 1) / steps[dimension];
  }
};

inline constexpr uint32_t kTensorMapBytes = 128;
static_assert(sizeof(TensorMap) <= kTensorMapBytes);

}  // namespace lockstep::vgpu
