// Classes of instructions and their properties.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

// Instruction class, for counters and the time model. Every static instruction has exactly one.
enum class InsnClass : uint8_t {
  kInteger,
  kIntegerMultiply,  // except by a constant power of two; also division by another constant
  kIntegerDivide,    // except by a constant
  kFloat32,
  kFloat64,
  kFloat16,
  kSpecialFunction,
  kConvert,
  kMove,
  kPredicate,
  kLoad,
  kStore,
  kAtomic,
  kBranch,
  kCall,
  kBarrier,
  kWarpSync,
  kTensor,
  kFence,
  kOther,
};

// Tensor-core work of one warp instruction, for counters and the time model.
struct TensorWork {
  uint32_t instructions = 0;   // tensor-core machine instructions that ptxas generates for it on compute capability 9.0
  uint32_t multiply_adds = 0;  // m * n * k
  uint32_t half_equivalent = 0;  // f16 multiply-adds that take a tensor core the same time
};

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
