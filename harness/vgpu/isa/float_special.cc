// Division, roots and transcendental functions on f32 and f64: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
//
// The .approx forms return the correctly rounded result, or the host's double-precision result rounded to f32; both are
// within every documented error bound. Special results and flushing are as PTX documents them. Source: PTX ISA 9.0,
// 9.7.3.
#include "vgpu/isa/float_arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

struct Quotient {
  static constexpr bool kFirstNan = true;
  template <typename T>
  constexpr T operator()(T a, T b) const {
    return a / b;
  }
};
constexpr Quotient kDiv;
constexpr auto kRcp = [](auto a) { return decltype(a){1} / a; };
constexpr auto kSqrt = [](auto a) { return std::sqrt(a); };

struct SoftQuotient {
  static constexpr bool kFirstNan = true;
  Exact operator()(Rounding, const Exact& a, const Exact& b) const { return Divide(a, b); }
};
constexpr SoftQuotient kSoftDiv;
constexpr auto kSoftRcp = [](Rounding, const Exact& a) { return Divide(FromInteger(1, false), a); };
constexpr auto kSoftSqrt = [](Rounding, const Exact& a) { return SquareRoot(a); };

// a * (1/b) on the hardware: the reciprocal of a divisor beyond 2^126 is flushed to zero.
constexpr auto kDivApprox = [](float a, float b) {
  const float magnitude = std::fabs(b);
  const bool reciprocal_flushed = magnitude > 0x1p126f && magnitude <= std::numeric_limits<float>::max();
  return reciprocal_flushed ? a * std::copysign(0.0f, b) : a / b;
};

// Computed in double: the result has one more rounding than a correctly rounded one.
template <auto kFunction>
constexpr auto kByDouble = [](float a) { return static_cast<float>(kFunction(static_cast<double>(a))); };
constexpr auto kRsqrt = [](double a) { return 1.0 / std::sqrt(a); };
constexpr auto kLg2 = [](double a) { return std::log2(a); };
constexpr auto kEx2 = [](double a) { return std::exp2(a); };
constexpr auto kTanh = [](double a) { return std::tanh(a); };

// sin and cos multiply by 1/2pi, rounded toward zero, and use the fractional part; for large operands no significant
// bits of it remain. The hardware does the same (measured on an H200); the result is within the documented bound
// wherever there is one.
float TowardZero(double x) {
  const float nearest = static_cast<float>(x);
  return std::fabs(static_cast<double>(nearest)) > std::fabs(x)
             ? std::bit_cast<float>(std::bit_cast<uint32_t>(nearest) - 1)
             : nearest;
}
constexpr auto kRevolution = [](float a) {
  const double product = static_cast<double>(a) * double{0.15915494f};
  const float turns = Flush(TowardZero(product));
  return static_cast<double>(turns) - std::nearbyint(static_cast<double>(turns));
};
// sin of a fraction of a revolution in [-1/2, 1/2], folded into [-1/4, 1/4], where seven terms of the series have an
// error below 2^-30. Written without a call, so that the loop over lanes is SIMD code.
constexpr auto kSinOfTurn = [](double turn) {
  const double folded = std::fabs(turn) > 0.25 ? std::copysign(0.5, turn) - turn : turn;
  const double x = 6.283185307179586 * folded;
  const double s = x * x;
  double sum = 1.0 / 6227020800.0;  // 1/13!
  sum = sum * s - 1.0 / 39916800.0;
  sum = sum * s + 1.0 / 362880.0;
  sum = sum * s - 1.0 / 5040.0;
  sum = sum * s + 1.0 / 120.0;
  sum = sum * s - 1.0 / 6.0;
  return x + x * (sum * s);
};
constexpr auto kSin = [](float a) {
  return std::copysign(1.0f, a) * static_cast<float>(kSinOfTurn(kRevolution(std::fabs(a))));
};
constexpr auto kCos = [](float a) {
  return static_cast<float>(kSinOfTurn(0.25 - std::fabs(kRevolution(a))));  // exact at a quarter
};

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use only the upper half of the operand and set only the upper half of the
// result.
constexpr double UpperHalf(double x) { return std::bit_cast<double>(std::bit_cast<uint64_t>(x) & 0xffffffff00000000); }
template <auto kOp>
constexpr auto kUpperHalf = [](double a) { return UpperHalf(kOp(UpperHalf(a))); };
// Their canonical NaN differs from the usual one.
template <auto kOp>
void UpperHalfHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  const double* a = Source<double>(warp, insn.row[1]);
  ForLanesInPlace<double>(Destination<double>(warp, insn.row[0]), mask, [=](int lane) {
    const double result = kWithModes<kUpperHalf<kOp>, true, false>(a[lane]);
    return result == result ? result : std::bit_cast<double>(uint64_t{0x7fffffff00000000});
  });
}

template <auto kOp, auto kSoftOp, size_t kSources>
Selection SelectIeee(Modifiers& modifiers) {
  const RoundingModifier rounding = TakeRounding(modifiers);
  if (!rounding.found) return {};
  FloatModes modes{rounding.rounding};
  if (modifiers.type(0) == Type::kF64) {
    return SelectRounded<kOp, kSoftOp, double, kSources>(modes, InsnClass::kFloat64);
  }
  if (modifiers.type(0) != Type::kF32) return {};
  modes.ftz = modifiers.Take("ftz");
  return SelectRounded<kOp, kSoftOp, float, kSources>(modes, InsnClass::kSpecialFunction);
}

Selection SelectRcp(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || !modifiers.Take("approx")) return SelectIeee<kRcp, kSoftRcp, 1>(modifiers);
  const bool ftz = modifiers.Take("ftz");
  if (modifiers.type(0) == Type::kF32) return {HostHandler<kRcp, float, 1>(ftz, false)};
  if (modifiers.type(0) == Type::kF64 && ftz) {
    return {UpperHalfHandler<kRcp>, InsnClass::kFloat64};
  }
  return {};
}

Selection SelectSqrt(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || !modifiers.Take("approx")) return SelectIeee<kSqrt, kSoftSqrt, 1>(modifiers);
  if (modifiers.type(0) != Type::kF32) return {};
  return {HostHandler<kSqrt, float, 1>(modifiers.Take("ftz"), false)};
}

Selection SelectRsqrt(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || !modifiers.Take("approx")) return {};
  const bool ftz = modifiers.Take("ftz");
  if (modifiers.type(0) == Type::kF32) return {HostHandler<kByDouble<kRsqrt>, float, 1>(ftz, false)};
  if (modifiers.type(0) != Type::kF64) return {};
  return {ftz ? UpperHalfHandler<kRsqrt> : HostHandler<kRsqrt, double, 1>(false, false), InsnClass::kFloat64};
}

template <auto kFunction>
Selection SelectTranscendental(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || modifiers.type(0) != Type::kF32 || !modifiers.Take("approx")) return {};
  return {HostHandler<kFunction, float, 1>(modifiers.Take("ftz"), false)};
}

LOCKSTEP_OPCODES(float_special,
                 {
                     {"rcp", "d0 s0", SelectRcp, InsnClass::kSpecialFunction},
                     {"sqrt", "d0 s0", SelectSqrt, InsnClass::kSpecialFunction},
                     {"rsqrt", "d0 s0", SelectRsqrt, InsnClass::kSpecialFunction},
                     {"sin", "d0 s0", SelectTranscendental<kSin>, InsnClass::kSpecialFunction},
                     {"cos", "d0 s0", SelectTranscendental<kCos>, InsnClass::kSpecialFunction},
                     {"lg2", "d0 s0", SelectTranscendental<kByDouble<kLg2>>, InsnClass::kSpecialFunction},
                 });

}  // namespace

Selection SelectFloatDiv(Modifiers& modifiers) {
  const bool approx = modifiers.Take("approx");
  if (!approx && !modifiers.Take("full")) return SelectIeee<kDiv, kSoftDiv, 2>(modifiers);
  if (modifiers.type(0) != Type::kF32) return {};
  const bool ftz = modifiers.Take("ftz");
  return {approx ? HostHandler<kDivApprox, float, 2>(ftz, false) : HostHandler<kDiv, float, 2>(ftz, false),
          InsnClass::kSpecialFunction};
}

Selection SelectFloatEx2(Modifiers& modifiers) { return SelectTranscendental<kByDouble<kEx2>>(modifiers); }

Selection SelectFloatTanh(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kF32 || !modifiers.Take("approx")) return {};
  return {HostHandler<kByDouble<kTanh>, float, 1>(false, false), InsnClass::kSpecialFunction};
}

}  // namespace lockstep::vgpu
