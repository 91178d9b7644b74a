// What cuTensorMapEncodeTiled writes and cp.async.bulk.tensor reads: a description of a tensor in global memory and of
// the tile that is copied. CUDA calls its 128 bytes opaque, so the layout is free.
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
  uint32_t last[kMostDimensions] = {};               // elements, less one
  uint16_t box[kMostDimensions] = {1, 1, 1, 1, 1};   // of the tensor that a tile covers
  uint8_t steps[kMostDimensions] = {1, 1, 1, 1, 1};  // from one element of the tile to the next
  uint8_t dimensions = 0;
  uint8_t type = 0;           // ptx::Type of an element
  uint8_t swizzle_bytes = 0;  // 0, 32, 64 or 128
  bool is_tf32 = false;       // what is loaded loses the low 13 bits
  bool fills_nan = false;     // outside of the tensor are NaNs
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
