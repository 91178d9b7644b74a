// Products of f64, of integers and of bits; and m8n8k4 of f16, which an H100 computes without tensor cores.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "vgpu/core/half_format.h"
#include "vgpu/isa/float_arithmetic.h"
#include "vgpu/isa/tensor/tile.h"

namespace lockstep::vgpu::tensor {
namespace {

constexpr int kMostDoubleK = 16, kMostIntegerK = 64, kMostWords = 8;

double MultiplyAddDouble(double a, double b, double c, Rounding rounding) {
  if (rounding == Rounding::kNearestEven) return CanonicalOf<0>(std::fma(a, b, c), a, b, c);
  const auto unpack = [](double x) { return Unpack(std::bit_cast<uint64_t>(x), kDoubleFormat); };
  const double sum =
      std::bit_cast<double>(Pack(MultiplyAdd(unpack(a), unpack(b), unpack(c), rounding), kDoubleFormat, rounding));
  return CanonicalOf<0>(sum, a, b, c);
}

int32_t Saturated(int64_t sum, bool satfinite) {
  if (!satfinite) return static_cast<int32_t>(static_cast<uint32_t>(sum));
  return static_cast<int32_t>(
      std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(), std::numeric_limits<int32_t>::max()));
}

int16_t IntegerOf(uint32_t word, int part, Element element) {
  switch (element) {
    case Element::kS8:
      return static_cast<int8_t>(word >> (8 * part));
    case Element::kU8:
      return static_cast<uint8_t>(word >> (8 * part));
    case Element::kS4:
      return static_cast<int16_t>(static_cast<int32_t>(word << (28 - 4 * part)) >> 28);
    default:
      return static_cast<int16_t>(word >> (4 * part) & 15);
  }
}

}  // namespace

// One chain of fused multiplications and additions, from the accumulator on, in the order of k.
void MultiplyDoubles(const Kind& kind, const Tile& tile) {
  double a[kRowsOfTile][kMostDoubleK], b[kColumnsOfTile][kMostDoubleK];
  ForFactors(kind, true, 1, [&](int row, int k, int r, int lane, int) { a[row][k] = Get<double>(tile.a[r], lane); });
  ForFactors(kind, false, 1,
             [&](int column, int k, int r, int lane, int) { b[column][k] = Get<double>(tile.b[r], lane); });
  ForAccumulators(kind, false, [&](int row, int column, int r, int lane, int) {
    double sum = Get<double>(tile.c[r], lane);
    for (int k = 0; k < kind.k; ++k) sum = MultiplyAddDouble(a[row][k], b[column][k], sum, kind.rounding);
    Put(tile.d[r], lane, sum);
  });
}

void MultiplyIntegers(const Kind& kind, const Tile& tile) {
  alignas(64) int16_t a[kRowsOfTile][kMostIntegerK], b[kColumnsOfTile][kMostIntegerK];
  const int each = 32 / BitsOf(kind.a);
  ForFactors(kind, true, each, [&](int row, int k, int r, int lane, int part) {
    a[row][k] = IntegerOf(Get<uint32_t>(tile.a[r], lane), part, kind.a);
  });
  ForFactors(kind, false, each, [&](int column, int k, int r, int lane, int part) {
    b[column][k] = IntegerOf(Get<uint32_t>(tile.b[r], lane), part, kind.b);
  });
  ForAccumulators(kind, false, [&](int row, int column, int r, int lane, int) {
    int32_t products = 0;  // 64 products of less than 2^16
    for (int k = 0; k < kind.k; ++k) products += a[row][k] * b[column][k];
    Put(tile.d[r], lane, Saturated(int64_t{Get<int32_t>(tile.c[r], lane)} + products, kind.satfinite));
  });
}

void MultiplyBits(const Kind& kind, const Tile& tile) {
  uint32_t a[kRowsOfTile][kMostWords], b[kColumnsOfTile][kMostWords];
  ForFactors(kind, true, 1,
             [&](int row, int word, int r, int lane, int) { a[row][word] = Get<uint32_t>(tile.a[r], lane); });
  ForFactors(kind, false, 1,
             [&](int column, int word, int r, int lane, int) { b[column][word] = Get<uint32_t>(tile.b[r], lane); });
  ForAccumulators(kind, false, [&](int row, int column, int r, int lane, int) {
    uint32_t sum = Get<uint32_t>(tile.c[r], lane);
    for (int word = 0; word < kind.k / 32; ++word) {
      const uint32_t x = a[row][word], y = b[column][word];
      sum += static_cast<uint32_t>(std::popcount(kind.exclusive_or ? x ^ y : x & y));
    }
    Put(tile.d[r], lane, sum);
  });
}

// Four products of 8 x 8 x 4, each by eight lanes: 4q … 4q+3 and the same plus 16. Compute capability 7.0 has an
// instruction for it; for later ones ptxas generates f32 arithmetic. If the sum is f32, products are added by fused
// operations in order, beginning with 0, and then the accumulator; otherwise in pairs.
void MultiplyQuads(const Kind& kind, const Tile& tile) {
  constexpr int kQuads = 4, kSize = 8, kDepth = 4;
  float a[kQuads][kSize][kDepth], b[kQuads][kSize][kDepth], c[kQuads][kSize][kSize];
  const auto half = [](const uint8_t* row, int lane, int part) {
    return Half::ToFloat(Get<uint16_t>(row, 2 * lane + part));
  };
  const auto fill = [&](const uint8_t* const* rows, bool along, float (&to)[kQuads][kSize][kDepth]) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int high = lane < 16 ? 0 : 4;
      for (int e = 0; e < 4; ++e) {
        const float value = half(rows[e / 2], lane, e % 2);
        (along ? to[lane % 16 / 4][lane % 4 + high][e] : to[lane % 16 / 4][e + high][lane % 4]) = value;
      }
    }
  };
  fill(tile.a, kind.row_a, a);
  fill(tile.b, !kind.row_b, b);
  // f(quad, row, column, register, index in the register's row of 16-bit or 32-bit elements)
  const auto for_accumulators = [](Element element, const auto& f) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const int high = lane < 16 ? 0 : 4, quad = lane % 16 / 4;
      for (int e = 0; e < kSize; ++e) {
        if (element == Element::kF16) {
          f(quad, lane % 4 + high, e, e / 2, 2 * lane + e % 2);
        } else {
          f(quad, (lane & 1) + (e & 2) + high, (e & 4) + (lane & 2) + (e & 1), e, lane);
        }
      }
    }
  };
  for_accumulators(kind.c, [&](int quad, int row, int column, int r, int at) {
    c[quad][row][column] =
        kind.c == Element::kF16 ? Half::ToFloat(Get<uint16_t>(tile.c[r], at)) : Get<float>(tile.c[r], at);
  });
  for_accumulators(kind.d, [&](int quad, int row, int column, int r, int at) {
    const float *x = a[quad][row], *y = b[quad][column];
    const float start = c[quad][row][column];
    if (kind.d == Element::kF16) {
      const float sum = (start + std::fma(x[1], y[1], x[0] * y[0])) + std::fma(x[3], y[3], x[2] * y[2]);
      Put(tile.d[r], at, Half::FromFloat(sum));
    } else {
      float sum = 0;
      for (int k = 0; k < kDepth; ++k) sum = std::fma(x[k], y[k], sum);
      sum += start;
      Put(tile.d[r], at, sum == sum ? std::bit_cast<uint32_t>(sum) : 0x7fffffffu);
    }
  });
}

}  // namespace lockstep::vgpu::tensor
