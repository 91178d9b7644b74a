// The common part of video instructions: signedness of operands, comparisons.
#pragma once

#include <cstdint>

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

// Takes the types of d, a and b, for a comparison only of a and b, and notes which are signed. False: other types.
template <typename Form>
bool TakeSigns(Modifiers& modifiers, bool compares, Form* form) {
  if (modifiers.type_count() != (compares ? 2 : 3)) return false;
  bool is_signed[3] = {};
  for (int k = 0; k < modifiers.type_count(); ++k) {
    const ptx::Type type = modifiers.type(k);
    if (type != ptx::Type::kU32 && type != ptx::Type::kS32) return false;
    is_signed[k] = type == ptx::Type::kS32;
  }
  form->d_signed = !compares && is_signed[0];
  form->a_signed = is_signed[compares ? 0 : 1];
  form->b_signed = is_signed[compares ? 1 : 2];
  return true;
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
