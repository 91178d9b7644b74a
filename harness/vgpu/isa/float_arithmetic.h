// Shared by the f32 and f64 operations: canonical NaNs, flushing, saturation, and the fallback to soft_float.h for
// rounding modes that the host does not support.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "vgpu/isa/arithmetic.h"
#include "vgpu/isa/soft_float.h"

namespace lockstep::vgpu {

template <typename T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

template <typename T>
inline constexpr FloatFormat kFormatOf = sizeof(T) == 4 ? kSingleFormat : kDoubleFormat;

template <typename T>
constexpr T CanonicalNan() {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(kFormatOf<T>.nan));
}

// f32 has a single NaN. An f64 NaN propagates: the result is the last NaN operand, made quiet. The host's choice would
// depend on how the compiler orders operands.
template <typename T, typename... Operands>
constexpr T Canonical(T result, Operands... operands) {
  if constexpr (sizeof(T) == 4) {
    return result == result ? result : CanonicalNan<T>();
  } else {
    T nan = CanonicalNan<T>();
    constexpr uint64_t kQuiet = uint64_t{1} << 51;
    ((nan = operands == operands ? nan : std::bit_cast<T>(std::bit_cast<uint64_t>(operands) | kQuiet)), ...);
    return result == result ? result : nan;
  }
}

// The same for the operands of kOp. If several operands are NaN, an H200 returns, for a fused operation, the first of:
// second factor, addend, first factor; for a division, the dividend. kFirstNan marks operations with a dividend.
template <auto kOp, typename T>
constexpr T CanonicalOf(T result, T a) {
  return Canonical(result, a);
}
template <auto kOp, typename T>
constexpr T CanonicalOf(T result, T a, T b) {
  if constexpr (requires { kOp.kFirstNan; }) return Canonical(result, b, a);
  return Canonical(result, a, b);
}
template <auto kOp, typename T>
constexpr T CanonicalOf(T result, T a, T b, T c) {
  return Canonical(result, a, c, b);
}

// Replaces a subnormal number by zero of the same sign.
template <typename T>
constexpr T Flush(T x) {
  using B = BitsOf<T>;
  constexpr B kExponent = std::bit_cast<B>(std::numeric_limits<T>::infinity());
  constexpr B kSign = B{1} << (8 * sizeof(T) - 1);
  const B bits = std::bit_cast<B>(x);
  return std::bit_cast<T>((bits & kExponent) == 0 ? bits & kSign : bits);
}

// Clamps to [0, 1]; NaN gives 0.
template <typename T>
constexpr T Saturate01(T x) {
  return x > T{0} ? (x < T{1} ? x : T{1}) : T{0};
}

// kOp with .ftz and .sat applied.
template <auto kOp, bool kFtz, bool kSat>
constexpr auto kWithModes = [](auto... x) {
  auto result = CanonicalOf<kOp>(kOp((kFtz ? Flush(x) : x)...), x...);
  if (kFtz) result = Flush(result);
  if (kSat) result = Saturate01(result);
  return result;
};

// The modes of instructions without a handler per mode, as stored in Selection::extra.
struct FloatModes {
  Rounding rounding = Rounding::kNearestEven;
  bool ftz = false;
  bool sat = false;

  constexpr uint64_t Encode() const {
    return static_cast<uint64_t>(rounding) | uint64_t{ftz} << 8 | uint64_t{sat} << 9;
  }
  static constexpr FloatModes Decode(uint64_t extra) {
    return {static_cast<Rounding>(extra & 0xff), ((extra >> 8) & 1) != 0, ((extra >> 9) & 1) != 0};
  }
};

template <typename T>
Exact ToExact(T x) {
  return Unpack(std::bit_cast<BitsOf<T>>(x), kFormatOf<T>);
}
template <typename T>
T FromExact(const Exact& value, Rounding rounding) {
  return std::bit_cast<T>(static_cast<BitsOf<T>>(Pack(value, kFormatOf<T>, rounding)));
}

template <typename T>
constexpr T kLeastNormal = std::numeric_limits<T>::min();

// Applies .ftz to a result of kSoftOp; the operands have been flushed already.
template <auto kSoftOp, typename T, typename... Operands>
T FlushResult(T result, Rounding rounding, Operands... operands) {
  if (std::fabs(result) != kLeastNormal<T>) return Flush(result);
  const bool tiny = FlushesAfterRounding(kSoftOp(rounding, ToExact(operands)...), kFormatOf<T>, rounding);
  return tiny ? std::copysign(T{0}, result) : result;
}

// kSoftOp on Exact values, with the modes applied.
template <auto kSoftOp, typename T, typename... Operands>
T SoftResult(const FloatModes& modes, Operands... x) {
  const auto operand = [&](T value) { return modes.ftz ? Flush(value) : value; };
  const Exact exact = kSoftOp(modes.rounding, ToExact(operand(x))...);
  T result = CanonicalOf<kSoftOp>(FromExact<T>(exact, modes.rounding), x...);
  if (modes.ftz) result = FlushResult<kSoftOp>(result, modes.rounding, operand(x)...);
  return modes.sat ? Saturate01(result) : result;
}

// Row 0 = kSoftOp(rounding, row 1, row 2, …) on Exact values, with the modes in Insn::extra.
template <auto kSoftOp, typename T, size_t kSources>
void SoftElementwise(Warp& warp, const Insn& insn, LaneMask mask) {
  const FloatModes modes = FloatModes::Decode(insn.extra);
  const auto run = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    const T* sources[] = {Source<T>(warp, insn.row[kIndex + 1])...};
    T* d = Destination<T>(warp, insn.row[0]);
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if ((mask >> lane) & 1) d[lane] = SoftResult<kSoftOp, T>(modes, sources[kIndex][lane]...);
    }
  };
  run(std::make_index_sequence<kSources>{});
}

// .rn .rz .rm .rp; `found` is false if there is none.
struct RoundingModifier {
  bool found = false;
  Rounding rounding = Rounding::kNearestEven;
};
inline RoundingModifier TakeRounding(Modifiers& modifiers) {
  if (modifiers.Take("rn")) return {true, Rounding::kNearestEven};
  if (modifiers.Take("rz")) return {true, Rounding::kTowardZero};
  if (modifiers.Take("rm")) return {true, Rounding::kDown};
  if (modifiers.Take("rp")) return {true, Rounding::kUp};
  return {};
}

template <auto kValue>
struct Constant {
  static constexpr auto value = kValue;
};

// The handler for kOp with kSources operands of type T, using host instructions.
template <auto kOp, typename T, size_t kSources>
Handler HostHandler(bool ftz, bool sat) {
  const auto pick = [=]<size_t... kIndex>(std::index_sequence<kIndex...>) -> Handler {
    if (ftz) {
      return sat ? Elementwise<kWithModes<kOp, true, true>, T, decltype((void)kIndex, T{})...>
                 : Elementwise<kWithModes<kOp, true, false>, T, decltype((void)kIndex, T{})...>;
    }
    return sat ? Elementwise<kWithModes<kOp, false, true>, T, decltype((void)kIndex, T{})...>
               : Elementwise<kWithModes<kOp, false, false>, T, decltype((void)kIndex, T{})...>;
  };
  return pick(std::make_index_sequence<kSources>{});
}

// Row 0 = kOp of f32 operands with .ftz. Uses host instructions, except where the result is the least normal number.
template <auto kOp, auto kSoftOp, bool kSat, size_t kSources>
void FlushedElementwise(Warp& warp, const Insn& insn, LaneMask mask) {
  const auto apply = [&](const auto*... sources) {
    float result[kWarpSize];
    for (int lane = 0; lane < kWarpSize; ++lane) result[lane] = kWithModes<kOp, true, false>(sources[lane]...);
    uint32_t edges = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      edges |= std::fabs(result[lane]) == kLeastNormal<float> ? 1u : 0u;
    }
    for (int lane = 0; edges != 0 && lane < kWarpSize; ++lane) {
      result[lane] = FlushResult<kSoftOp>(result[lane], Rounding::kNearestEven, Flush(sources[lane])...);
    }
    ForLanesInPlace<float>(Destination<float>(warp, insn.row[0]), mask,
                           [&](int lane) { return kSat ? Saturate01(result[lane]) : result[lane]; });
  };
  const auto run = [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    apply(Source<float>(warp, insn.row[kIndex + 1])...);
  };
  run(std::make_index_sequence<kSources>{});
}

// A rounded operation: kOp on the host for .rn, kSoftOp for directed rounding modes.
template <auto kOp, auto kSoftOp, typename T, size_t kSources>
Selection SelectRounded(const FloatModes& modes, InsnClass insn_class) {
  Selection selection;
  selection.insn_class = insn_class;
  selection.extra = modes.Encode();
  if (modes.rounding != Rounding::kNearestEven) {
    selection.handler = SoftElementwise<kSoftOp, T, kSources>;
  } else if (modes.ftz && sizeof(T) == sizeof(float)) {
    selection.handler = modes.sat ? FlushedElementwise<kOp, kSoftOp, true, kSources>
                                  : FlushedElementwise<kOp, kSoftOp, false, kSources>;
  } else {
    selection.handler = HostHandler<kOp, T, kSources>(modes.ftz, modes.sat);
  }
  return selection;
}

}  // namespace lockstep::vgpu
