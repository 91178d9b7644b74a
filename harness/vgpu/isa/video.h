// What the video instructions share: comparisons.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/core/opcode_table.h"

namespace lockstep::vgpu {

enum class VideoComparison : uint8_t { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

template <typename T>
bool Holds(VideoComparison comparison, T a, T b) {
  switch (comparison) {
    case VideoComparison::kEqual:
      return a == b;
    case VideoComparison::kNotEqual:
      return a != b;
    case VideoComparison::kLess:
      return a < b;
    case VideoComparison::kLessOrEqual:
      return a <= b;
    case VideoComparison::kGreater:
      return a > b;
    case VideoComparison::kGreaterOrEqual:
      return a >= b;
  }
  return false;
}

inline bool TakeComparison(Modifiers& modifiers, VideoComparison* comparison) {
  constexpr const char* kWords[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (int k = 0; k < 6; ++k) {
    if (!modifiers.Take(kWords[k])) continue;
    *comparison = static_cast<VideoComparison>(k);
    return true;
  }
  return false;
}

}  // namespace lockstep::vgpu
