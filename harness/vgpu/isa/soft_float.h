// Binary floating point in integer arithmetic: every format and rounding mode, with a single rounding.
//
// Theory of operation. A value is unpacked into sign, exponent and a 128-bit significand, operated on exactly, and
// packed into the destination's format with one rounding. Bits below the 128 are folded into the lowest bit as a sticky
// bit. That is enough, since at least 20 bits separate it from the bits that any format keeps. Used where the host has
// no instruction: directed rounding, flushing after rounding, conversions to small formats. Common cases use host
// instructions.
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
  int bits;           // total size of the encoding
  int exponent_bits;  // the bias is 2^(exponent_bits-1) - 1
  int fraction_bits;  // explicitly stored bits
  int padding_bits;   // zero bits below the fraction: tf32 is in the upper bits of 32
  bool has_infinity;  // e4m3 has none: all ones is NaN, other encodings with that exponent are numbers
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
// satfinite: values beyond the largest number, including infinity, become the largest number.
uint64_t Pack(const Exact& value, const FloatFormat& format, Rounding rounding, bool satfinite = false);

// Whether .ftz flushes the value: if it is below the least normal number after rounding to the format's precision with
// unbounded exponent. That is what the hardware does: it rounds first and then checks the exponent. So 2^-126 - 2^-150,
// which fits f32's precision but not its exponent range, flushes in every mode, although rounding to the coarser
// subnormal spacing would give 2^-126. Values closer to 2^-126 become 2^-126 if the mode rounds them up.
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
