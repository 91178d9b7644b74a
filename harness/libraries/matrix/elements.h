// Matrix elements by type, as used in computations.
#pragma once

#include <bit>
#include <cstdint>

#include "vgpu/core/half_format.h"

namespace lockstep::libraries {

// 16-bit numbers, stored by encoding.
struct Float16 {
  uint16_t bits;
  float Load() const { return vgpu::Half::ToFloat(bits); }
  static Float16 Store(float value) { return {vgpu::Half::FromFloat(value)}; }
};
struct BFloat16 {
  uint16_t bits;
  float Load() const { return vgpu::Bfloat::ToFloat(bits); }
  static BFloat16 Store(float value) { return {vgpu::Bfloat::FromFloat(value)}; }
};

inline float Load(float value) { return value; }
inline float Load(Float16 value) { return value.Load(); }
inline float Load(BFloat16 value) { return value.Load(); }
inline float Load(int8_t value) { return static_cast<float>(value); }

template <typename T>
T Store(float value) {
  if constexpr (requires { T::Store(value); }) {
    return T::Store(value);
  } else {
    return static_cast<T>(value);
  }
}

// Rounds to 10 bits of mantissa, to nearest, ties to even.
inline float RoundToTf32(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + ((bits >> 13) & 1u)) & ~0x1fffu);
}

}  // namespace lockstep::libraries
