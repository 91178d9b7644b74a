// Common conversions, using host instructions. Each gives the same result as ConvertElement, which handles all others.
#include <cmath>
#include <limits>
#include <type_traits>

#include "vgpu/core/half_format.h"
#include "vgpu/isa/convert.h"
#include "vgpu/isa/float_arithmetic.h"

namespace lockstep::vgpu {
namespace {

// 8-bit elements are stored extended in 16-bit rows.
template <typename T>
using Stored = std::conditional_t<sizeof(T) == 1, std::conditional_t<std::is_signed_v<T>, int16_t, uint16_t>, T>;

template <typename To, typename From>
constexpr auto kIntegerToInteger =
    [](Stored<From> x) { return static_cast<Stored<To>>(static_cast<To>(static_cast<From>(x))); };

template <typename To, typename From>
constexpr auto kIntegerToFloat = [](Stored<From> x) {
  if constexpr (std::is_same_v<From, uint32_t> && std::is_same_v<To, double>) {
    return static_cast<double>(static_cast<int32_t>(x ^ 0x80000000u)) + 0x1p31;  // exact, and SIMD
  }
  return static_cast<To>(static_cast<From>(x));
};

template <Rounding kRounding, typename F>
F RoundHost(F x) {
  switch (kRounding) {
    case Rounding::kTowardZero:
      return std::trunc(x);
    case Rounding::kDown:
      return std::floor(x);
    case Rounding::kUp:
      return std::ceil(x);
    case Rounding::kNearestEven:
    case Rounding::kNearestAway:
      break;
  }
  return std::nearbyint(x);
}

// 32-bit results: f64 holds every bound, and clamps and converts in SIMD. Unsigned goes through a biased signed
// conversion, since x86-64-v3 has no other.
template <typename T>
T ClampToInteger32(double x) {
  constexpr double kLowest = std::numeric_limits<T>::min();
  constexpr double kHighest = std::numeric_limits<T>::max();
  x = x >= kLowest ? x : kLowest;
  x = x <= kHighest ? x : kHighest;
  if constexpr (std::is_signed_v<T>) return static_cast<T>(x);
  return static_cast<uint32_t>(static_cast<int32_t>(x - 0x1p31)) ^ 0x80000000u;
}

template <typename T, typename F>
T ClampToInteger64(F x) {
  const F lowest = static_cast<F>(std::numeric_limits<T>::min());
  const F beyond = std::is_signed_v<T> ? -lowest : F{0x1p64};
  if (!(x > lowest)) return std::numeric_limits<T>::min();
  return x < beyond ? static_cast<T>(x) : std::numeric_limits<T>::max();
}

template <typename To, typename From, Rounding kRounding, bool kFtz>
constexpr auto kFloatToInteger = [](From x) {
  constexpr Number kTo = sizeof(To) == 8 ? Number::kU64 : Number::kU32;
  constexpr Number kFrom = sizeof(From) == 8 ? Number::kF64 : Number::kF32;
  const From rounded = RoundHost<kRounding>(kFtz ? Flush(x) : x);
  To result;
  if constexpr (sizeof(To) == 4) {
    result = ClampToInteger32<To>(rounded);
  } else {
    result = ClampToInteger64<To>(rounded);
  }
  return x == x ? result : static_cast<To>(NanAsInteger(kTo, kFrom));
};

// The host keeps a NaN's payload, as the device does. FlushesAfterRounding defines what flushes on conversion to f32:
// from halfway between 2^-126 - 2^-150 and 2^-126 on, numbers round up to 2^-126.
template <typename To, typename From, bool kFtz>
constexpr auto kFloatToFloat = [](From x) {
  if constexpr (kFtz && sizeof(From) == 4) x = Flush(Canonical(x));
  const To result = static_cast<To>(x);
  if constexpr (kFtz && sizeof(To) == 4) {
    return std::fabs(x) < 0x1p-126 - 0x1p-151 ? std::copysign(To{0}, result) : result;
  }
  return result;
};

template <typename F, Rounding kRounding, bool kFtz>
constexpr auto kFloatToIntegral = [](F x) { return Canonical(RoundHost<kRounding>(kFtz ? Flush(x) : x), x); };

constexpr auto kHalfToSingle = [](uint16_t x) { return Canonical(Half::ToFloat(x)); };
constexpr auto kBfloatToSingle = [](uint16_t x) { return uint32_t{x} << 16; };  // a NaN too
template <typename Format>
constexpr auto kFromSingle = [](float x) { return Format::FromFloat(x); };

// pick(T{}) for the host type of an integer number.
template <typename F>
Handler ForInteger(Number number, F pick) {
  switch (number) {
    case Number::kU8:
      return pick(uint8_t{});
    case Number::kU16:
      return pick(uint16_t{});
    case Number::kU32:
      return pick(uint32_t{});
    case Number::kU64:
      return pick(uint64_t{});
    case Number::kS8:
      return pick(int8_t{});
    case Number::kS16:
      return pick(int16_t{});
    case Number::kS32:
      return pick(int32_t{});
    case Number::kS64:
      return pick(int64_t{});
    default:
      return nullptr;
  }
}

Handler PickIntegerToInteger(Number to_number, Number from_number) {
  return ForInteger(to_number, [=](auto to) {
    return ForInteger(from_number, [=](auto from) -> Handler {
      using To = decltype(to);
      using From = decltype(from);
      return Elementwise<kIntegerToInteger<To, From>, Stored<To>, Stored<From>>;
    });
  });
}

Handler PickIntegerToFloat(Number to, Number from_number) {
  return ForInteger(from_number, [=](auto from) -> Handler {
    using From = decltype(from);
    if (to == Number::kF32) return Elementwise<kIntegerToFloat<float, From>, float, Stored<From>>;
    if (to == Number::kF64) return Elementwise<kIntegerToFloat<double, From>, double, Stored<From>>;
    return nullptr;
  });
}

// pick(Constant<rounding>{}); nullptr for a rounding that these handlers don't have.
template <typename F>
Handler ForRounding(Rounding rounding, F pick) {
  switch (rounding) {
    case Rounding::kTowardZero:
      return pick(Constant<Rounding::kTowardZero>{});
    case Rounding::kDown:
      return pick(Constant<Rounding::kDown>{});
    case Rounding::kUp:
      return pick(Constant<Rounding::kUp>{});
    case Rounding::kNearestEven:
      return pick(Constant<Rounding::kNearestEven>{});
    case Rounding::kNearestAway:
      break;
  }
  return nullptr;
}

template <typename From, bool kFtz>
Handler PickFloatToInteger(Number to_number, Rounding rounding) {
  return ForInteger(to_number, [=](auto to) -> Handler {
    using To = decltype(to);
    if constexpr (sizeof(To) >= 4) {
      return ForRounding(rounding, [](auto r) -> Handler {
        return Elementwise<kFloatToInteger<To, From, decltype(r)::value, kFtz>, To, From>;
      });
    }
    return nullptr;
  });
}

template <typename F, bool kFtz>
Handler PickFloatToIntegral(Rounding rounding) {
  return ForRounding(rounding,
                     [](auto r) -> Handler { return kUnary<kFloatToIntegral<F, decltype(r)::value, kFtz>, F>; });
}

Handler PickFloatToFloat(const Conversion& c) {
  if (c.to == Number::kF32 && c.from == Number::kF64) {
    return c.ftz ? Elementwise<kFloatToFloat<float, double, true>, float, double>
                 : Elementwise<kFloatToFloat<float, double, false>, float, double>;
  }
  if (c.to == Number::kF64 && c.from == Number::kF32) {
    return c.ftz ? Elementwise<kFloatToFloat<double, float, true>, double, float>
                 : Elementwise<kFloatToFloat<double, float, false>, double, float>;
  }
  if (c.ftz) return nullptr;
  if (c.to == Number::kF32 && c.from == Number::kF16) return Elementwise<kHalfToSingle, float, uint16_t>;
  if (c.to == Number::kF32 && c.from == Number::kBF16) return Elementwise<kBfloatToSingle, uint32_t, uint16_t>;
  if (c.to == Number::kF16 && c.from == Number::kF32) return Elementwise<kFromSingle<Half>, uint16_t, float>;
  if (c.to == Number::kBF16 && c.from == Number::kF32) return Elementwise<kFromSingle<Bfloat>, uint16_t, float>;
  return nullptr;
}

int NaturalBytes(Number number) { return BytesOf(number) == 1 ? 2 : BytesOf(number); }

}  // namespace

Handler FindFastConversion(const Conversion& c) {
  if (c.relu || c.satfinite || c.to_bytes != NaturalBytes(c.to) || c.from_bytes != NaturalBytes(c.from)) {
    return nullptr;
  }
  if (IsFloat(c.from) && IsInteger(c.to)) {  // these saturate with or without .sat
    if (c.from == Number::kF64) return PickFloatToInteger<double, false>(c.to, c.rounding);
    if (c.from != Number::kF32) return nullptr;
    return c.ftz ? PickFloatToInteger<float, true>(c.to, c.rounding)
                 : PickFloatToInteger<float, false>(c.to, c.rounding);
  }
  if (c.sat) return nullptr;
  if (c.to_integral) {
    if (c.from == Number::kF64) return PickFloatToIntegral<double, false>(c.rounding);
    if (c.from != Number::kF32) return nullptr;
    return c.ftz ? PickFloatToIntegral<float, true>(c.rounding) : PickFloatToIntegral<float, false>(c.rounding);
  }
  if (c.rounding != Rounding::kNearestEven) return nullptr;
  if (IsInteger(c.to)) return PickIntegerToInteger(c.to, c.from);
  if (IsInteger(c.from)) return PickIntegerToFloat(c.to, c.from);
  return PickFloatToFloat(c);
}

}  // namespace lockstep::vgpu
