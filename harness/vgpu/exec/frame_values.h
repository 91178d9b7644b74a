// Arguments and results of calls, per lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "vgpu/core/program.h"

namespace lockstep::vgpu {

struct FrameValues {
  uint8_t* rows;             // of the frame
  const uint8_t* constants;  // of the program
  const FunctionInfo* function;
  uint8_t* local = nullptr;   // the frame's local variables for lane 0
  uint32_t local_stride = 0;  // bytes from lane to lane

  // The bytes of one lane's value. An 8-bit register uses a 16-bit row.
  uint8_t* At(const ValuePlace& place, int lane) const {
    if (place.local) return local + static_cast<size_t>(lane) * local_stride + place.offset;
    if (place.row == kNoRow) {
      return rows + function->frame_bytes + static_cast<uint32_t>(lane) * function->area_bytes + place.offset;
    }
    const uint8_t* base = (place.row & kConstantPool) != 0 ? constants : rows;
    return const_cast<uint8_t*>(base) + (place.row & ~kConstantPool) +
           static_cast<uint32_t>(lane) * std::max(place.bytes, 2u);
  }
};

}  // namespace lockstep::vgpu
