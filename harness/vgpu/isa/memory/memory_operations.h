// How atomic operations and reductions compute a memory word's new value.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "vgpu/core/half_format.h"
#include "vgpu/isa/memory/memory_access.h"

namespace lockstep::vgpu {

// The same bits as another type.
template <typename Bits, typename Value>
Value Reread(Bits bits) {
  Value value;
  static_assert(sizeof bits == sizeof value);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// The memory word's new value from its old one and the operands. f32 addition flushes subnormals in global memory but
// not in shared memory; hence the region.
template <typename T>
struct Add {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return static_cast<T>(old + b); }
};
template <typename T, typename Compared>
struct Min {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return static_cast<Compared>(b) < static_cast<Compared>(old) ? b : old; }
};
template <typename T, typename Compared>
struct Max {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return static_cast<Compared>(b) > static_cast<Compared>(old) ? b : old; }
};
struct Increment {
  using Bits = uint32_t;
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  using Bits = uint32_t;
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region) { return old == 0 || old > b ? b : old - 1; }
};
template <typename T>
struct And {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return old & b; }
};
template <typename T>
struct Or {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return old | b; }
};
template <typename T>
struct Xor {
  using Bits = T;
  static T Apply(T old, T b, T, Region) { return old ^ b; }
};
template <typename T>
struct Exchange {
  using Bits = T;
  static T Apply(T, T b, T, Region) { return b; }
};
template <typename T>
struct CompareAndSwap {
  using Bits = T;
  static T Apply(T old, T b, T c, Region) { return old == b ? c : old; }
};

struct AddF32 {
  using Bits = uint32_t;
  static float Flush(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }
  static uint32_t Apply(uint32_t old, uint32_t b, uint32_t, Region region) {
    const float x = Reread<uint32_t, float>(old), y = Reread<uint32_t, float>(b);
    return Reread<float, uint32_t>(region == Region::kGlobal ? Flush(Flush(x) + Flush(y)) : x + y);
  }
};
struct AddF64 {
  using Bits = uint64_t;
  static uint64_t Apply(uint64_t old, uint64_t b, uint64_t, Region) {
    return Reread<double, uint64_t>(Reread<uint64_t, double>(old) + Reread<uint64_t, double>(b));
  }
};
// Halves: subnormals are kept. For min and max, a NaN operand yields the other one.
template <typename Format>
struct AddHalf {
  using Bits = uint16_t;
  static uint16_t Apply(uint16_t old, uint16_t b, uint16_t, Region) {
    // A single rounding: a float is wide enough for the exact sum's rounding information.
    return Format::FromFloat(Format::ToFloat(old) + Format::ToFloat(b));
  }
};
template <typename Format, bool kMax>
struct ExtremeHalf {
  using Bits = uint16_t;
  static uint16_t Apply(uint16_t old, uint16_t b, uint16_t, Region) {
    const float x = Format::ToFloat(old), y = Format::ToFloat(b);
    if (x != x) return y != y ? Format::kNan : b;
    if (y != y) return old;
    if (x == y) return kMax ? old & b : old | b;  // of two zeros the negative one is smaller
    return (x < y) == kMax ? b : old;
  }
};

}  // namespace lockstep::vgpu
