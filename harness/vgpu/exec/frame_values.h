// Arguments and results of calls, per lane.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/core/program.h"

namespace lockstep::vgpu {

// ValuePlace::bytes of a predicate, whose row is a mask of lanes.
inline constexpr uint32_t kPredicateBytes = 0;

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

// A lane's k-th argument of a call, as the first bytes of a T; 0 if there is none.
template <typename T>
T ArgumentOf(const FrameValues& frame, const CallSite& site, size_t k, int lane) {
  T value{};
  if (k < site.arguments.size()) {
    std::memcpy(&value, frame.At(site.arguments[k], lane), std::min<size_t>(site.arguments[k].bytes, sizeof value));
  }
  return value;
}

// A call's result for a lane, if the call takes one.
inline void SetResult(const FrameValues& frame, const CallSite& site, int lane, uint64_t value) {
  if (site.returns.empty()) return;
  std::memcpy(frame.At(site.returns[0], lane), &value, std::min<size_t>(site.returns[0].bytes, sizeof value));
}

}  // namespace lockstep::vgpu
