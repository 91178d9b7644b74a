// Counting, searching, moving and extracting bits and bytes: popc, clz, bfind, fns, brev, bfe, bfi, bmsk, szext,
// prmt, dp4a, dp2a. Source: PTX ISA 9.0, 9.7.1 and 9.7.9.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr auto kPopc = [](auto a) { return static_cast<uint32_t>(std::popcount(a)); };
constexpr auto kClz = [](auto a) { return static_cast<uint32_t>(std::countl_zero(a)); };

// The highest bit that differs from the sign; all ones when there is none.
constexpr auto kBfind = [](auto a) {
  using U = std::make_unsigned_t<decltype(a)>;
  const U bits = static_cast<U>(a < 0 ? ~a : a);
  return static_cast<uint32_t>(8 * sizeof a - 1) - static_cast<uint32_t>(std::countl_zero(bits));
};
// The same, as the left shift that moves the bit to the top.
constexpr auto kBfindShift = [](auto a) {
  const uint32_t position = kBfind(a);
  return position == ~0u ? position : static_cast<uint32_t>(8 * sizeof a - 1) - position;
};

constexpr auto kBrev = [](auto a) {
  using T = decltype(a);
  const auto swap = [](T x, int distance, T low) {
    return static_cast<T>(((x >> distance) & low) | ((x & low) << distance));
  };
  a = swap(a, 1, static_cast<T>(0x5555555555555555));
  a = swap(a, 2, static_cast<T>(0x3333333333333333));
  a = swap(a, 4, static_cast<T>(0x0f0f0f0f0f0f0f0f));
  if constexpr (sizeof a == 8) return __builtin_bswap64(a);
  return static_cast<T>(__builtin_bswap32(static_cast<uint32_t>(a)));
};

// The offset-th bit that is set, counted from base, upward or downward.
constexpr auto kFns = [](uint32_t bits, uint32_t base, int32_t offset) -> uint32_t {
  if (offset == INT32_MIN) return 0;  // measured on an H200
  if (base >= 32) return ~0u;
  if (offset == 0) return (bits >> base) & 1 ? base : ~0u;
  const int step = offset > 0 ? 1 : -1;
  int64_t left = offset > 0 ? int64_t{offset} : -int64_t{offset};
  for (int position = static_cast<int>(base); position >= 0 && position < 32; position += step) {
    if (((bits >> position) & 1) != 0 && --left == 0) return static_cast<uint32_t>(position);
  }
  return ~0u;
};

// Position and length count modulo 256 in the 32-bit forms, and in full in the 64-bit ones (seen on an H200). Bits
// beyond the top are copies of the sign.
constexpr auto kBfe = [](auto a, uint32_t position, uint32_t length) {
  using T = decltype(a);
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t kBits = 8 * sizeof(T);
  constexpr uint32_t kRange = kBits == 32 ? 0xff : 0xffffffff;
  position &= kRange;
  length &= kRange;
  const U sign = a < 0 ? static_cast<U>(~U{0}) : U{0};
  const U shifted = position >= kBits ? sign : static_cast<U>(a >> (position & (kBits - 1)));
  const uint32_t spare = length >= kBits || length == 0 ? 0 : kBits - length;
  const T field = static_cast<T>(static_cast<T>(shifted << spare) >> spare);
  return length == 0 ? U{0} : static_cast<U>(field);
};

constexpr auto kBfi = [](auto a, auto b, uint32_t position, uint32_t length) {
  using T = decltype(a);
  constexpr uint32_t kBits = 8 * sizeof(T);
  constexpr uint32_t kRange = kBits == 32 ? 0xff : 0xffffffff;
  position &= kRange;
  length &= kRange;
  const T ones = length >= kBits ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << (length & (kBits - 1))) - 1);
  const uint32_t shift = position & (kBits - 1);
  const T field = position >= kBits ? T{0} : static_cast<T>(ones << shift);
  return static_cast<T>((b & ~field) | ((a << shift) & field));
};

// `length` ones from `position` on.
constexpr auto kBmskClamp = [](uint32_t position, uint32_t length) {
  const uint64_t ones = length >= 32 ? 0xffffffffu : (uint64_t{1} << length) - 1;
  return position >= 32 ? 0u : static_cast<uint32_t>(ones << position);
};
constexpr auto kBmskWrap = [](uint32_t position, uint32_t length) { return kBmskClamp(position & 31, length & 31); };

// The low `width` bits, zero- or sign-extended.
constexpr auto kSzextClamp = [](auto a, uint32_t width) -> uint32_t {
  if (width >= 32) return static_cast<uint32_t>(a);
  if (width == 0) return 0;
  return static_cast<uint32_t>(static_cast<decltype(a)>(static_cast<uint32_t>(a) << (32 - width)) >> (32 - width));
};
constexpr auto kSzextWrap = [](auto a, uint32_t width) { return kSzextClamp(a, width & 31); };

// The byte of {b, a} that the selector's low three bits name; with bit 3, eight copies of its sign bit.
constexpr uint32_t SelectByte(uint64_t bytes, uint32_t selector) {
  const uint32_t byte = static_cast<uint32_t>(bytes >> (8 * (selector & 7))) & 0xff;
  const uint32_t sign = byte & 0x80 ? 0xffu : 0u;
  return selector & 8 ? sign : byte;
}
// kSelector gives the selector of result byte k from the third operand.
template <auto kSelector>
constexpr auto kPermute = [](uint32_t a, uint32_t b, uint32_t control) {
  const uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t result = 0;
  for (uint32_t k = 0; k < 4; ++k) result |= SelectByte(bytes, kSelector(control, k)) << (8 * k);
  return result;
};
constexpr auto kByNibbles = [](uint32_t control, uint32_t k) { return (control >> (4 * k)) & 0xf; };
constexpr auto kForwardExtract = [](uint32_t control, uint32_t k) { return ((control & 3) + k) & 7; };
constexpr auto kBackwardExtract = [](uint32_t control, uint32_t k) { return ((control & 3) - k) & 7; };
constexpr auto kReplicate8 = [](uint32_t control, uint32_t) { return control & 3; };
constexpr auto kEdgeLeft = [](uint32_t control, uint32_t k) { return std::max(control & 3, k); };
constexpr auto kEdgeRight = [](uint32_t control, uint32_t k) { return std::min(control & 3, k); };
constexpr auto kReplicate16 = [](uint32_t control, uint32_t k) { return (control & 1) * 2 + (k & 1); };

// Field k of the given type in a word.
template <typename T>
constexpr uint32_t Field(uint32_t word, int k) {
  return static_cast<uint32_t>(static_cast<int32_t>(static_cast<T>(word >> (8 * sizeof(T) * k))));
}
template <typename A, typename B>
constexpr auto kDp4a = [](uint32_t a, uint32_t b, uint32_t c) {
  for (int k = 0; k < 4; ++k) c += Field<A>(a, k) * Field<B>(b, k);
  return c;
};
// Halves of a times the low or high two bytes of b.
template <typename A, typename B, int kFirst>
constexpr auto kDp2a = [](uint32_t a, uint32_t b, uint32_t c) {
  for (int k = 0; k < 2; ++k) c += Field<A>(a, k) * Field<B>(b, kFirst + k);
  return c;
};

template <auto kOp>
Selection SelectCount(Modifiers& modifiers) {
  switch (modifiers.type(0)) {
    case Type::kB32:
      return {Elementwise<kOp, uint32_t, uint32_t>};
    case Type::kB64:
      return {Elementwise<kOp, uint32_t, uint64_t>};
    default:
      return {};
  }
}

Selection SelectBfind(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (type == Type::kU16 || type == Type::kS16) return {};
  const bool shift = modifiers.Take("shiftamt");
  return {ForIntegerType(type, [=](auto x) -> Handler {
    using T = decltype(x);
    return shift ? Elementwise<kBfindShift, uint32_t, T> : Elementwise<kBfind, uint32_t, T>;
  })};
}

Selection SelectFns(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kB32) return {};
  return {Elementwise<kFns, uint32_t, uint32_t, uint32_t, int32_t>};
}

Selection SelectBrev(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  return {type == Type::kB32 ? kUnary<kBrev, uint32_t> : type == Type::kB64 ? kUnary<kBrev, uint64_t> : nullptr};
}

Selection SelectBfe(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (type == Type::kU16 || type == Type::kS16) return {};
  return {ForIntegerType(type, [](auto x) -> Handler {
    using T = decltype(x);
    return Elementwise<kBfe, T, T, uint32_t, uint32_t>;
  })};
}

Selection SelectBfi(Modifiers& modifiers) {
  switch (modifiers.type(0)) {
    case Type::kB32:
      return {Elementwise<kBfi, uint32_t, uint32_t, uint32_t, uint32_t, uint32_t>};
    case Type::kB64:
      return {Elementwise<kBfi, uint64_t, uint64_t, uint64_t, uint32_t, uint32_t>};
    default:
      return {};
  }
}

Selection SelectBmsk(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kB32) return {};
  if (modifiers.Take("clamp")) return {kBinary<kBmskClamp, uint32_t>};
  if (modifiers.Take("wrap")) return {kBinary<kBmskWrap, uint32_t>};
  return {};
}

Selection SelectSzext(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (type != Type::kU32 && type != Type::kS32) return {};
  const bool is_signed = type == Type::kS32;
  if (modifiers.Take("clamp")) {
    return {is_signed ? Elementwise<kSzextClamp, uint32_t, int32_t, uint32_t> : kBinary<kSzextClamp, uint32_t>};
  }
  if (modifiers.Take("wrap")) {
    return {is_signed ? Elementwise<kSzextWrap, uint32_t, int32_t, uint32_t> : kBinary<kSzextWrap, uint32_t>};
  }
  return {};
}

Selection SelectPrmt(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kB32) return {};
  const std::string mode = modifiers.TakeAny({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  if (mode == "f4e") return {kTernary<kPermute<kForwardExtract>, uint32_t>};
  if (mode == "b4e") return {kTernary<kPermute<kBackwardExtract>, uint32_t>};
  if (mode == "rc8") return {kTernary<kPermute<kReplicate8>, uint32_t>};
  if (mode == "ecl") return {kTernary<kPermute<kEdgeLeft>, uint32_t>};
  if (mode == "ecr") return {kTernary<kPermute<kEdgeRight>, uint32_t>};
  if (mode == "rc16") return {kTernary<kPermute<kReplicate16>, uint32_t>};
  return {kTernary<kPermute<kByNibbles>, uint32_t>};
}

// dp4a and dp2a name the types of a and b; the rest is 32 bits wide.
struct DotTypes {
  bool valid, a_signed, b_signed;
};
DotTypes DotTypesOf(const Modifiers& modifiers) {
  const auto is_word = [](Type type) { return type == Type::kU32 || type == Type::kS32; };
  return {modifiers.type_count() == 2 && is_word(modifiers.type(0)) && is_word(modifiers.type(1)),
          modifiers.type(0) == Type::kS32, modifiers.type(1) == Type::kS32};
}

Selection SelectDp4a(Modifiers& modifiers) {
  const DotTypes types = DotTypesOf(modifiers);
  if (!types.valid) return {};
  if (types.a_signed) {
    return {types.b_signed ? kTernary<kDp4a<int8_t, int8_t>, uint32_t> : kTernary<kDp4a<int8_t, uint8_t>, uint32_t>};
  }
  return {types.b_signed ? kTernary<kDp4a<uint8_t, int8_t>, uint32_t> : kTernary<kDp4a<uint8_t, uint8_t>, uint32_t>};
}

template <int kFirst>
Handler PickDp2a(const DotTypes& types) {
  if (types.a_signed) {
    return types.b_signed ? kTernary<kDp2a<int16_t, int8_t, kFirst>, uint32_t>
                          : kTernary<kDp2a<int16_t, uint8_t, kFirst>, uint32_t>;
  }
  return types.b_signed ? kTernary<kDp2a<uint16_t, int8_t, kFirst>, uint32_t>
                        : kTernary<kDp2a<uint16_t, uint8_t, kFirst>, uint32_t>;
}

Selection SelectDp2a(Modifiers& modifiers) {
  const DotTypes types = DotTypesOf(modifiers);
  if (!types.valid) return {};
  if (modifiers.Take("lo")) return {PickDp2a<0>(types)};
  if (modifiers.Take("hi")) return {PickDp2a<2>(types)};
  return {};
}

LOCKSTEP_OPCODES(bit_fields, {
                                 {"popc", "du32 s0", SelectCount<kPopc>, InsnClass::kInteger},
                                 {"clz", "du32 s0", SelectCount<kClz>, InsnClass::kInteger},
                                 {"bfind", "du32 s0", SelectBfind, InsnClass::kInteger},
                                 {"fns", "du32 s0 su32 ss32", SelectFns, InsnClass::kInteger},
                                 {"brev", "d0 s0", SelectBrev, InsnClass::kInteger},
                                 {"bfe", "d0 s0 su32 su32", SelectBfe, InsnClass::kInteger, {}, Meaning::kExtract},
                                 {"bfi", "d0 s0 s0 su32 su32", SelectBfi, InsnClass::kInteger, {}, Meaning::kInsert},
                                 {"bmsk", "d0 su32 su32", SelectBmsk, InsnClass::kInteger},
                                 {"szext", "d0 s0 su32", SelectSzext, InsnClass::kInteger},
                                 {"prmt", "d0 s0 s0 su32", SelectPrmt, InsnClass::kInteger, {}, Meaning::kPermute},
                                 {"dp4a", "du32 s0 s1 su32", SelectDp4a, InsnClass::kIntegerMultiply},
                                 {"dp2a", "du32 s0 s1 su32", SelectDp2a, InsnClass::kIntegerMultiply},
                             });

}  // namespace
}  // namespace lockstep::vgpu
