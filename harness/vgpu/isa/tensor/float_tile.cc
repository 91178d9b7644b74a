// Products of 16-bit floats, tf32 and 8-bit floats, with every bit as on an H100.
//
// How its tensor cores add was found by comparing models with its results for random and adversarial operands:
//   - Products are exact. A group of them and the accumulator are added in one step: 16 products of f16 or bf16 (8 if
//     the instruction has only 8), 4 or 8 of tf32.
//   - E is the largest exponent in the group: of a product the sum of its factors' exponents, before the product is
//     normalised; a subnormal number has the least exponent. Zeros are left out.
//   - Each addend is cut off, toward zero, below 2^(E-25). The sum of what is left is exact.
//   - An f32 result is cut off toward zero, an f16 result rounded to nearest even. A result of zero is +0.
//   - A NaN, an infinity times zero, or infinities of both signs make the canonical NaN.
//   - Where only one of accumulator and result is f16, the sum is made in f32, with conversions before and after it.
//   - ptxas turns products of 8-bit floats into two of f16: first of the elements whose index has bit 1 clear, then, on
//     top of that, of the others; and adds the accumulator with a rounded addition. So E is that of the f16 values.
//
// Here a matrix is held as significands and exponents, a column of 16 rows side by side, so that the loops vectorise.
#include <algorithm>
#include <bit>
#include <cmath>

#include "vgpu/core/half_format.h"
#include "vgpu/isa/tensor/tile.h"

namespace lockstep::vgpu::tensor {
namespace {

constexpr int kUnitBits = 25;                // the addends' last bit is worth 2^(E-25)
constexpr int32_t kZeroExponent = -10000;    // below all others, even in a sum of two
constexpr int32_t kSpecialExponent = 20000;  // NaN: significand 0; infinity: 1 or -1
constexpr int kMostK = 16;
constexpr uint32_t kFloatNan = 0x7fffffff;

// value = significand * 2^(exponent - fraction bits)
struct Number {
  int32_t significand, exponent;
};

template <int kExponentBits, int kFractionBits>
inline Number Split(uint32_t bits) {
  constexpr int32_t kLargest = (1 << kExponentBits) - 1, kBias = kLargest / 2;
  const int32_t field = static_cast<int32_t>(bits >> kFractionBits) & kLargest;
  const int32_t fraction = static_cast<int32_t>(bits & ((1u << kFractionBits) - 1));
  const bool negative = (bits >> (kExponentBits + kFractionBits) & 1) != 0;
  int32_t significand = field == 0 ? fraction : fraction | 1 << kFractionBits;
  int32_t exponent = std::max(field, 1) - kBias;
  exponent = significand == 0 ? kZeroExponent : exponent;
  const bool special = field == kLargest;
  significand = special ? (fraction == 0 ? 1 : 0) : significand;
  exponent = special ? kSpecialExponent : exponent;
  return {negative ? -significand : significand, exponent};
}

// The f16 encoding of an 8-bit float, which f16 holds exactly.
uint32_t HalfOf(uint32_t bits, Element element) {
  if (element == Element::kE5m2) return bits << 8;
  const uint32_t sign = (bits & 0x80) << 8, magnitude = bits & 0x7f;
  if (magnitude == 0x7f) return Half::kNan;
  if (magnitude >= 8) return sign | ((magnitude << 7) + (8u << 10));
  return sign | Half::FromFloat(static_cast<float>(magnitude) * 0x1p-9f);
}

Number Decode(uint32_t bits, Element element) {
  switch (element) {
    case Element::kBf16:
      return Split<8, 7>(bits);
    case Element::kTf32:
      return Split<8, 10>(bits >> 13);
    case Element::kF32:
      return Split<8, 23>(bits);
    case Element::kE4m3:
    case Element::kE5m2:
      return Split<5, 10>(HalfOf(bits, element));
    default:
      return Split<5, 10>(bits);
  }
}

constexpr int FractionBits(Element element) {
  return element == Element::kBf16 ? 7 : element == Element::kF32 ? 23 : 10;
}

// A group of a tile's products.
struct Group {
  int k = 0;
  alignas(64) int32_t a_significand[kMostK][kRowsOfTile] = {}, a_exponent[kMostK][kRowsOfTile] = {};
  int32_t b_significand[kColumnsOfTile][kMostK] = {}, b_exponent[kColumnsOfTile][kMostK] = {};
  bool a_special[kRowsOfTile] = {}, b_special[kColumnsOfTile] = {};
};

struct Accumulators {
  uint32_t bits[kColumnsOfTile][kRowsOfTile] = {};
};

double PowerOfTwo(int exponent) { return std::bit_cast<double>(static_cast<uint64_t>(exponent + 1023) << 52); }

// sum * 2^(largest - 25), cut off toward zero.
uint32_t CutToFloat(int64_t sum, int32_t largest) {
  if (sum == 0) return 0;
  const double exact = static_cast<double>(sum);
  // Clears the bits that f32 lacks.
  const double cut = std::bit_cast<double>(std::bit_cast<uint64_t>(exact) & ~((uint64_t{1} << 29) - 1));
  const double value = cut * PowerOfTwo(largest - kUnitBits);
  if (std::fabs(value) >= 0x1p-126) return std::bit_cast<uint32_t>(static_cast<float>(value));
  const auto steps = static_cast<uint32_t>(std::fabs(value) * 0x1p149);
  return steps == 0 ? 0 : steps | (sum < 0 ? 0x80000000u : 0u);
}

uint32_t RoundToHalf(int64_t sum, int32_t largest) {
  if (sum == 0) return 0;
  const uint16_t half = FromDouble<Half>(static_cast<double>(sum) * PowerOfTwo(largest - kUnitBits));
  return half == 0x8000 ? 0 : half;
}

// A sum with an infinity or a NaN among its operands.
uint32_t SumOfSpecials(const Group& group, int row, int column, Number c, bool half) {
  bool nan = c.exponent == kSpecialExponent && c.significand == 0;
  bool up = c.exponent == kSpecialExponent && c.significand > 0,
       down = c.exponent == kSpecialExponent && c.significand < 0;
  bool any = nan || up || down;
  for (int k = 0; k < group.k; ++k) {
    const Number a{group.a_significand[k][row], group.a_exponent[k][row]};
    const Number b{group.b_significand[column][k], group.b_exponent[column][k]};
    if (a.exponent != kSpecialExponent && b.exponent != kSpecialExponent) continue;
    any = true;
    if (a.significand == 0 || b.significand == 0) {
      nan = true;
    } else {
      ((a.significand < 0) == (b.significand < 0) ? up : down) = true;
    }
  }
  if (!any) return 0;
  if (nan || (up && down)) return half ? Half::kNan : kFloatNan;
  const uint32_t infinity = half ? Half::kExponent : 0x7f800000u;
  return up ? infinity : infinity | (half ? 0x8000u : 0x80000000u);
}

// c becomes group + c. sums: kF16 or kF32.
void AddGroup(const Group& group, Element factors, Element sums, int rows, Accumulators& c) {
  const int up = kUnitBits - 2 * FractionBits(factors);
  const int c_up = kUnitBits - FractionBits(sums);
  const bool half = sums == Element::kF16;
  for (int column = 0; column < kColumnsOfTile; ++column) {
    alignas(64) int32_t largest[kRowsOfTile], sum[kRowsOfTile] = {};
    alignas(64) int32_t c_significand[kRowsOfTile], c_exponent[kRowsOfTile];
    for (int row = 0; row < kRowsOfTile; ++row) {
      const uint32_t bits = c.bits[column][row];
      const Number number = half ? Split<5, 10>(bits) : Split<8, 23>(bits);
      c_significand[row] = number.significand;
      largest[row] = c_exponent[row] = number.exponent;
    }
    for (int k = 0; k < group.k; ++k) {
      const int32_t b = group.b_exponent[column][k];
      for (int row = 0; row < kRowsOfTile; ++row) largest[row] = std::max(largest[row], group.a_exponent[k][row] + b);
    }
    for (int k = 0; k < group.k; ++k) {
      const int32_t b = group.b_significand[column][k], b_exponent = group.b_exponent[column][k];
      for (int row = 0; row < kRowsOfTile; ++row) {
        const int32_t product = group.a_significand[k][row] * b;
        const int32_t down = std::min(largest[row] - group.a_exponent[k][row] - b_exponent, 31);
        const uint32_t addend = static_cast<uint32_t>(std::abs(product)) << up >> down;
        // 16 addends of less than 2^27 fit 32 bits: the factors are below 2^(fraction bits + 1).
        sum[row] += product < 0 ? -static_cast<int32_t>(addend) : static_cast<int32_t>(addend);
      }
    }
    for (int row = 0; row < rows; ++row) {
      const Number number{c_significand[row], c_exponent[row]};
      if (group.a_special[row] || group.b_special[column] || number.exponent == kSpecialExponent) {
        if (const uint32_t special = SumOfSpecials(group, row, column, number, half)) {
          c.bits[column][row] = special;
          continue;
        }
      }
      const int down = std::min(largest[row] - number.exponent, 63);
      const int64_t addend = int64_t{std::abs(number.significand)} << c_up >> down;
      const int64_t total = sum[row] + (number.significand < 0 ? -addend : addend);
      c.bits[column][row] = half ? RoundToHalf(total, largest[row]) : CutToFloat(total, largest[row]);
    }
  }
}

// Adds the elements whose index k belongs to the group: place(k) is the position there, or -1.
template <typename F>
void Gather(const Kind& kind, const Tile& tile, const F& place, Group& group) {
  const int bits = BitsOf(kind.a), each = 32 / bits;
  const uint32_t low = bits == 32 ? ~0u : (1u << bits) - 1;
  ForFactors(kind, true, each, [&](int row, int k, int r, int lane, int part) {
    const int at = place(k);
    if (at < 0) return;
    const Number number = Decode(Get<uint32_t>(tile.a[r], lane) >> (part * bits) & low, kind.a);
    group.a_significand[at][row] = number.significand;
    group.a_exponent[at][row] = number.exponent;
    group.a_special[row] |= number.exponent == kSpecialExponent;
  });
  ForFactors(kind, false, each, [&](int column, int k, int r, int lane, int part) {
    const int at = place(k);
    if (at < 0) return;
    const Number number = Decode(Get<uint32_t>(tile.b[r], lane) >> (part * bits) & low, kind.b);
    group.b_significand[column][at] = number.significand;
    group.b_exponent[column][at] = number.exponent;
    group.b_special[column] |= number.exponent == kSpecialExponent;
  });
}

void ReadAccumulators(const Kind& kind, const Tile& tile, Accumulators& c) {
  const bool half = kind.c == Element::kF16;
  ForAccumulators(kind, half, [&](int row, int column, int r, int lane, int part) {
    const uint32_t bits = Get<uint32_t>(tile.c[r], lane);
    c.bits[column][row] = half ? bits >> (16 * part) & 0xffff : bits;
  });
}

void WriteAccumulators(const Kind& kind, const Tile& tile, const Accumulators& d) {
  const bool half = kind.d == Element::kF16;
  ForAccumulators(kind, half, [&](int row, int column, int r, int lane, int part) {
    if (half) {
      Put<uint16_t>(tile.d[r], 2 * lane + part, static_cast<uint16_t>(d.bits[column][row]));
    } else {
      Put<uint32_t>(tile.d[r], lane, d.bits[column][row]);
    }
  });
}

}  // namespace

void MultiplyFloats(const Kind& kind, const Tile& tile) {
  Accumulators c;
  ReadAccumulators(kind, tile, c);
  const bool mixed = kind.c != kind.d;
  const Element inside = mixed ? Element::kF32 : kind.d;
  const auto convert = [&](const auto& f) {
    for (auto& column : c.bits) {
      for (uint32_t& bits : column) bits = f(bits);
    }
  };
  if (mixed && kind.c == Element::kF16) {
    convert([](uint32_t bits) { return std::bit_cast<uint32_t>(Half::ToFloat(static_cast<uint16_t>(bits))); });
  }
  for (int first = 0; first < kind.k; first += kind.group) {
    Group group;
    group.k = kind.group;
    Gather(kind, tile, [&](int k) { return k >= first && k < first + kind.group ? k - first : -1; }, group);
    AddGroup(group, kind.a, inside, kind.m, c);
  }
  if (mixed && kind.d == Element::kF16) {
    convert([](uint32_t bits) { return uint32_t{Half::FromFloat(std::bit_cast<float>(bits))}; });
  }
  WriteAccumulators(kind, tile, c);
}

void MultiplyEighths(const Kind& kind, const Tile& tile) {
  Accumulators sum, c;
  for (const int odd : {0, 1}) {
    Group group;
    group.k = kind.k / 2;
    Gather(kind, tile, [&](int k) { return (k >> 1 & 1) == odd ? (k >> 2 << 1) + (k & 1) : -1; }, group);
    AddGroup(group, Element::kF16, kind.d, kind.m, sum);
  }
  ReadAccumulators(kind, tile, c);
  for (int column = 0; column < kColumnsOfTile; ++column) {
    for (int row = 0; row < kind.m; ++row) {
      uint32_t& into = c.bits[column][row];
      if (kind.d == Element::kF16) {
        into = Half::FromFloat(Half::ToFloat(static_cast<uint16_t>(sum.bits[column][row])) +
                               Half::ToFloat(static_cast<uint16_t>(into)));
      } else {
        const float total = std::bit_cast<float>(sum.bits[column][row]) + std::bit_cast<float>(into);
        into = total == total ? std::bit_cast<uint32_t>(total) : kFloatNan;
      }
    }
  }
  WriteAccumulators(kind, tile, c);
}

}  // namespace lockstep::vgpu::tensor
