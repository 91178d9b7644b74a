// Properties of instruction classes.
#pragma once

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// Reads and writes registers, with no other effect.
inline bool IsPure(InsnClass insn_class) {
  switch (insn_class) {
    case InsnClass::kInteger:
    case InsnClass::kIntegerMultiply:
    case InsnClass::kIntegerDivide:
    case InsnClass::kFloat32:
    case InsnClass::kFloat64:
    case InsnClass::kFloat16:
    case InsnClass::kSpecialFunction:
    case InsnClass::kConvert:
    case InsnClass::kMove:
    case InsnClass::kPredicate:
      return true;
    default:
      return false;
  }
}

}  // namespace lockstep::vgpu
