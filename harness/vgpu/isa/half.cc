// Arithmetic on f16, bf16 and their packed pairs. Operands go through f64, where products are exact and sums are
// rounded to odd, so that the result is rounded once. Source: PTX ISA 9.0, 9.7.4.
#include "vgpu/isa/arithmetic.h"
#include "vgpu/isa/half_format.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// Operations on values, in f64.
constexpr auto kAdd = [](double a, double b) { return AddToOdd(a, b); };
constexpr auto kSub = [](double a, double b) { return AddToOdd(a, -b); };
constexpr auto kMul = [](double a, double b) { return a * b; };
constexpr auto kFma = [](double a, double b, double c) { return AddToOdd(a * b, c); };
constexpr auto kEx2 = [](double a) { return std::exp2(a); };
constexpr auto kTanh = [](double a) { return std::tanh(a); };

enum class Clamp : uint8_t { kNone, kSat, kRelu };

constexpr double ClampTo(double value, Clamp clamp) {
  if (clamp == Clamp::kSat) return value > 0 ? (value < 1 ? value : 1.0) : 0.0;
  if (clamp == Clamp::kRelu) return value > 0 || value != value ? value : 0.0;
  return value;
}

// An operation on values as one on encodings.
template <auto kOp, typename Format, bool kFtz, Clamp kClamp>
constexpr auto kEncoded = [](auto... x) -> uint16_t {
  const auto decode = [](uint16_t encoded) {
    return static_cast<double>(Format::ToFloat(kFtz ? FlushEncoded<Format>(encoded) : encoded));
  };
  const uint16_t result = FromDouble<Format>(ClampTo(kOp(decode(x)...), kClamp));
  return kFtz ? FlushEncoded<Format>(result) : result;
};

// The handler for one or two elements a lane.
template <auto kOp, size_t kSources>
Handler PickWidth(bool packed) {
  const auto pick = [=]<size_t... kIndex>(std::index_sequence<kIndex...>)->Handler {
    return packed ? Elementwise<kPacked<kOp>, uint32_t, decltype((void)kIndex, uint32_t{})...>
                  : Elementwise<kOp, uint16_t, decltype((void)kIndex, uint16_t{})...>;
  };
  return pick(std::make_index_sequence<kSources>{});
}

struct HalfType {
  bool bfloat, packed;
};
HalfType TypeOf(const Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  return {type == Type::kBF16 || type == Type::kBF16x2, type == Type::kF16x2 || type == Type::kBF16x2};
}

template <auto kOp, size_t kSources, typename Format, bool kFtz>
Handler PickClamp(Clamp clamp, bool packed) {
  switch (clamp) {
    case Clamp::kNone:
      return PickWidth<kEncoded<kOp, Format, kFtz, Clamp::kNone>, kSources>(packed);
    case Clamp::kSat:
      return PickWidth<kEncoded<kOp, Format, kFtz, Clamp::kSat>, kSources>(packed);
    case Clamp::kRelu:
      return PickWidth<kEncoded<kOp, Format, kFtz, Clamp::kRelu>, kSources>(packed);
  }
  return nullptr;
}

// .ftz and .sat are f16's; .relu is fma's.
template <auto kOp, size_t kSources>
Selection SelectArithmetic(Modifiers& modifiers, bool may_relu) {
  const HalfType type = TypeOf(modifiers);
  Clamp clamp = Clamp::kNone;
  if (may_relu && modifiers.Take("relu")) {
    clamp = Clamp::kRelu;
  } else if (!type.bfloat && modifiers.Take("sat")) {
    clamp = Clamp::kSat;
  }
  if (type.bfloat) return {PickClamp<kOp, kSources, Bfloat, false>(clamp, type.packed), InsnClass::kFloat16};
  return {modifiers.Take("ftz") ? PickClamp<kOp, kSources, Half, true>(clamp, type.packed)
                                : PickClamp<kOp, kSources, Half, false>(clamp, type.packed),
          InsnClass::kFloat16};
}

template <typename Format>
constexpr bool IsNan(uint16_t encoded) {
  return (encoded & 0x7fff) > Format::kExponent;
}

constexpr auto kAbs = [](uint16_t a) { return static_cast<uint16_t>(a & 0x7fff); };
constexpr auto kNeg = [](uint16_t a) { return static_cast<uint16_t>(a ^ 0x8000); };
template <auto kOp, typename Format, bool kFtz>
constexpr auto kSign =
    [](uint16_t a) { return IsNan<Format>(a) ? Format::kNan : kOp(kFtz ? FlushEncoded<Format>(a) : a); };

template <auto kOp>
Selection SelectSign(Modifiers& modifiers) {
  const HalfType type = TypeOf(modifiers);
  if (type.bfloat) return {PickWidth<kSign<kOp, Bfloat, false>, 1>(type.packed), InsnClass::kFloat16};
  return {modifiers.Take("ftz") ? PickWidth<kSign<kOp, Half, true>, 1>(type.packed)
                                : PickWidth<kSign<kOp, Half, false>, 1>(type.packed),
          InsnClass::kFloat16};
}

// Encodings as integers in the order of their values, -0 below +0.
constexpr int32_t OrderOf(uint16_t encoded) {
  const int32_t magnitude = encoded & 0x7fff;
  return encoded & 0x8000 ? -magnitude - 1 : magnitude;
}

// min and max. A NaN loses against a number, except with .NaN.
template <typename Format, bool kFtz, bool kMax, bool kNan, bool kXorsign>
constexpr auto kExtreme = [](uint16_t a, uint16_t b) -> uint16_t {
  if (kFtz) {
    a = FlushEncoded<Format>(a);
    b = FlushEncoded<Format>(b);
  }
  const uint16_t sign = kXorsign ? (a ^ b) & 0x8000 : 0;
  if (kXorsign) {
    a &= 0x7fff;
    b &= 0x7fff;
  }
  const bool a_nan = IsNan<Format>(a);
  const bool b_nan = IsNan<Format>(b);
  const bool first = kMax ? OrderOf(a) > OrderOf(b) : OrderOf(a) < OrderOf(b);
  uint16_t result = first ? a : b;
  result = a_nan ? b : result;
  result = b_nan ? a : result;
  result |= sign;
  return (kNan ? a_nan || b_nan : a_nan && b_nan) ? Format::kNan : result;
};

template <typename Format, bool kFtz, bool kMax>
Handler PickExtreme(bool nan, bool xorsign, bool packed) {
  if (nan) {
    return xorsign ? PickWidth<kExtreme<Format, kFtz, kMax, true, true>, 2>(packed)
                   : PickWidth<kExtreme<Format, kFtz, kMax, true, false>, 2>(packed);
  }
  return xorsign ? PickWidth<kExtreme<Format, kFtz, kMax, false, true>, 2>(packed)
                 : PickWidth<kExtreme<Format, kFtz, kMax, false, false>, 2>(packed);
}

template <bool kMax>
Selection SelectExtreme(Modifiers& modifiers) {
  if (modifiers.operand_count() > 3) return {};
  const HalfType type = TypeOf(modifiers);
  const bool nan = modifiers.Take("NaN");
  const bool xorsign = modifiers.Take("xorsign");
  if (modifiers.Take("abs") != xorsign) return {};
  if (type.bfloat) return {PickExtreme<Bfloat, false, kMax>(nan, xorsign, type.packed), InsnClass::kFloat16};
  return {modifiers.Take("ftz") ? PickExtreme<Half, true, kMax>(nan, xorsign, type.packed)
                                : PickExtreme<Half, false, kMax>(nan, xorsign, type.packed),
          InsnClass::kFloat16};
}

template <auto kFunction>
Selection SelectFunction(Modifiers& modifiers, bool bfloat_flushes) {
  const HalfType type = TypeOf(modifiers);
  if (!modifiers.Take("approx")) return {};
  if (!type.bfloat) return {PickWidth<kEncoded<kFunction, Half, false, Clamp::kNone>, 1>(type.packed)};
  if (!bfloat_flushes) return {PickWidth<kEncoded<kFunction, Bfloat, false, Clamp::kNone>, 1>(type.packed)};
  if (!modifiers.Take("ftz")) return {};
  return {PickWidth<kEncoded<kFunction, Bfloat, true, Clamp::kNone>, 1>(type.packed)};
}

}  // namespace

Selection SelectHalfAdd(Modifiers& modifiers) {
  modifiers.Take("rn");
  return SelectArithmetic<kAdd, 2>(modifiers, false);
}
Selection SelectHalfSub(Modifiers& modifiers) {
  modifiers.Take("rn");
  return SelectArithmetic<kSub, 2>(modifiers, false);
}
Selection SelectHalfMul(Modifiers& modifiers) {
  modifiers.Take("rn");
  return SelectArithmetic<kMul, 2>(modifiers, false);
}
Selection SelectHalfFma(Modifiers& modifiers) {
  return modifiers.Take("rn") ? SelectArithmetic<kFma, 3>(modifiers, true) : Selection{};
}
Selection SelectHalfAbs(Modifiers& modifiers) { return SelectSign<kAbs>(modifiers); }
Selection SelectHalfNeg(Modifiers& modifiers) { return SelectSign<kNeg>(modifiers); }
Selection SelectHalfMin(Modifiers& modifiers) { return SelectExtreme<false>(modifiers); }
Selection SelectHalfMax(Modifiers& modifiers) { return SelectExtreme<true>(modifiers); }
Selection SelectHalfEx2(Modifiers& modifiers) { return SelectFunction<kEx2>(modifiers, true); }
Selection SelectHalfTanh(Modifiers& modifiers) { return SelectFunction<kTanh>(modifiers, false); }

}  // namespace lockstep::vgpu
