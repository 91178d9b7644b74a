// Binary floating point in integer arithmetic: every format, every rounding mode, one rounding.
//
// Theory of operation. A value is unpacked into sign, exponent and a 128-bit significand, operated on exactly, and
// packed into the destination's format with one rounding. What does not fit the 128 bits is folded into the lowest
// bit, which then only says "a little more": enough, since at least 20 bits lie between it and the bits that any
// format keeps. Used where the host has no instruction for the case: directed rounding, fused operations on 16-bit
// formats, conversions to small formats. Host instructions serve the common cases.
//
// Source: IEEE 754-2019; the formats of PTX ISA 9.0, 5.2.2.
#pragma once

#include <cstdint>

namespace lockstep::vgpu {

enum class Rounding : uint8_t {
  kNearestEven,
  kTowardZero,
  kDown,
  kUp,
  kNearestAway,  // ties away from zero: cvt.rna.tf32
};

struct FloatFormat {
  int bits;           // of the encoding
  int exponent_bits;  // the bias is 2^(exponent_bits-1) - 1
  int fraction_bits;  // stored ones
  int padding_bits;   // below the fraction, zero: tf32 lies in the top of 32 bits
  bool has_infinity;  // e4m3 has none: all ones is NaN, the rest of that exponent are numbers
  uint64_t nan;       // the canonical NaN

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
};

inline constexpr FloatFormat kHalfFormat{16, 5, 10, 0, true, 0x7fff};
inline constexpr FloatFormat kBfloatFormat{16, 8, 7, 0, true, 0x7fff};
inline constexpr FloatFormat kTf32Format{32, 8, 10, 13, true, 0x7fffffff};
inline constexpr FloatFormat kSingleFormat{32, 8, 23, 0, true, 0x7fffffff};
inline constexpr FloatFormat kDoubleFormat{64, 11, 52, 0, true, 0xfff8000000000000};
inline constexpr FloatFormat kE4m3Format{8, 4, 3, 0, false, 0x7f};
inline constexpr FloatFormat kE5m2Format{8, 5, 2, 0, true, 0x7f};

// (-1)^negative * significand * 2^exponent
struct Exact {
  enum class Kind : uint8_t { kFinite, kInfinity, kNan };
  Kind kind = Kind::kFinite;
  bool negative = false;
  int exponent = 0;
  unsigned __int128 significand = 0;

  bool zero() const { return kind == Kind::kFinite && significand == 0; }
};

Exact Unpack(uint64_t bits, const FloatFormat& format);
// satfinite: what is beyond the largest number, infinity too, becomes the largest number.
uint64_t Pack(const Exact& value, const FloatFormat& format, Rounding rounding, bool satfinite = false);

// What .ftz flushes: a value below the least normal number after it has been rounded to the format's precision,
// whatever the exponent; the hardware rounds first and looks at the exponent then. So 2^-126 - 2^-150, which f32 holds
// but for its exponent, flushes in every mode, although subnormal numbers are so coarse that it would round to 2^-126;
// what lies nearer to 2^-126 than that does become 2^-126, where the mode rounds it up.
bool FlushesAfterRounding(Exact value, const FloatFormat& format, Rounding rounding);

// The sign of an exact zero sum depends on the rounding mode.
Exact Add(const Exact& a, const Exact& b, Rounding rounding);
Exact Multiply(const Exact& a, const Exact& b);
Exact Divide(const Exact& a, const Exact& b);
Exact SquareRoot(const Exact& a);
inline Exact MultiplyAdd(const Exact& a, const Exact& b, const Exact& c, Rounding rounding) {
  return Add(Multiply(a, b), c, rounding);
}

Exact FromInteger(uint64_t magnitude, bool negative);

}  // namespace lockstep::vgpu
