// Conversion between f16/bf16 encodings and f32, rounding to nearest even, without branches so that loops over lanes
// vectorise; and conversion from f64 with a single rounding.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lockstep::vgpu {

struct Half {
  static constexpr uint16_t kNan = 0x7fff;
  static constexpr uint16_t kExponent = 0x7c00;
  static constexpr double kLeastNormal = 0x1p-14;

  static float ToFloat(uint16_t encoded) {
    const uint32_t sign = (encoded & 0x8000u) << 16;
    const uint32_t magnitude = encoded & 0x7fffu;
    // Rebias the exponent from 15 to 127; infinity and NaN get the largest exponent.
    const uint32_t rebased = (magnitude << 13) + (112u << 23);
    const uint32_t special = rebased + (112u << 23);
    const uint32_t subnormal = std::bit_cast<uint32_t>(static_cast<float>(static_cast<int32_t>(magnitude)) * 0x1p-24f);
    const uint32_t bits = magnitude < 0x400 ? subnormal : (magnitude >= kExponent ? special : rebased);
    return std::bit_cast<float>(sign | bits);
  }

  static uint16_t FromFloat(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t sign = (bits >> 16) & 0x8000u;
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
    // The sum's last bit is worth 2^-24, like that of a subnormal, so the host does the rounding.
    const uint32_t subnormal =
        std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5f) - std::bit_cast<uint32_t>(0.5f);
    uint32_t encoded = magnitude < 0x38800000u ? subnormal : normal;
    encoded = magnitude >= 0x477ff000u ? uint32_t{kExponent} : encoded;  // 65520 or more
    encoded |= sign;
    return static_cast<uint16_t>(magnitude > 0x7f800000u ? uint32_t{kNan} : encoded);
  }
};

struct Bfloat {
  static constexpr uint16_t kNan = 0x7fff;
  static constexpr uint16_t kExponent = 0x7f80;
  static constexpr double kLeastNormal = 0x1p-126;

  static float ToFloat(uint16_t encoded) { return std::bit_cast<float>(static_cast<uint32_t>(encoded) << 16); }

  static uint16_t FromFloat(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    return static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? uint32_t{kNan} : rounded);
  }
};

// Converts to f32; if the result is inexact, its last bit is odd. Rounding that to 22 bits or fewer then gives the same
// result as rounding the exact value once.
inline float RoundToOdd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  const uint32_t toward_value = std::fabs(back) > std::fabs(value) ? bits - 1 : bits + 1;
  const bool move = back != value && value == value && (bits & 1) == 0;
  return std::bit_cast<float>(move ? toward_value : bits);
}

// The same for a + b in f64. The error term is exact (Knuth's two-sum) unless something overflows.
inline double AddToOdd(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double error = (a - (sum - b_part)) + (b - b_part);
  const uint64_t bits = std::bit_cast<uint64_t>(sum);
  const uint64_t toward_exact = (error > 0) == (sum > 0) ? bits + 1 : bits - 1;
  const bool move = error != 0 && error == error && (bits & 1) == 0;
  return std::bit_cast<double>(move ? toward_exact : bits);
}

template <typename Format>
uint16_t FromDouble(double value) {
  return Format::FromFloat(RoundToOdd(value));
}

// Subnormal numbers become zeros of the same sign.
template <typename Format>
constexpr uint16_t FlushEncoded(uint16_t encoded) {
  return (encoded & Format::kExponent) == 0 ? encoded & 0x8000 : encoded;
}

}  // namespace lockstep::vgpu
