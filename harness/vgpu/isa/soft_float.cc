#include "vgpu/isa/soft_float.h"

#include <algorithm>
#include <bit>

namespace lockstep::vgpu {
namespace {

using Wide = unsigned __int128;

Exact MakeNan() { return {.kind = Exact::Kind::kNan}; }
Exact MakeInfinity(bool negative) { return {.kind = Exact::Kind::kInfinity, .negative = negative}; }

int LeadingZeros(Wide x) {
  const auto high = static_cast<uint64_t>(x >> 64);
  return high != 0 ? std::countl_zero(high) : 64 + std::countl_zero(static_cast<uint64_t>(x));
}

// x >> n, with the bits shifted out OR-ed into the lowest bit.
Wide ShiftRightSticky(Wide x, int n) {
  if (n <= 0) return x;
  if (n >= 128) return x != 0;
  return (x >> n) | ((x << (128 - n)) != 0);
}

// Shifts the highest set bit to bit 126, which leaves room for one carry.
void Normalize(Exact& value) {
  const int shift = LeadingZeros(value.significand) - 1;
  if (shift >= 0) {
    value.significand <<= shift;
  } else {
    value.significand = ShiftRightSticky(value.significand, -shift);
  }
  value.exponent -= shift;
}

// Whether the magnitude `kept` rounds up, given the lost bits `lost`; `half` is the weight of one half.
bool RoundsUp(Wide kept, Wide lost, Wide half, bool negative, Rounding rounding) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return lost > half || (lost == half && (kept & 1) != 0);
    case Rounding::kNearestAway:
      return lost >= half;
    case Rounding::kTowardZero:
      return false;
    case Rounding::kDown:
      return negative && lost != 0;
    case Rounding::kUp:
      return !negative && lost != 0;
  }
  return false;
}

uint64_t Largest(const FloatFormat& format) {
  const int width = format.exponent_bits + format.fraction_bits;
  const uint64_t top = format.has_infinity ? (((uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits)
                                           : (uint64_t{1} << width) - 1;  // the code after the largest number
  return (top - 1) << format.padding_bits;
}

}  // namespace

Exact Unpack(uint64_t bits, const FloatFormat& format) {
  bits >>= format.padding_bits;
  const uint64_t fraction_mask = (uint64_t{1} << format.fraction_bits) - 1;
  const uint64_t exponent_mask = (uint64_t{1} << format.exponent_bits) - 1;
  const uint64_t fraction = bits & fraction_mask;
  const uint64_t exponent = (bits >> format.fraction_bits) & exponent_mask;
  const bool negative = (bits >> (format.fraction_bits + format.exponent_bits)) & 1;
  if (exponent == exponent_mask) {
    if (format.has_infinity) return fraction != 0 ? MakeNan() : MakeInfinity(negative);
    if (fraction == fraction_mask) return MakeNan();
  }
  Exact value{.negative = negative};
  value.significand = exponent == 0 ? fraction : fraction | (uint64_t{1} << format.fraction_bits);
  value.exponent = static_cast<int>(std::max<uint64_t>(exponent, 1)) - format.bias() - format.fraction_bits;
  return value;
}

uint64_t Pack(const Exact& value, const FloatFormat& format, Rounding rounding, bool satfinite) {
  if (value.kind == Exact::Kind::kNan) return format.nan;
  const int width = format.exponent_bits + format.fraction_bits;
  const uint64_t sign = static_cast<uint64_t>(value.negative) << (width + format.padding_bits);
  const uint64_t largest = Largest(format);
  const uint64_t infinity = format.has_infinity ? largest + (uint64_t{1} << format.padding_bits) : format.nan;
  if (value.kind == Exact::Kind::kInfinity) return sign | (satfinite ? largest : infinity);
  if (value.significand == 0) return sign;

  // The weight of the result's lowest bit: fraction_bits below the leading one, but not below the subnormal spacing.
  const int leading = 127 - LeadingZeros(value.significand);
  const int lowest = std::max(value.exponent + leading, 1 - format.bias()) - format.fraction_bits;
  const int drop = lowest - value.exponent;
  Wide kept;
  if (drop <= 0) {
    kept = value.significand << -drop;
  } else {
    // One guard and one sticky bit below the kept ones.
    const Wide guarded = drop >= 2 ? ShiftRightSticky(value.significand, drop - 2) : value.significand << 1;
    kept = guarded >> 2;
    kept += RoundsUp(kept, guarded & 3, 2, value.negative, rounding);
  }
  // A significand that reaches the hidden bit increments the exponent field by itself, as does a carry.
  const int field = lowest + format.fraction_bits + format.bias() - 1;
  const uint64_t encoded =
      (static_cast<uint64_t>(kept) + (static_cast<uint64_t>(std::min(field, 2048)) << format.fraction_bits))
      << format.padding_bits;
  if (encoded <= largest && field < 2048) return sign | encoded;
  const bool to_largest = satfinite || rounding == Rounding::kTowardZero ||
                          (rounding == Rounding::kDown && !value.negative) ||
                          (rounding == Rounding::kUp && value.negative);
  return sign | (to_largest ? largest : infinity);
}

bool FlushesAfterRounding(Exact value, const FloatFormat& format, Rounding rounding) {
  if (value.kind != Exact::Kind::kFinite || value.significand == 0) return false;
  const int leading = value.exponent + 127 - LeadingZeros(value.significand);
  const int least = 1 - format.bias();
  if (leading != least - 1) return leading < least;
  // Values just below the least normal number may round up to it: test as if nothing were subnormal.
  constexpr int kUp = 2;
  value.exponent += kUp;
  const uint64_t least_up = uint64_t{1 + kUp} << (format.fraction_bits + format.padding_bits);
  const uint64_t sign = uint64_t{1} << (format.bits - 1);
  return (Pack(value, format, rounding) & (sign - 1)) < least_up;
}

Exact Add(const Exact& a, const Exact& b, Rounding rounding) {
  if (a.kind == Exact::Kind::kNan || b.kind == Exact::Kind::kNan) return MakeNan();
  if (a.kind == Exact::Kind::kInfinity) {
    return b.kind == Exact::Kind::kInfinity && a.negative != b.negative ? MakeNan() : a;
  }
  if (b.kind == Exact::Kind::kInfinity) return b;
  if (a.zero() && b.zero()) {
    return {.negative = a.negative == b.negative ? a.negative : rounding == Rounding::kDown};
  }
  if (a.zero()) return b;
  if (b.zero()) return a;

  Exact large = a;
  Exact small = b;
  Normalize(large);
  Normalize(small);
  if (large.exponent < small.exponent || (large.exponent == small.exponent && large.significand < small.significand)) {
    std::swap(large, small);
  }
  const Wide aligned = ShiftRightSticky(small.significand, large.exponent - small.exponent);
  if (large.negative == small.negative) {
    large.significand += aligned;
  } else {
    large.significand -= aligned;
    if (large.significand == 0) return {.negative = rounding == Rounding::kDown};
  }
  return large;
}

Exact Multiply(const Exact& a, const Exact& b) {
  if (a.kind == Exact::Kind::kNan || b.kind == Exact::Kind::kNan) return MakeNan();
  const bool negative = a.negative != b.negative;
  if (a.kind == Exact::Kind::kInfinity || b.kind == Exact::Kind::kInfinity) {
    return a.zero() || b.zero() ? MakeNan() : MakeInfinity(negative);
  }
  // Unpacked significands have at most 64 bits, so the product is exact.
  return {.negative = negative, .exponent = a.exponent + b.exponent, .significand = a.significand * b.significand};
}

Exact Divide(const Exact& a, const Exact& b) {
  if (a.kind == Exact::Kind::kNan || b.kind == Exact::Kind::kNan) return MakeNan();
  const bool negative = a.negative != b.negative;
  if (a.kind == Exact::Kind::kInfinity) return b.kind == Exact::Kind::kInfinity ? MakeNan() : MakeInfinity(negative);
  if (b.kind == Exact::Kind::kInfinity) return {.negative = negative};
  if (b.zero()) return a.zero() ? MakeNan() : MakeInfinity(negative);
  if (a.zero()) return {.negative = negative};
  Exact numerator = a;
  Normalize(numerator);  // 127 bits by at most 64: at least 63 bits of quotient
  const Wide quotient = numerator.significand / b.significand;
  const bool inexact = quotient * b.significand != numerator.significand;
  // One more bit below, for the remainder.
  return {
      .negative = negative, .exponent = numerator.exponent - b.exponent - 1, .significand = quotient << 1 | inexact};
}

Exact SquareRoot(const Exact& a) {
  if (a.kind == Exact::Kind::kNan || a.zero()) return a;
  if (a.negative) return MakeNan();
  if (a.kind == Exact::Kind::kInfinity) return a;
  Exact value = a;
  Normalize(value);
  if ((value.exponent & 1) != 0) {  // 2^exponent must have a root
    value.significand = ShiftRightSticky(value.significand, 1);
    ++value.exponent;
  }
  Wide root = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const Wide candidate = root | (Wide{1} << bit);
    if (candidate * candidate <= value.significand) root = candidate;
  }
  const bool inexact = root * root != value.significand;
  return {.exponent = value.exponent / 2 - 1, .significand = root << 1 | inexact};
}

Exact FromInteger(uint64_t magnitude, bool negative) { return {.negative = negative, .significand = magnitude}; }

}  // namespace lockstep::vgpu
