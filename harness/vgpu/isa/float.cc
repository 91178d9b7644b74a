// Arithmetic on f32 and f64 that is exact or rounded as IEEE 754 says: add, sub, mul, fma, abs, neg, min, max,
// copysign, testp. Source: PTX ISA 9.0, 9.7.3.
#include "vgpu/isa/float_arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr auto kAdd = [](auto a, auto b) { return a + b; };
constexpr auto kSub = [](auto a, auto b) { return a - b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kFma = [](auto a, auto b, auto c) { return std::fma(a, b, c); };

constexpr auto kSoftAdd = [](Rounding rounding, const Exact& a, const Exact& b) { return Add(a, b, rounding); };
constexpr auto kSoftSub = [](Rounding rounding, const Exact& a, Exact b) {
  b.negative = !b.negative;
  return Add(a, b, rounding);
};
constexpr auto kSoftMul = [](Rounding, const Exact& a, const Exact& b) { return Multiply(a, b); };
constexpr auto kSoftFma = [](Rounding rounding, const Exact& a, const Exact& b, const Exact& c) {
  return MultiplyAdd(a, b, c, rounding);
};

// Applies an f32 operation to both halves of a 64-bit element.
template <typename Op>
constexpr uint64_t OnPair(Op op, auto... x) {
  const float low = op(std::bit_cast<float>(static_cast<uint32_t>(x))...);
  const float high = op(std::bit_cast<float>(static_cast<uint32_t>(x >> 32))...);
  return std::bit_cast<uint32_t>(low) | uint64_t{std::bit_cast<uint32_t>(high)} << 32;
}

template <auto kOp>
constexpr auto kPairOf = [](auto... x) -> uint64_t { return OnPair(kOp, x...); };

template <auto kOp, auto kSoftOp>
constexpr auto kFlushed = [](auto... x) {
  return FlushResult<kSoftOp>(kWithModes<kOp, true, false>(x...), Rounding::kNearestEven, Flush(x)...);
};

template <auto kOp, size_t kSources>
Handler PickPairs() {
  const auto pick = []<size_t... kIndex>(std::index_sequence<kIndex...>) -> Handler {
    return Elementwise<kPairOf<kOp>, uint64_t, decltype((void)kIndex, uint64_t{})...>;
  };
  return pick(std::make_index_sequence<kSources>{});
}

// Row 0 = kSoftOp of both halves of row 1, row 2, …, with the modes in Insn::extra.
template <auto kSoftOp, size_t kSources>
void SoftPairs(Warp& warp, const Insn& insn, LaneMask mask) {
  const FloatModes modes = FloatModes::Decode(insn.extra);
  const auto op = [&](auto... x) { return SoftResult<kSoftOp, float>(modes, x...); };
  const auto run = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    const uint64_t* sources[] = {Source<uint64_t>(warp, insn.row[kIndex + 1])...};
    uint64_t* d = Destination<uint64_t>(warp, insn.row[0]);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane) & 1) d[lane] = OnPair(op, sources[kIndex][lane]...);
    }
  };
  run(std::make_index_sequence<kSources>{});
}

template <auto kOp, auto kSoftOp, size_t kSources>
Selection SelectPairs(const FloatModes& modes) {
  Selection selection;
  selection.insn_class = InsnClass::kFloat32;
  selection.steps = 2;
  selection.extra = modes.Encode();
  if (modes.rounding != Rounding::kNearestEven) {
    selection.handler = SoftPairs<kSoftOp, kSources>;
  } else {
    selection.handler = modes.ftz ? PickPairs<kFlushed<kOp, kSoftOp>, kSources>()
                                  : PickPairs<kWithModes<kOp, false, false>, kSources>();
  }
  return selection;
}

template <auto kOp, auto kSoftOp, size_t kSources>
Selection SelectArithmetic(Modifiers& modifiers, bool rounding_required) {
  const RoundingModifier rounding = TakeRounding(modifiers);
  if (rounding_required && !rounding.found) return {};
  FloatModes modes{rounding.rounding};
  if (modifiers.type(0) == Type::kF64) {
    return SelectRounded<kOp, kSoftOp, double, kSources>(modes, InsnClass::kFloat64);
  }
  modes.ftz = modifiers.Take("ftz");
  if (modifiers.type(0) == Type::kF32x2) return SelectPairs<kOp, kSoftOp, kSources>(modes);
  modes.sat = modifiers.Take("sat");
  return SelectRounded<kOp, kSoftOp, float, kSources>(modes, InsnClass::kFloat32);
}

// Sign operations do not change a NaN's sign.
constexpr auto kAbs = [](auto x) { return std::fabs(x); };
constexpr auto kNeg = [](auto x) { return -x; };

template <auto kOp>
Selection SelectSign(Modifiers& modifiers) {
  if (modifiers.type(0) == Type::kF32x2) return {};
  if (modifiers.type(0) == Type::kF64) return {HostHandler<kOp, double, 1>(false, false), InsnClass::kFloat64};
  return {HostHandler<kOp, float, 1>(modifiers.Take("ftz"), false), InsnClass::kFloat32};
}

template <typename B>
constexpr B kSignBit = B{1} << (8 * sizeof(B) - 1);
constexpr auto kCopysign = [](auto sign, auto magnitude) {
  return (sign & kSignBit<decltype(sign)>) | (magnitude & ~kSignBit<decltype(sign)>);
};

Selection SelectCopysign(Modifiers& modifiers) {
  switch (modifiers.type(0)) {
    case Type::kF32:
      return {kBinary<kCopysign, uint32_t>, InsnClass::kFloat32};
    case Type::kF64:
      return {kBinary<kCopysign, uint64_t>, InsnClass::kFloat64};
    default:
      return {};
  }
}

// min and max. Returns the number if the other operand is a NaN, except with .NaN; -0 is less than +0.
template <bool kMax, bool kNan>
constexpr auto kExtreme = [](auto a, auto b) {
  using T = decltype(a);
  using B = BitsOf<T>;
  const B both = kMax ? std::bit_cast<B>(a) & std::bit_cast<B>(b) : std::bit_cast<B>(a) | std::bit_cast<B>(b);
  const bool first = kMax ? a > b : a < b;
  T result = a == b ? std::bit_cast<T>(both) : (first ? a : b);
  const T other = a == a ? a : b;
  result = a == a && b == b ? result : (kNan ? CanonicalNan<T>() : other);
  return result;
};
template <bool kMax, bool kNan>
constexpr auto kExtremeXorsign = [](float a, float b) {
  const float magnitude = kExtreme<kMax, kNan>(std::fabs(a), std::fabs(b));
  const uint32_t sign = (std::bit_cast<uint32_t>(a) ^ std::bit_cast<uint32_t>(b)) & kSignBit<uint32_t>;
  return magnitude == magnitude ? std::bit_cast<float>(std::bit_cast<uint32_t>(magnitude) | sign) : magnitude;
};
template <bool kMax, bool kNan, bool kAbsolute>
constexpr auto kExtreme3 = [](float a, float b, float c) {
  if (kAbsolute) return kExtreme<kMax, kNan>(kExtreme<kMax, kNan>(std::fabs(a), std::fabs(b)), std::fabs(c));
  return kExtreme<kMax, kNan>(kExtreme<kMax, kNan>(a, b), c);
};

template <bool kMax, bool kNan>
Handler PickExtreme(Modifiers& modifiers, bool ftz) {
  const bool absolute = modifiers.Take("abs");
  if (modifiers.operand_count() == 4) {
    return absolute ? HostHandler<kExtreme3<kMax, kNan, true>, float, 3>(ftz, false)
                    : HostHandler<kExtreme3<kMax, kNan, false>, float, 3>(ftz, false);
  }
  if (modifiers.Take("xorsign") != absolute) return nullptr;
  return absolute ? HostHandler<kExtremeXorsign<kMax, kNan>, float, 2>(ftz, false)
                  : HostHandler<kExtreme<kMax, kNan>, float, 2>(ftz, false);
}

template <bool kMax>
Selection SelectExtreme(Modifiers& modifiers) {
  if (modifiers.type(0) == Type::kF32x2) return {};
  if (modifiers.type(0) == Type::kF64) {
    if (modifiers.operand_count() > 3) return {};
    return {kBinary<kWithModes<kExtreme<kMax, false>, false, false>, double>, InsnClass::kFloat64};
  }
  const bool ftz = modifiers.Take("ftz");
  const bool nan = modifiers.Take("NaN");
  Selection selection;
  selection.handler = nan ? PickExtreme<kMax, true>(modifiers, ftz) : PickExtreme<kMax, false>(modifiers, ftz);
  selection.insn_class = InsnClass::kFloat32;
  if (modifiers.operand_count() == 4) selection.form = "d0 s0 s0 s0";
  return selection;
}

// testp: the classes of numbers.
constexpr auto kFinite = [](auto x) { return std::isfinite(x); };
constexpr auto kInfinite = [](auto x) { return std::isinf(x); };
constexpr auto kNumber = [](auto x) { return x == x; };
constexpr auto kNotANumber = [](auto x) { return x != x; };
constexpr auto kNormal = [](auto x) { return std::isnormal(x) || x == 0; };  // zeros count as normal
constexpr auto kSubnormal = [](auto x) { return std::fpclassify(x) == FP_SUBNORMAL; };

template <auto kTest, typename T>
void Testp(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  LaneMask result = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) result |= LaneMask{kTest(a[lane])} << lane;
  WritePredicate(warp, insn.row[0], result, mask);
}

template <typename T>
Handler PickTestp(Modifiers& modifiers) {
  if (modifiers.Take("finite")) return Testp<kFinite, T>;
  if (modifiers.Take("infinite")) return Testp<kInfinite, T>;
  if (modifiers.Take("number")) return Testp<kNumber, T>;
  if (modifiers.Take("notanumber")) return Testp<kNotANumber, T>;
  if (modifiers.Take("normal")) return Testp<kNormal, T>;
  if (modifiers.Take("subnormal")) return Testp<kSubnormal, T>;
  return nullptr;
}

Selection SelectTestp(Modifiers& modifiers) {
  switch (modifiers.type(0)) {
    case Type::kF32:
      return {PickTestp<float>(modifiers)};
    case Type::kF64:
      return {PickTestp<double>(modifiers)};
    default:
      return {};
  }
}

LOCKSTEP_OPCODES(float, {
                            {"copysign", "d0 s0 s0", SelectCopysign, InsnClass::kFloat32},
                            {"testp", "dpred s0", SelectTestp, InsnClass::kPredicate},
                        });

}  // namespace

Selection SelectFloatAdd(Modifiers& modifiers) { return SelectArithmetic<kAdd, kSoftAdd, 2>(modifiers, false); }
Selection SelectFloatSub(Modifiers& modifiers) { return SelectArithmetic<kSub, kSoftSub, 2>(modifiers, false); }
Selection SelectFloatMul(Modifiers& modifiers) { return SelectArithmetic<kMul, kSoftMul, 2>(modifiers, false); }
Selection SelectFloatFma(Modifiers& modifiers) { return SelectArithmetic<kFma, kSoftFma, 3>(modifiers, true); }
Selection SelectFloatAbs(Modifiers& modifiers) { return SelectSign<kAbs>(modifiers); }
Selection SelectFloatNeg(Modifiers& modifiers) { return SelectSign<kNeg>(modifiers); }
Selection SelectFloatMin(Modifiers& modifiers) { return SelectExtreme<false>(modifiers); }
Selection SelectFloatMax(Modifiers& modifiers) { return SelectExtreme<true>(modifiers); }

}  // namespace lockstep::vgpu
