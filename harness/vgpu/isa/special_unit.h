// The special function unit of a Hopper GPU, bit for bit: MUFU.RCP, .RSQ, .SQRT, .EX2, .LG2, .SIN, .COS, .TANH, .RCP64H
// and .RSQ64H. isa_special_unit_test compares sampled results with an H100's; docs/records/special-functions.md has the
// comparison over all 2^32 operands.
//
// Theory of operation. A function's domain is a binade or a quarter turn, cut into segments. The upper bits of the
// operand choose one, the 17 bits x below them interpolate:
//
//   result = C0 + C1 x + C2 S,   S = x^2 / 2^19, where the square leaves out all products of two bits below 2^19
//
// in fixed point, and what doesn't fit in the result is cut off. So everything is integer arithmetic on a table of 627
// rows. Found from an H100's results: in each segment only one row gives them, for all operands, and only with this
// square. M. Oberman and S. Siu, "A high-performance area-efficient multifunction interpolator", ARITH 2005, describe
// the same structure.
//
// A function is a class with three parts: Split finds an operand's segment and x, kTable has the rows, Join makes the
// result. Evaluate runs them over a row of lanes, each part in a loop of its own. Split and Join vectorise by
// themselves. With AVX-512 the look-up permutes a column held in registers; a gather would be slower (with Intel's
// microcode of 2023, slower than one load per lane).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "vgpu/core/lanes.h"

namespace lockstep::vgpu::special_unit {

struct Coefficients {
  int32_t c0, c1, c2;
};

// A table's rows by column, padded with zeros. If C1 and C2 fit together, they share a word: C2 is in the lower 15
// bits.
struct Columns {
  static constexpr int kMost = 128;
  template <size_t kRows>
  constexpr explicit Columns(const Coefficients (&rows)[kRows]) : count(kRows) {
    static_assert(kRows <= kMost);
    for (const Coefficients& row : rows) is_packed &= row.c1 >> 16 == row.c1 >> 31 && row.c2 >> 14 == row.c2 >> 31;
    for (size_t k = 0; k < kRows; ++k) {
      column[0][k] = rows[k].c0;
      column[1][k] = is_packed ? rows[k].c1 * (1 << 15) | (rows[k].c2 & 0x7fff) : rows[k].c1;
      column[2][k] = rows[k].c2;
    }
  }
  alignas(64) int32_t column[3][kMost] = {};
  int count;
  bool is_packed = true;
};

struct Table {
  const Columns& columns;
  int c0_shift;   // the rows have only the bits of C0 that the hardware stores;
  int32_t below;  // below them comes the same constant in all segments
};

namespace rows {
#include "vgpu/isa/special_unit_tables.inc"
}  // namespace rows
template <const auto& kRows>
inline constexpr Columns kColumns{kRows};

struct Place {
  uint32_t segment, x;
};

// x^2 / 2^19 without the products of two bits below 2^19: all products of the upper 7 bits are kept, and for an upper
// bit i those with the lower 10 bits down to bit 18 - i. So the last two bits contribute nothing. Computed in 16 bits,
// of which a vector holds twice as many. Words: uint16_t, or a vector of them, because compilers would shift in 32
// bits.
template <typename Words>
constexpr Words TruncatedSquare(Words x_quarter) {
  const Words none{}, upper = x_quarter >> 8, lower = x_quarter & 0xff;
  Words sum = 2 * upper * upper;
  for (int i = 0; i < 7; ++i) {
    const Words bit = x_quarter & (none + static_cast<uint16_t>(256 << i)), row = lower >> (6 - i);
    sum += bit != none ? row : none;
  }
  return sum;
}

// C0 + C1 x + C2 S without its last kCut bits; c0_shift is from 4 to kCut, or kCut is 0. If kCut is not 0, 32 bits
// suffice: sixteenths of C1's product are added, and everything below is summed separately.
template <int kCut>
constexpr auto Interpolate(const Table& table, int32_t c0, int32_t c1, int32_t c2, uint32_t x, uint32_t square) {
  const auto signed_x = static_cast<int32_t>(x), signed_square = static_cast<int32_t>(square);
  if constexpr (kCut != 0) {
    const int below_c0 = kCut - table.c0_shift;
    const int32_t ends = c1 * (signed_x & 15) + c2 * signed_square + table.below;
    const int32_t low = ((c0 & ((1 << below_c0) - 1)) << (table.c0_shift - 4)) + c1 * (signed_x >> 4) + (ends >> 4);
    return (c0 >> below_c0) + (low >> (kCut - 4));
  } else {
    return (int64_t{c0} << table.c0_shift) + table.below + int64_t{c1} * signed_x + int64_t{c2} * signed_square;
  }
}

// to[k] = column[row[k]]; kRows: the column's length, a multiple of 64.
template <int kRows, int kCount>
[[gnu::always_inline]] inline void LookUp(const int32_t* column, const uint32_t* row, int32_t* to) {
#ifdef LOCKSTEP_AVX512
  if constexpr (kCount % 16 == 0) {
    const auto in_32 = [&](__m512i at, int first) {
      return _mm512_permutex2var_epi32(_mm512_load_si512(column + first), at, _mm512_load_si512(column + first + 16));
    };
    for (int k = 0; k < kCount; k += 16) {
      const __m512i at = _mm512_loadu_si512(row + k);
      const __mmask16 odd = _mm512_test_epi32_mask(at, _mm512_set1_epi32(32));
      __m512i found = _mm512_mask_blend_epi32(odd, in_32(at, 0), in_32(at, 32));
      if constexpr (kRows > 64) {
        const __m512i above = _mm512_mask_blend_epi32(odd, in_32(at, 64), in_32(at, 96));
        found = _mm512_mask_blend_epi32(_mm512_test_epi32_mask(at, _mm512_set1_epi32(64)), found, above);
      }
      _mm512_storeu_si512(to + k, found);
    }
    return;
  }
#endif
  for (int k = 0; k < kCount; ++k) {
    uint32_t place = row[k];
    asm("" : "+r"(place));  // prevents a gather
    to[k] = column[place];
  }
}

// to[k] = Function of from[k]; both are encodings, and may be the same row.
template <typename Function, int kCount>
inline void Evaluate(const uint32_t* from, uint32_t* to) {
  constexpr Table kTable = Function::kTable;
  uint32_t segment[kCount], x[kCount];
  uint16_t x_quarter[kCount], square[kCount];
  int32_t c[3][kCount];
  for (int k = 0; k < kCount; ++k) {
    const Place place = Function::Split(from[k]);
    segment[k] = place.segment;
    x[k] = place.x;
    x_quarter[k] = static_cast<uint16_t>(place.x >> 2);
  }
  if constexpr (kCount % kWarpSize == 0) {
    using Words [[gnu::vector_size(2 * kWarpSize)]] = uint16_t;
    for (int k = 0; k < kCount; k += kWarpSize) {
      Words words;
      std::memcpy(&words, x_quarter + k, sizeof words);
      words = TruncatedSquare(words);
      std::memcpy(square + k, &words, sizeof words);
    }
  } else {
    for (int k = 0; k < kCount; ++k) square[k] = TruncatedSquare(x_quarter[k]);
  }
  constexpr bool kPacked = kTable.columns.is_packed;
  for (int k = 0; k < (kPacked ? 2 : 3); ++k) {
    LookUp<kTable.columns.count, kCount>(kTable.columns.column[k], segment, c[k]);
  }
  for (int k = 0; k < kCount && kPacked; ++k) {
    c[2][k] = static_cast<int32_t>(static_cast<uint32_t>(c[1][k]) << 17) >> 17;
    c[1][k] >>= 15;
  }
  for (int k = 0; k < kCount; ++k) {
    to[k] = Function::Join(from[k], Interpolate<Function::kCut>(kTable, c[0][k], c[1][k], c[2][k], x[k], square[k]));
  }
}

constexpr uint32_t kNanBits = 0x7fffffff, kInfinityBits = 0x7f800000, kSignBit = 0x80000000, kOneBits = 0x3f800000;

// magnitude * 2^-kScale, with all but 24 bits cut off. The magnitude has at most 53 bits.
template <int kScale>
inline uint32_t ToSingle(int64_t magnitude) {
  const uint64_t exact = std::bit_cast<uint64_t>(static_cast<double>(magnitude));
  const auto cut = std::bit_cast<double>(exact & ~((uint64_t{1} << 29) - 1));
  constexpr double kUnit = 1.0 / static_cast<double>(int64_t{1} << kScale);
  return std::bit_cast<uint32_t>(static_cast<float>(cut * kUnit));
}

// Functions of f32. Subnormal operands and results count as zero, except in Tangent.

struct Reciprocal {
  static constexpr Table kTable = {kColumns<rows::kReciprocal>, 14, 4046};  // in units of 2^-40
  static constexpr int kCut = 16;
  static Place Split(uint32_t a) { return {(a & 0x7fffff) >> 16, (a & 0xffff) << 1}; }
  static uint32_t Join(uint32_t a, int32_t value) {
    const uint32_t exponent = (a >> 23) & 0xff;
    const auto normal = static_cast<int32_t>(static_cast<uint32_t>(value) + 0x3f000000u + ((127u - exponent) << 23));
    uint32_t result = normal < 0x00800000 ? 0 : static_cast<uint32_t>(normal);
    result = (exponent == 0 ? kInfinityBits : result) | (a & kSignBit);
    return (a & ~kSignBit) > kInfinityBits ? kNanBits : result;
  }
};

// Both roots take the exponent's parity into the segment: m is in [1, 4).
inline Place SplitForRoot(uint32_t a) {
  const uint32_t odd = ~(a >> 23) & 1u;
  return {odd << 6 | (a & 0x7fffff) >> 17, a & 0x1ffff};
}
// Half the unbiased exponent, shifted to the exponent field.
inline uint32_t HalfExponent(uint32_t a) {
  const auto exponent = static_cast<int32_t>((a >> 23) & 0xff);
  return static_cast<uint32_t>((exponent - 127) >> 1) << 23;
}
// For both roots: replaces the result for zero, infinity, negative numbers and NaNs.
inline uint32_t RootOf(uint32_t a, uint32_t result, uint32_t of_zero, uint32_t of_infinity) {
  result = a == kInfinityBits ? of_infinity : result;
  result = a > kInfinityBits ? kNanBits : result;
  return (a & kInfinityBits) == 0 ? of_zero | (a & kSignBit) : result;
}
struct RootReciprocal {
  static constexpr Table kTable = {kColumns<rows::kRootReciprocal>, 14, -1};  // 2^-40
  static constexpr int kCut = 16;
  static Place Split(uint32_t a) { return SplitForRoot(a); }
  static uint32_t Join(uint32_t a, int32_t value) {
    const bool power_of_four = (a & 0xffffff) == 0x800000;
    const uint32_t of_fraction = power_of_four ? kOneBits : static_cast<uint32_t>(value) + 0x3f000000u;
    return RootOf(a, of_fraction - HalfExponent(a), kInfinityBits, 0);
  }
};
struct Root {
  static constexpr Table kTable = {kColumns<rows::kRoot>, 14, -1};  // 2^-40 in the first half, 2^-39 in the second
  static constexpr int kCut = 16;
  static Place Split(uint32_t a) { return SplitForRoot(a); }
  static uint32_t Join(uint32_t a, int32_t value) {
    const uint32_t of_fraction = static_cast<uint32_t>(value) >> ((a >> 23) & 1u);
    return RootOf(a, of_fraction + kOneBits + HalfExponent(a), 0, kInfinityBits);
  }
};

struct Power {
  static constexpr Table kTable = {kColumns<rows::kPower>, 13, 6114};  // 2^-38
  static constexpr int kCut = 15;
  // The operand in units of 2^-23. A negative one is the complement of its magnitude, or minus it if that is whole.
  static int32_t Fixed(uint32_t a) {
    const float magnitude = std::bit_cast<float>(a & ~kSignBit);
    const auto cut = static_cast<int32_t>((magnitude < 160.0f ? magnitude : 160.0f) * 0x1p23f);
    const int32_t complement = (cut & 0x7fffff) == 0 ? -cut : ~cut;
    return (a & kSignBit) != 0 ? complement : cut;
  }
  static Place Split(uint32_t a) {
    const auto fraction = static_cast<uint32_t>(Fixed(a)) & 0x7fffff;
    return {fraction >> 17, fraction & 0x1ffff};
  }
  static uint32_t Join(uint32_t a, int32_t value) {
    const int32_t exponent = (Fixed(a) >> 23) + 127;
    uint32_t result = exponent < 1 ? 0 : static_cast<uint32_t>(value) + (static_cast<uint32_t>(exponent) << 23);
    result = exponent > 254 ? kInfinityBits : result;
    return (a & ~kSignBit) > kInfinityBits ? kNanBits : result;
  }
};

struct Logarithm {
  static constexpr Table kTable = {kColumns<rows::kLogarithm>, 12, 837};  // 2^-38
  static constexpr int kCut = 0;
  static Place Split(uint32_t a) { return {(a & 0x7fffff) >> 17, a & 0x1ffff}; }
  // The magnitude of a negative logarithm is the complement of `value`, not its negative.
  static uint32_t Join(uint32_t a, int64_t value) {
    value += static_cast<int64_t>(static_cast<int32_t>((a >> 23) & 0xff) - 127) << 38;
    const int64_t sign = value >> 63;
    uint32_t result = ToSingle<38>((value ^ sign) & ~int64_t{3}) | (static_cast<uint32_t>(sign) & kSignBit);
    result = a == kOneBits ? 0 : result;
    result = a == kInfinityBits ? kInfinityBits : result;
    result = a > kInfinityBits ? kNanBits : result;
    return (a & kInfinityBits) == 0 ? kInfinityBits | kSignBit : result;
  }
};

// Sine or cosine of an angle in revolutions, which is truncated to 2^-23 quarter turns.
template <uint32_t kQuartersAhead>
struct Turned {
  static constexpr Table kTable = {kColumns<rows::kSine>, 11, 0};  // 2^-37
  static constexpr int kCut = 0;
  // The angle in units of 2^-25 revolutions.
  static uint32_t Fixed(uint32_t turns) {
    const uint32_t exponent = (turns >> 23) & 0xff, significand = (turns & 0x7fffff) | 1u << 23;
    const uint32_t up = exponent > 125 ? (exponent < 156 ? exponent - 125 : 31) : 0;
    const uint32_t down = exponent < 125 ? (exponent > 94 ? 125 - exponent : 31) : 0;
    return ((significand << up) >> down) + (kQuartersAhead << 23);
  }
  static Place Split(uint32_t turns) {
    const uint32_t fixed = Fixed(turns);
    const uint32_t fraction = (fixed ^ (0u - ((fixed >> 23) & 1u))) & 0x7fffff;
    return {fraction >> 17, fraction & 0x1ffff};
  }
  static uint32_t Join(uint32_t turns, int64_t value) {
    uint32_t result = ToSingle<37>(value) ^ ((Fixed(turns) & (1u << 24)) << 7);
    if constexpr (kQuartersAhead == 0) result ^= turns & kSignBit;
    return (turns & ~kSignBit) >= kInfinityBits ? kNanBits : result;
  }
};
using Sine = Turned<0>;
using Cosine = Turned<1>;

// Below 2^-8 tanh(x) is x, from 8 on it is 1. A binade in between has 2^k segments.
struct Tangent {
  static constexpr Table kTable = {kColumns<rows::kTangent>, 13, 0};  // 2^-39
  static constexpr int kCut = 0;
  static constexpr uint32_t kLeast = 119, kMost = 129;
  static Place Split(uint32_t a) {
    // For each binade: 256 * its first row + k.
    constexpr uint32_t kBinades[] = {0,           1 * 256,      2 * 256,      3 * 256 + 1,  5 * 256 + 1,
                                     7 * 256 + 2, 11 * 256 + 2, 15 * 256 + 2, 19 * 256 + 3, 27 * 256 + 4,
                                     43 * 256 + 3};
    const uint32_t exponent = (a >> 23) & 0xff, fraction = a & 0x7fffff;
    const uint32_t binade = kBinades[(exponent < kLeast ? kLeast : exponent > kMost ? kMost : exponent) - kLeast];
    const uint32_t bits = 23 - (binade & 0xff);
    return {(binade >> 8) + (fraction >> bits), (fraction & ((1u << bits) - 1)) >> (bits - 17)};
  }
  static uint32_t Join(uint32_t a, int64_t value) {
    const uint32_t exponent = (a >> 23) & 0xff;
    uint32_t result = ToSingle<39>(value);
    result = exponent < kLeast ? a & ~kSignBit : result;
    result = (exponent > kMost ? kOneBits : result) | (a & kSignBit);
    return (a & ~kSignBit) > kInfinityBits ? kNanBits : result;
  }
};

// Functions of the upper halves of f64 encodings, with 20 bits of fraction, from the same tables.
struct ReciprocalOfUpperHalf {
  static constexpr Table kTable = Reciprocal::kTable;
  static constexpr int kCut = 19;
  static Place Split(uint32_t a) { return Reciprocal::Split((a & 0xfffff) << 3); }
  static uint32_t Join(uint32_t a, int32_t value) {
    const uint32_t exponent = (a >> 20) & 0x7ff;
    const auto normal = static_cast<int32_t>(static_cast<uint32_t>(value) + 0x3fe00000u + ((1023u - exponent) << 20));
    uint32_t result = normal < 0x00100000 ? 0 : static_cast<uint32_t>(normal);
    result = (exponent == 0 ? 0x7ff00000 : result) | (a & kSignBit);
    return (a & ~kSignBit) > 0x7ff00000 ? kNanBits : result;
  }
};
struct RootReciprocalOfUpperHalf {
  static constexpr Table kTable = RootReciprocal::kTable;
  static constexpr int kCut = 19;
  static Place Split(uint32_t a) { return SplitForRoot(((a & 0xfffff) << 3) | (((a >> 20) & 1) << 23)); }
  static uint32_t Join(uint32_t a, int32_t value) {
    const auto exponent = static_cast<int32_t>((a >> 20) & 0x7ff);
    const bool power_of_four = (a & 0x1fffff) == 0x100000;
    const uint32_t of_fraction = power_of_four ? 0x3ff00000 : static_cast<uint32_t>(value) + 0x3fe00000u;
    uint32_t result = of_fraction - (static_cast<uint32_t>((exponent - 1023) >> 1) << 20);
    result = a == 0x7ff00000 ? 0 : result;
    result = a > 0x7ff00000 ? kNanBits : result;
    return (a & 0x7ff00000) == 0 ? 0x7ff00000 | (a & kSignBit) : result;
  }
};

}  // namespace lockstep::vgpu::special_unit
