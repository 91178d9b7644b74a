// What follows from an instruction's class.
#pragma once

#include "vgpu/core/insn.h"

namespace lockstep::vgpu {

// It reads registers and writes registers, and does nothing else.
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
