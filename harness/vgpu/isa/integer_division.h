// Vectorisable quotients and remainders of 32-bit integers that never trap.
#pragma once

#include <cmath>
#include <cstdint>

namespace lockstep::vgpu {

// a / b for b != 0; any value for b == 0. A double holds both operands exactly. A non-integer quotient is at least 1/b
// away from the next integer, far more than the rounding error, so truncation gives the exact quotient. x86-64-v3
// converts signed integers only, hence the bias.
inline uint32_t QuotientByDouble(uint32_t a, uint32_t b) {
  constexpr double kBias = 2147483648.0;
  const auto to_double = [](uint32_t x) { return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + kBias; };
  const double divisor = to_double(b == 0 ? 1 : b);
  const double quotient = std::trunc(to_double(a) / divisor);
  return static_cast<uint32_t>(static_cast<int32_t>(quotient - kBias)) ^ 0x80000000u;
}

// The hardware's result for a divisor of zero, both quotient and remainder.
template <typename T>
inline constexpr T kByZero = static_cast<T>(~T{0});

}  // namespace lockstep::vgpu
