// div and rem of integers. Source: PTX ISA 9.0, 9.7.1 (a divisor of zero is unspecified there: the values here are
// the ones an H200 gives).
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

// a / b for b != 0; any value for b == 0. A double holds both operands exactly. A non-integer quotient is at least 1/b
// away from the next integer, far more than the rounding error, so truncation gives the exact quotient. x86-64-v3
// converts signed integers only, hence the bias.
uint32_t QuotientByDouble(uint32_t a, uint32_t b) {
  constexpr double kBias = 2147483648.0;
  const auto to_double = [](uint32_t x) { return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + kBias; };
  const double divisor = to_double(b == 0 ? 1 : b);
  const double quotient = std::trunc(to_double(a) / divisor);
  return static_cast<uint32_t>(static_cast<int32_t>(quotient - kBias)) ^ 0x80000000u;
}

// The hardware's result for a divisor of zero, both quotient and remainder.
template <typename T>
constexpr T kByZero = static_cast<T>(~T{0});

enum class Part : uint8_t { kQuotient, kRemainder };

// One lane, unsigned, any width except 32 bits.
template <Part kPart, typename T>
T Divide(T a, T b) {
  if (b == 0) return kByZero<T>;
  return static_cast<T>(kPart == Part::kQuotient ? a / b : a % b);
}
template <Part kPart>
uint32_t Divide(uint32_t a, uint32_t b) {
  const uint32_t quotient = QuotientByDouble(a, b);
  return b == 0 ? kByZero<uint32_t> : kPart == Part::kQuotient ? quotient : a - quotient * b;
}

// Divides magnitudes, so that the most negative number divided by -1 wraps as on the hardware.
template <Part kPart, typename T>
T DivideSigned(T a, T b) {
  using U = std::make_unsigned_t<T>;
  const auto magnitude = [](T x) { return static_cast<U>(x < 0 ? U{0} - static_cast<U>(x) : static_cast<U>(x)); };
  const U result = Divide<kPart>(magnitude(a), magnitude(b));
  const bool negative = kPart == Part::kQuotient ? (a < 0) != (b < 0) : a < 0;
  const T value = static_cast<T>(negative ? U{0} - result : result);
  return b == 0 ? kByZero<T> : value;
}

template <Part kPart, typename T>
void Division(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  const T* b = Source<T>(warp, insn.row[2]);
  T* d = Destination<T>(warp, insn.row[0]);
  if constexpr (std::is_unsigned_v<T>) {
    // If all lanes divide by one power of two, as in tid % (2 * stride), no division is needed.
    const T divisor = b[0];
    T difference = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) difference |= b[lane] ^ divisor;
    if (difference == 0 && std::has_single_bit(divisor)) {
      const int shift = std::countr_zero(divisor);
      ForLanesInPlace<T>(d, mask, [=](int lane) {
        return static_cast<T>(kPart == Part::kQuotient ? a[lane] >> shift : a[lane] & (divisor - 1));
      });
      return;
    }
    ForLanesInPlace<T>(d, mask, [=](int lane) { return Divide<kPart>(a[lane], b[lane]); });
  } else {
    ForLanesInPlace<T>(d, mask, [=](int lane) { return DivideSigned<kPart>(a[lane], b[lane]); });
  }
}

template <Part kPart>
Selection Select(Modifiers& modifiers) {
  return {ForIntegerType(modifiers.type(0), [](auto x) -> Handler { return Division<kPart, decltype(x)>; })};
}

LOCKSTEP_OPCODES(integer_division,
                 {
                     {"rem", "d0 s0 s0", Select<Part::kRemainder>, InsnClass::kInteger, {}, Meaning::kRemainder},
                 });

}  // namespace

Selection SelectIntegerDiv(Modifiers& modifiers) { return Select<Part::kQuotient>(modifiers); }

}  // namespace lockstep::vgpu
