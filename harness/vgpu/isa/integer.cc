// Integer arithmetic: add, sub, mul, mad, sad, mul24, mad24, abs, neg, min, max. Division is in
// isa/integer_division.cc, the carry forms in isa/integer_carry.cc. Source: PTX ISA 9.0, 9.7.1.
#include <cstdint>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// The type twice as wide, of the same signedness, which holds a full product.
template <typename T, typename Signed>
using SignedAs = std::conditional_t<std::is_signed_v<T>, Signed, std::make_unsigned_t<Signed>>;
template <typename T>
using WiderOf =
    std::conditional_t<sizeof(T) == 2, SignedAs<T, int32_t>,
                       std::conditional_t<sizeof(T) == 4, SignedAs<T, int64_t>,
                                          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>>>;

// 16-bit operands promote to int, whose overflow is undefined: widen them to unsigned first.
template <typename T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

constexpr auto kAdd = [](auto a, auto b) {
  using W = Wrapping<decltype(a)>;
  return static_cast<W>(a) + static_cast<W>(b);
};
constexpr auto kSub = [](auto a, auto b) {
  using W = Wrapping<decltype(a)>;
  return static_cast<W>(a) - static_cast<W>(b);
};
constexpr auto kMin = [](auto a, auto b) { return a < b ? a : b; };
constexpr auto kMax = [](auto a, auto b) { return a > b ? a : b; };
constexpr auto kMinRelu = [](auto a, auto b) { return kMax(kMin(a, b), decltype(a){0}); };
constexpr auto kMaxRelu = [](auto a, auto b) { return kMax(kMax(a, b), decltype(a){0}); };
constexpr auto kNeg = [](auto a) { return 0 - static_cast<Wrapping<decltype(a)>>(a); };
constexpr auto kAbs = [](auto a) {
  const auto bits = static_cast<Wrapping<decltype(a)>>(a);
  return a < 0 ? 0 - bits : bits;
};

constexpr int32_t Saturate(int64_t value) {
  return static_cast<int32_t>(value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value);
}
constexpr auto kAddSat = [](int32_t a, int32_t b) { return Saturate(int64_t{a} + b); };
constexpr auto kSubSat = [](int32_t a, int32_t b) { return Saturate(int64_t{a} - b); };

constexpr auto kMulLo = [](auto a, auto b) {
  using W = Wrapping<decltype(a)>;
  return static_cast<W>(a) * static_cast<W>(b);
};
template <typename T>
constexpr T HighHalf(T a, T b) {
  return static_cast<T>((static_cast<WiderOf<T>>(a) * b) >> (8 * sizeof(T)));
}
constexpr auto kMulHi = [](auto a, auto b) { return HighHalf(a, b); };
constexpr auto kMulWide = [](auto a, auto b) {
  using W = WiderOf<decltype(a)>;
  return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
};
constexpr auto kMadLo = [](auto a, auto b, auto c) {
  using W = Wrapping<decltype(a)>;
  return static_cast<W>(a) * static_cast<W>(b) + static_cast<W>(c);
};
constexpr auto kMadHi = [](auto a, auto b, auto c) {
  using W = Wrapping<decltype(a)>;
  return static_cast<W>(HighHalf(a, b)) + static_cast<W>(c);
};
constexpr auto kMadHiSat = [](int32_t a, int32_t b, int32_t c) { return Saturate(int64_t{HighHalf(a, b)} + c); };
constexpr auto kMadWide = [](auto a, auto b, auto c) {
  using W = std::make_unsigned_t<decltype(c)>;
  return static_cast<W>(kMulWide(a, b)) + static_cast<W>(c);
};

// The 48-bit product of the low 24 bits.
constexpr int64_t Product24(int32_t a, int32_t b) {
  const auto low = [](int32_t x) { return int64_t{static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8}; };
  return low(a) * low(b);
}
constexpr uint64_t Product24(uint32_t a, uint32_t b) { return uint64_t{a & 0xffffff} * (b & 0xffffff); }
constexpr auto kMul24Lo = [](auto a, auto b) { return static_cast<uint32_t>(Product24(a, b)); };
constexpr auto kMul24Hi = [](auto a, auto b) { return static_cast<decltype(a)>(Product24(a, b) >> 16); };
constexpr auto kMad24Lo = [](auto a, auto b, auto c) { return kMul24Lo(a, b) + static_cast<uint32_t>(c); };
constexpr auto kMad24Hi = [](auto a, auto b, auto c) {
  return static_cast<uint32_t>(kMul24Hi(a, b)) + static_cast<uint32_t>(c);
};
constexpr auto kMad24HiSat = [](int32_t a, int32_t b, int32_t c) { return Saturate(int64_t{kMul24Hi(a, b)} + c); };

constexpr auto kSad = [](auto a, auto b, auto c) {
  using W = Wrapping<decltype(a)>;
  const W difference = a < b ? static_cast<W>(b) - static_cast<W>(a) : static_cast<W>(a) - static_cast<W>(b);
  return static_cast<W>(c) + difference;
};

template <auto kOp>
Handler PickBinary(Type type) {
  return ForIntegerType(type, [](auto x) { return kBinary<kOp, decltype(x)>; });
}
template <auto kOp>
Handler PickTernary(Type type) {
  return ForIntegerType(type, [](auto x) { return kTernary<kOp, decltype(x)>; });
}
template <auto kOp>
Handler PickSignedUnary(Type type) {
  return type == Type::kS16 || type == Type::kS32 || type == Type::kS64
             ? ForIntegerType(type, [](auto x) { return kUnary<kOp, decltype(x)>; })
             : nullptr;
}
template <auto kOp>
Handler PickBinary32(Type type) {
  return type == Type::kU32 ? kBinary<kOp, uint32_t> : type == Type::kS32 ? kBinary<kOp, int32_t> : nullptr;
}
template <auto kOp>
Handler PickTernary32(Type type) {
  return type == Type::kU32 ? kTernary<kOp, uint32_t> : type == Type::kS32 ? kTernary<kOp, int32_t> : nullptr;
}

template <auto kOp, auto kOpSat>
Selection SelectAddSub(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (type == Type::kS32 && modifiers.Take("sat")) return {kBinary<kOpSat, int32_t>};
  if (type == Type::kU16x2 || type == Type::kS16x2) return {kBinary<kPacked<kOp>, uint32_t>};
  return {PickBinary<kOp>(type)};
}

// With .relu (signed types only) and packed halves.
template <auto kOp, auto kOpRelu>
Selection SelectMinMax(Modifiers& modifiers) {
  if (modifiers.operand_count() > 3) return {};
  const Type type = modifiers.type(0);
  if ((type == Type::kS32 || type == Type::kS16x2) && modifiers.Take("relu")) {
    return {type == Type::kS32 ? kBinary<kOpRelu, int32_t> : kBinary<kPacked<kOpRelu, int16_t>, uint32_t>};
  }
  if (type == Type::kU16x2) return {kBinary<kPacked<kOp, uint16_t>, uint32_t>};
  if (type == Type::kS16x2) return {kBinary<kPacked<kOp, int16_t>, uint32_t>};
  return {PickBinary<kOp>(type)};
}

// mul24 and mad24; .sat exists only for mad24.hi.s32.
Selection SelectMul24(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (modifiers.Take("lo")) return {PickBinary32<kMul24Lo>(type)};
  if (modifiers.Take("hi")) return {PickBinary32<kMul24Hi>(type)};
  return {};
}

Selection SelectMad24(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (modifiers.Take("lo")) return {PickTernary32<kMad24Lo>(type)};
  if (!modifiers.Take("hi")) return {};
  if (type == Type::kS32 && modifiers.Take("sat")) return {kTernary<kMad24HiSat, int32_t>};
  return {PickTernary32<kMad24Hi>(type)};
}

Selection SelectSad(Modifiers& modifiers) { return {PickTernary<kSad>(modifiers.type(0))}; }

LOCKSTEP_OPCODES(integer, {
                              {"mul24", "d0 s0 s0", SelectMul24, InsnClass::kIntegerMultiply},
                              {"mad24", "d0 s0 s0 s0", SelectMad24, InsnClass::kIntegerMultiply},
                              {"sad", "d0 s0 s0 s0", SelectSad, InsnClass::kInteger},
                          });

}  // namespace

Selection SelectIntegerAdd(Modifiers& modifiers) {
  return modifiers.Take("cc") ? SelectCarryAdd(modifiers) : SelectAddSub<kAdd, kAddSat>(modifiers);
}

Selection SelectIntegerSub(Modifiers& modifiers) {
  return modifiers.Take("cc") ? SelectCarrySub(modifiers) : SelectAddSub<kSub, kSubSat>(modifiers);
}

Selection SelectIntegerMul(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (modifiers.Take("lo")) return {PickBinary<kMulLo>(type)};
  if (modifiers.Take("hi")) return {PickBinary<kMulHi>(type)};
  if (!modifiers.Take("wide")) return {};
  Selection selection;
  selection.form = "dw s0 s0";
  selection.handler = ForIntegerType(type, [](auto x) -> Handler {
    using T = decltype(x);
    if constexpr (sizeof(T) < 8) return Elementwise<kMulWide, WiderOf<T>, T, T>;
    return nullptr;
  });
  return selection;
}

Selection SelectIntegerMad(Modifiers& modifiers) {
  if (modifiers.Take("cc")) return SelectCarryMad(modifiers);
  const Type type = modifiers.type(0);
  if (modifiers.Take("lo")) return {PickTernary<kMadLo>(type)};
  if (modifiers.Take("hi")) {
    if (type == Type::kS32 && modifiers.Take("sat")) return {kTernary<kMadHiSat, int32_t>};
    return {PickTernary<kMadHi>(type)};
  }
  if (!modifiers.Take("wide")) return {};
  Selection selection;
  selection.form = "dw s0 s0 sw";
  selection.handler = ForIntegerType(type, [](auto x) -> Handler {
    using T = decltype(x);
    if constexpr (sizeof(T) < 8) return Elementwise<kMadWide, WiderOf<T>, T, T, WiderOf<T>>;
    return nullptr;
  });
  return selection;
}

Selection SelectIntegerAbs(Modifiers& modifiers) { return {PickSignedUnary<kAbs>(modifiers.type(0))}; }
Selection SelectIntegerNeg(Modifiers& modifiers) { return {PickSignedUnary<kNeg>(modifiers.type(0))}; }
Selection SelectIntegerMin(Modifiers& modifiers) { return SelectMinMax<kMin, kMinRelu>(modifiers); }
Selection SelectIntegerMax(Modifiers& modifiers) { return SelectMinMax<kMax, kMaxRelu>(modifiers); }

}  // namespace lockstep::vgpu
