// Division, roots and transcendental functions on f32 and f64: div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh.
//
// The .approx forms give a Hopper GPU's results, bit for bit: special_unit.h. Source: PTX ISA 9.0, 9.7.3.
#include "vgpu/isa/float_arithmetic.h"
#include "vgpu/isa/special_unit.h"

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

// The .approx forms are what ptxas makes of them for sm_90: an instruction of the special function unit, with scaling
// around it for what the unit would flush. Rows hold encodings.
namespace unit = special_unit;

constexpr float AsSingle(uint32_t bits) { return std::bit_cast<float>(bits); }
constexpr uint32_t BitsOfSingle(float value) { return std::bit_cast<uint32_t>(value); }
constexpr bool IsTiny(float a) { return std::fabs(a) < 0x1p-126f; }

// Before() makes the unit's operand from the instruction's. After() makes the instruction's result from its operand and
// the unit's result. The unit has a single NaN, which a multiplication keeps.
struct Unscaled {
  static uint32_t Before(uint32_t a) { return a; }
  static uint32_t After(uint32_t, uint32_t result) { return result; }
};
// Subnormal operands are multiplied by 2^24, their results by 2^kBack.
template <int kBack>
struct Scaled {
  static constexpr float kFactor = kBack < 0 ? 1.0f / static_cast<float>(1 << -kBack) : static_cast<float>(1 << kBack);
  static uint32_t Before(uint32_t a) { return BitsOfSingle(AsSingle(a) * (IsTiny(AsSingle(a)) ? 0x1p24f : 1.0f)); }
  static uint32_t After(uint32_t a, uint32_t result) {
    return BitsOfSingle(AsSingle(result) * (IsTiny(AsSingle(a)) ? kFactor : 1.0f));
  }
};
struct ScaledReciprocal {
  static float Factor(uint32_t a) {
    const float large = std::fabs(AsSingle(a)) > 0x1p126f ? 0.25f : 1.0f;
    return IsTiny(AsSingle(a)) ? 0x1p24f : large;
  }
  static uint32_t Before(uint32_t a) { return BitsOfSingle(AsSingle(a) * Factor(a)); }
  static uint32_t After(uint32_t a, uint32_t result) { return BitsOfSingle(AsSingle(result) * Factor(a)); }
};
struct ScaledLogarithm : Scaled<0> {
  static uint32_t After(uint32_t a, uint32_t result) {
    return BitsOfSingle(AsSingle(result) - (IsTiny(AsSingle(a)) ? 24.0f : 0.0f));
  }
};
struct ScaledPower {
  static uint32_t Before(uint32_t a) { return BitsOfSingle(AsSingle(a) * (AsSingle(a) < -126.0f ? 0.5f : 1.0f)); }
  static uint32_t After(uint32_t a, uint32_t result) {
    return BitsOfSingle(AsSingle(result) * (AsSingle(a) < -126.0f ? AsSingle(result) : 1.0f));
  }
};
// An angle in revolutions: its product with 1/2pi, rounded toward zero.
struct InTurns {
  static uint32_t Before(uint32_t a) {
    const double product = static_cast<double>(AsSingle(a)) * double{0.15915494f};
    const float nearest = static_cast<float>(product);
    return std::bit_cast<uint32_t>(nearest) - (std::fabs(static_cast<double>(nearest)) > std::fabs(product) ? 1 : 0);
  }
  static uint32_t After(uint32_t, uint32_t result) { return result; }
};

template <typename Function, typename Around>
void UnitHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint32_t* a = Source<uint32_t>(warp, insn.row[1]);
  uint32_t operand[kWarpSize], result[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) operand[lane] = Around::Before(a[lane]);
  unit::Evaluate<Function, kWarpSize>(operand, result);
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask,
                            [&](int lane) { return Around::After(a[lane], result[lane]); });
}

// a * b with .ftz: flushed if the result is subnormal, or was before it was rounded to 2^-126.
inline float MultiplyFlushed(float a, float b) {
  const double exact = static_cast<double>(Flush(a)) * static_cast<double>(Flush(b));
  const auto result = static_cast<float>(exact);
  return std::fabs(exact) < 0x1p-126 * (1 - 0x1p-25) ? std::copysign(0.0f, result) : result;
}

// a * (1/b). div.full keeps a divisor beyond 2^126 from giving zero; div.approx doesn't.
template <bool kFull, bool kFtz>
void DivHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  const float* a = Source<float>(warp, insn.row[1]);
  const float* b = Source<float>(warp, insn.row[2]);
  const auto multiply = [](float x, float y) { return kFtz ? MultiplyFlushed(x, y) : x * y; };
  const auto scale = [=](int lane) {
    const float large = kFull && std::fabs(b[lane]) > 0x1p126f ? 0.25f : 1.0f;
    return !kFtz && IsTiny(b[lane]) ? 0x1p24f : large;
  };
  uint32_t reciprocal[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) reciprocal[lane] = BitsOfSingle(multiply(b[lane], scale(lane)));
  unit::Evaluate<unit::Reciprocal, kWarpSize>(reciprocal, reciprocal);
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [&](int lane) {
    const float quotient = multiply(multiply(a[lane], scale(lane)), AsSingle(reciprocal[lane]));
    return quotient == quotient ? BitsOfSingle(quotient) : unit::kNanBits;
  });
}

// rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 use only the upper half of the operand and set only the upper half of the
// result.
template <typename Function>
void OfUpperHalves(const uint64_t* a, uint64_t* d) {
  uint32_t upper[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) upper[lane] = static_cast<uint32_t>(a[lane] >> 32);
  unit::Evaluate<Function, kWarpSize>(upper, upper);
  for (int lane = 0; lane < kWarpSize; ++lane) d[lane] = uint64_t{upper[lane]} << 32;
}
template <typename Function>
void UpperHalfHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  uint64_t result[kWarpSize];
  OfUpperHalves<Function>(Source<uint64_t>(warp, insn.row[1]), result);
  ForLanesInPlace<uint64_t>(Destination<uint64_t>(warp, insn.row[0]), mask, [&](int lane) { return result[lane]; });
}

// rsqrt.approx.f64: one refinement step from the unit's result.
void RsqrtHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  const double* a = Source<double>(warp, insn.row[1]);
  double scaled[kWarpSize], start[kWarpSize];
  const auto is_tiny = [=](int lane) { return std::fabs(a[lane]) < 0x1p-1022; };
  for (int lane = 0; lane < kWarpSize; ++lane) scaled[lane] = a[lane] * (is_tiny(lane) ? 0x1p54 : 1.0);
  OfUpperHalves<unit::RootReciprocalOfUpperHalf>(reinterpret_cast<uint64_t*>(scaled),
                                                 reinterpret_cast<uint64_t*>(start));
  ForLanesInPlace<double>(Destination<double>(warp, insn.row[0]), mask, [&](int lane) {
    const double error = std::fma(-(start[lane] * start[lane]), scaled[lane], 1.0);
    const double step = std::fma(std::fma(error, 0.375, 0.5), start[lane] * error, start[lane]);
    double result = step * (is_tiny(lane) ? 0x1p27 : 1.0);
    result = a[lane] > std::numeric_limits<double>::max() ? 0.0 : result;
    result = a[lane] < 0 ? std::bit_cast<double>(uint64_t{0xfff8000000000000}) : result;
    result = a[lane] == 0 ? std::copysign(std::numeric_limits<double>::infinity(), a[lane]) : result;
    return a[lane] != a[lane] ? a[lane] + a[lane] : result;
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

// With .ftz the unit flushes subnormal numbers; without it they are scaled around it.
template <typename Function, typename Around>
Handler PickUnit(bool ftz) {
  return ftz ? UnitHandler<Function, Unscaled> : UnitHandler<Function, Around>;
}

Selection SelectRcp(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || !modifiers.Take("approx")) return SelectIeee<kRcp, kSoftRcp, 1>(modifiers);
  const bool ftz = modifiers.Take("ftz");
  if (modifiers.type(0) == Type::kF32) return {PickUnit<unit::Reciprocal, ScaledReciprocal>(ftz)};
  if (modifiers.type(0) == Type::kF64 && ftz) {
    return {UpperHalfHandler<unit::ReciprocalOfUpperHalf>, InsnClass::kFloat64};
  }
  return {};
}

Selection SelectSqrt(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || !modifiers.Take("approx")) return SelectIeee<kSqrt, kSoftSqrt, 1>(modifiers);
  if (modifiers.type(0) != Type::kF32) return {};
  return {PickUnit<unit::Root, Scaled<-12>>(modifiers.Take("ftz"))};
}

Selection SelectRsqrt(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || !modifiers.Take("approx")) return {};
  const bool ftz = modifiers.Take("ftz");
  if (modifiers.type(0) == Type::kF32) return {PickUnit<unit::RootReciprocal, Scaled<12>>(ftz)};
  if (modifiers.type(0) != Type::kF64) return {};
  return {ftz ? UpperHalfHandler<unit::RootReciprocalOfUpperHalf> : RsqrtHandler, InsnClass::kFloat64};
}

template <typename Function, typename Around>
Selection SelectTranscendental(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || modifiers.type(0) != Type::kF32 || !modifiers.Take("approx")) return {};
  return {PickUnit<Function, Around>(modifiers.Take("ftz"))};
}
// sin and cos: the unit flushes the angle's product, with or without .ftz.
template <typename Function>
Selection SelectAngle(Modifiers& modifiers) {
  if (modifiers.type_count() != 1 || modifiers.type(0) != Type::kF32 || !modifiers.Take("approx")) return {};
  modifiers.Take("ftz");
  return {UnitHandler<Function, InTurns>};
}

LOCKSTEP_OPCODES(float_special, {
                                    {"rcp", "d0 s0", SelectRcp, InsnClass::kSpecialFunction},
                                    {"sqrt", "d0 s0", SelectSqrt, InsnClass::kSpecialFunction},
                                    {"rsqrt", "d0 s0", SelectRsqrt, InsnClass::kSpecialFunction},
                                    {"sin", "d0 s0", SelectAngle<unit::Sine>, InsnClass::kSpecialFunction},
                                    {"cos", "d0 s0", SelectAngle<unit::Cosine>, InsnClass::kSpecialFunction},
                                    {"lg2", "d0 s0", SelectTranscendental<unit::Logarithm, ScaledLogarithm>,
                                     InsnClass::kSpecialFunction},
                                });

}  // namespace

Selection SelectFloatDiv(Modifiers& modifiers) {
  const bool approx = modifiers.Take("approx");
  if (!approx && !modifiers.Take("full")) return SelectIeee<kDiv, kSoftDiv, 2>(modifiers);
  if (modifiers.type(0) != Type::kF32) return {};
  const bool ftz = modifiers.Take("ftz");
  const Handler handler = approx ? (ftz ? DivHandler<false, true> : DivHandler<false, false>)
                                 : (ftz ? DivHandler<true, true> : DivHandler<true, false>);
  return {handler, InsnClass::kSpecialFunction};
}

Selection SelectFloatEx2(Modifiers& modifiers) { return SelectTranscendental<unit::Power, ScaledPower>(modifiers); }

Selection SelectFloatTanh(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kF32 || !modifiers.Take("approx")) return {};
  return {UnitHandler<unit::Tangent, Unscaled>, InsnClass::kSpecialFunction};
}

}  // namespace lockstep::vgpu
