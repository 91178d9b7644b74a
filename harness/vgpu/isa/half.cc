// Arithmetic on f16, bf16 and their packed pairs. Source: PTX ISA 9.0, 9.7.4.
//
// Every result is rounded once. f32 is wide enough for sums in both formats and for f16 products: its 24 bits are 2p +
// 2 for f16's p = 11, so rounding to f32 first is harmless, and subnormal results are exact. Everything else uses f64,
// where products are exact and sums are rounded to odd.
#include <cstring>
#include <type_traits>

#ifdef __F16C__
#include <immintrin.h>
#endif

#include "vgpu/core/half_format.h"
#include "vgpu/isa/arithmetic.h"
#include "vgpu/isa/special_unit.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// Operations on values, each in the type that it needs.
constexpr auto kAdd = [](float a, float b) { return a + b; };
constexpr auto kSub = [](float a, float b) { return a - b; };
constexpr auto kMul = [](auto a, auto b) { return a * b; };
constexpr auto kFma = [](double a, double b, double c) { return AddToOdd(a * b, c); };

enum class Clamp : uint8_t { kNone, kSat, kRelu };

template <typename T>
constexpr T ClampTo(T value, Clamp clamp) {
  if (clamp == Clamp::kSat) return value > T{0} ? (value < T{1} ? value : T{1}) : T{0};
  if (clamp == Clamp::kRelu) return value > T{0} || value != value ? value : T{0};
  return value;
}

// Whether kOp's values are f32 in this format.
template <auto kOp, typename Format>
constexpr bool InSingle() {
  using Op = std::remove_cvref_t<decltype(kOp)>;
  const bool sum = std::is_same_v<Op, std::remove_cvref_t<decltype(kAdd)>> ||
                   std::is_same_v<Op, std::remove_cvref_t<decltype(kSub)>>;
  return sum || (std::is_same_v<Op, std::remove_cvref_t<decltype(kMul)>> && std::is_same_v<Format, Half>);
}

// Converts rows of encodings to f32 and back. Uses the host's f16 conversion if available; NaNs are made canonical.
template <typename Format, int kElements>
void Decode(const uint16_t* from, float* to) {
#ifdef __F16C__
  if constexpr (std::is_same_v<Format, Half>) {
    for (int k = 0; k < kElements; k += 8) {
      _mm256_storeu_ps(to + k, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k))));
    }
    return;
  }
#endif
  for (int k = 0; k < kElements; ++k) to[k] = Format::ToFloat(from[k]);
}
template <typename Format, int kElements>
void Encode(const float* from, uint16_t* to) {
#ifdef __F16C__
  if constexpr (std::is_same_v<Format, Half>) {
    for (int k = 0; k < kElements; k += 8) {
      const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + k), _MM_FROUND_TO_NEAREST_INT);
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + k), halves);
    }
    for (int k = 0; k < kElements; ++k) to[k] = (to[k] & 0x7fff) > Half::kExponent ? Half::kNan : to[k];
    return;
  }
#endif
  for (int k = 0; k < kElements; ++k) to[k] = Format::FromFloat(from[k]);
}

// One element or two for each lane.
template <int kElements>
void StoreElements(Warp& warp, const Insn& insn, LaneMask mask, const uint16_t* result) {
  if constexpr (kElements == kWarpSize) {
    ForLanesInPlace<uint16_t>(Destination<uint16_t>(warp, insn.row[0]), mask, [&](int lane) { return result[lane]; });
  } else {
    uint32_t pairs[kWarpSize];
    std::memcpy(pairs, result, sizeof pairs);
    ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [&](int lane) { return pairs[lane]; });
  }
}

// Turns an operation on values into a handler for rows of kElements encodings. Each stage is a separate loop over one
// width, which vectorises.
template <auto kOp, typename Format, bool kFtz, Clamp kClamp, int kElements, size_t kSources>
void EncodedElementwise(Warp& warp, const Insn& insn, LaneMask mask) {
  using Value = std::conditional_t<InSingle<kOp, Format>(), float, double>;
  // Values that round to less than the least normal number with unbounded exponent are flushed. (Only f16 has .ftz.)
  constexpr Value kLeastKept = static_cast<Value>(Format::kLeastNormal * (1 - 0x1p-12));
  Value operand[kSources][kElements];
  for (size_t s = 0; s < kSources; ++s) {
    const uint16_t* source = Source<uint16_t>(warp, insn.row[s + 1]);
    uint16_t encoded[kElements];
    for (int k = 0; k < kElements; ++k) encoded[k] = kFtz ? FlushEncoded<Format>(source[k]) : source[k];
    float single[kElements];
    Decode<Format, kElements>(encoded, single);
    for (int k = 0; k < kElements; ++k) operand[s][k] = single[k];
  }
  float rounded[kElements];
  const auto run = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    for (int k = 0; k < kElements; ++k) {
      Value value = ClampTo(kOp(operand[kIndex][k]...), kClamp);
      if (kFtz) value = std::fabs(value) < kLeastKept ? std::copysign(Value{0}, value) : value;
      if constexpr (std::is_same_v<Value, float>) {
        rounded[k] = value;
      } else {
        rounded[k] = RoundToOdd(value);
      }
    }
  };
  run(std::make_index_sequence<kSources>{});
  uint16_t result[kElements];
  Encode<Format, kElements>(rounded, result);
  StoreElements<kElements>(warp, insn, mask, result);
}

template <auto kOp, typename Format, bool kFtz, Clamp kClamp, size_t kSources>
Handler PickEncoded(bool packed) {
  return packed ? EncodedElementwise<kOp, Format, kFtz, kClamp, 2 * kWarpSize, kSources>
                : EncodedElementwise<kOp, Format, kFtz, kClamp, kWarpSize, kSources>;
}

// Pairs: treats a row as 64 elements.
template <auto kOp, size_t kSources>
void PackedElementwise(Warp& warp, const Insn& insn, LaneMask mask) {
  const auto run = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    const uint16_t* sources[] = {Source<uint16_t>(warp, insn.row[kIndex + 1])...};
    alignas(32) uint16_t result[2 * kWarpSize];
    for (int k = 0; k < 2 * kWarpSize; ++k) result[k] = kOp(sources[kIndex][k]...);
    uint32_t pairs[kWarpSize];
    std::memcpy(pairs, result, sizeof pairs);
    ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [&](int lane) { return pairs[lane]; });
  };
  run(std::make_index_sequence<kSources>{});
}

// The handler for one or two elements per lane.
template <auto kOp, size_t kSources>
Handler PickWidth(bool packed) {
  if (packed) return PackedElementwise<kOp, kSources>;
  const auto pick = []<size_t... kIndex>(std::index_sequence<kIndex...>) -> Handler {
    return Elementwise<kOp, uint16_t, decltype((void)kIndex, uint16_t{})...>;
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
      return PickEncoded<kOp, Format, kFtz, Clamp::kNone, kSources>(packed);
    case Clamp::kSat:
      return PickEncoded<kOp, Format, kFtz, Clamp::kSat, kSources>(packed);
    case Clamp::kRelu:
      return PickEncoded<kOp, Format, kFtz, Clamp::kRelu, kSources>(packed);
  }
  return nullptr;
}

// .ftz and .sat exist only for f16, .relu only for fma.
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

// Maps encodings to integers in the order of their values, -0 below +0.
constexpr int32_t OrderOf(uint16_t encoded) {
  const int32_t magnitude = encoded & 0x7fff;
  return encoded & 0x8000 ? -magnitude - 1 : magnitude;
}

// min and max. Returns the number if the other operand is a NaN, except with .NaN.
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

// The special function unit's f32 result, cut to the format.
template <typename Format>
uint16_t CutFromFloat(uint32_t bits) {
  const uint32_t magnitude = bits & 0x7fffffff;
  const uint32_t sign = (bits >> 16) & 0x8000u;
  if constexpr (std::is_same_v<Format, Bfloat>) {
    return static_cast<uint16_t>(bits >> 16);  // the unit's NaN is 0x7fffffff
  } else {
    const uint32_t normal = (magnitude - (112u << 23)) >> 13;
    const float small = std::bit_cast<float>(magnitude < 0x38800000 ? magnitude : 0);
    const auto subnormal = static_cast<uint32_t>(static_cast<int32_t>(small * 0x1p24f));
    uint32_t cut = magnitude >= 0x38800000 ? normal : subnormal;
    cut = magnitude >= 0x47800000 ? uint32_t{Half::kExponent} : cut;
    return static_cast<uint16_t>(magnitude > special_unit::kInfinityBits ? uint32_t{Half::kNan} : sign | cut);
  }
}

template <typename Function, typename Format, int kElements>
void UnitHandler(Warp& warp, const Insn& insn, LaneMask mask) {
  const uint16_t* source = Source<uint16_t>(warp, insn.row[1]);
  uint32_t single[kElements];
  for (int k = 0; k < kElements; ++k) single[k] = std::bit_cast<uint32_t>(Format::ToFloat(source[k]));
  special_unit::Evaluate<Function, kElements>(single, single);
  uint16_t result[kElements];
  for (int k = 0; k < kElements; ++k) result[k] = CutFromFloat<Format>(single[k]);
  StoreElements<kElements>(warp, insn, mask, result);
}

template <typename Function>
Selection SelectFunction(Modifiers& modifiers, bool bfloat_flushes) {
  const HalfType type = TypeOf(modifiers);
  if (!modifiers.Take("approx")) return {};
  if (type.bfloat && bfloat_flushes && !modifiers.Take("ftz")) return {};
  if (type.bfloat) {
    return {type.packed ? UnitHandler<Function, Bfloat, 2 * kWarpSize> : UnitHandler<Function, Bfloat, kWarpSize>};
  }
  return {type.packed ? UnitHandler<Function, Half, 2 * kWarpSize> : UnitHandler<Function, Half, kWarpSize>};
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
Selection SelectHalfEx2(Modifiers& modifiers) { return SelectFunction<special_unit::Power>(modifiers, true); }
Selection SelectHalfTanh(Modifiers& modifiers) { return SelectFunction<special_unit::Tangent>(modifiers, false); }

}  // namespace lockstep::vgpu
