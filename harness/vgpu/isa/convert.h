// Conversion of one element: the parameters that cvt's selector determines, and the two implementations.
#pragma once

#include <cstdint>

#include "vgpu/core/insn.h"
#include "vgpu/isa/soft_float.h"

namespace lockstep::vgpu {

// Element types of conversions; packed types are pairs of these.
enum class Number : uint8_t {
  kNone,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kBF16,
  kTF32,
  kF32,
  kF64,
  kE4M3,
  kE5M2,
};

constexpr bool IsInteger(Number number) { return number >= Number::kU8 && number <= Number::kS64; }
constexpr bool IsSigned(Number number) { return number >= Number::kS8 && number <= Number::kS64; }
constexpr bool IsFloat(Number number) { return number >= Number::kF16; }

constexpr int BytesOf(Number number) {
  switch (number) {
    case Number::kNone:
      return 0;
    case Number::kU8:
    case Number::kS8:
    case Number::kE4M3:
    case Number::kE5M2:
      return 1;
    case Number::kU16:
    case Number::kS16:
    case Number::kF16:
    case Number::kBF16:
      return 2;
    case Number::kU32:
    case Number::kS32:
    case Number::kTF32:
    case Number::kF32:
      return 4;
    case Number::kU64:
    case Number::kS64:
    case Number::kF64:
      return 8;
  }
  return 0;
}

struct Conversion {
  Number to = Number::kNone;
  Number from = Number::kNone;
  Rounding rounding = Rounding::kNearestEven;
  bool to_integral = false;  // float to float: round to an integral value
  bool ftz = false, sat = false, relu = false, satfinite = false;
  uint8_t to_bytes = 0, from_bytes = 0;  // element sizes of the registers, which may be wider than the type

  // Stored in Insn::extra.
  uint64_t Encode() const;
  static Conversion Decode(uint64_t extra);
};

// Converts any element, in integer arithmetic. An integer result is extended to 64 bits.
uint64_t ConvertElement(const Conversion& conversion, uint64_t bits);

// A handler that uses host instructions, null if there is none. In isa/convert_fast.cc.
Handler FindFastConversion(const Conversion& conversion);

// The integer that NaN converts to: 0, unless a 64-bit type is involved.
constexpr uint64_t NanAsInteger(Number to, Number from) {
  const bool wide = from == Number::kF64 || BytesOf(to) == 8;
  return wide ? uint64_t{1} << (8 * BytesOf(to) - 1) : 0;
}

}  // namespace lockstep::vgpu
