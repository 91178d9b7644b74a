// Comparison and selection: setp, set, selp, slct. Source: PTX ISA 9.0, 9.7.6 and 9.7.7.
//
// setp is hot: each comparison of integers, f32 and f64 has its own handler, which compiles to vector compares. For the
// 16-bit floats and set, Insn::extra holds the comparison.
#include "vgpu/core/half_format.h"
#include "vgpu/isa/compare_lanes.h"
#include "vgpu/isa/float_arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

// Calls visit(Constant<op>) for the op known at run time.
template <typename F>
auto WithOp(CompareOp op, F visit) {
  constexpr size_t kOps = static_cast<size_t>(CompareOp::kNan) + 1;
  return [&]<size_t... kIndex>(std::index_sequence<kIndex...>) {
    decltype(visit(Constant<CompareOp::kNan>{})) result{};
    ((static_cast<size_t>(op) == kIndex && (result = visit(Constant<static_cast<CompareOp>(kIndex)>{}), true)) || ...);
    return result;
  }(std::make_index_sequence<kOps>{});
}

enum class BoolOp : uint8_t { kNone, kAnd, kOr, kXor };

struct CompareModes {
  CompareOp op = CompareOp::kEq;
  BoolOp bool_op = BoolOp::kNone;
  bool ftz = false;

  uint64_t Encode() const {
    return static_cast<uint64_t>(op) | static_cast<uint64_t>(bool_op) << 8 | uint64_t{ftz} << 16;
  }
  static CompareModes Decode(uint64_t extra) {
    return {static_cast<CompareOp>(extra & 0xff), static_cast<BoolOp>((extra >> 8) & 0xff), ((extra >> 16) & 1) != 0};
  }
};

LaneMask Combine(BoolOp op, LaneMask a, LaneMask b) {
  switch (op) {
    case BoolOp::kAnd:
      return a & b;
    case BoolOp::kOr:
      return a | b;
    case BoolOp::kXor:
      return a ^ b;
    case BoolOp::kNone:
      break;
  }
  return a;
}

// Rows of setp: p, q, a, b, c.
template <CompareOp kOp, bool kFtz, typename T>
LaneMask CompareSources(const Warp& warp, const Insn& insn) {
  const T *a = Source<T>(warp, insn.row[2]), *b = Source<T>(warp, insn.row[3]);
  if constexpr (kFtz) {
    constexpr auto kFlushed = [](T x, T y) { return kCompare<kOp>(Flush(x), Flush(y)); };
    return TestLanes<kFlushed>(a, b);
  } else {
    return CompareLanes<kOp>(a, b);
  }
}

template <CompareOp kOp, bool kFtz, typename T>
void Setp(Warp& warp, const Insn& insn, LaneMask mask) {
  const LaneMask result = CompareSources<kOp, kFtz, T>(warp, insn);
  WritePredicate(warp, insn.row[0], result, mask);
  WritePredicate(warp, insn.row[1], ~result, mask);
}

template <CompareOp kOp, bool kFtz, typename T>
void SetpCombined(Warp& warp, const Insn& insn, LaneMask mask) {
  const LaneMask result = CompareSources<kOp, kFtz, T>(warp, insn);
  const BoolOp bool_op = CompareModes::Decode(insn.extra).bool_op;
  const LaneMask c = PredicateSource(warp, insn, 4);
  WritePredicate(warp, insn.row[0], Combine(bool_op, result, c), mask);
  WritePredicate(warp, insn.row[1], Combine(bool_op, ~result, c), mask);
}

// Converts a stored element to a comparable value.
template <typename T>
struct Plain {
  using Stored = T;
  static T Value(T x, bool ftz) {
    if constexpr (std::is_same_v<T, float>) return ftz ? Flush(x) : x;
    return x;
  }
};
template <typename Format, int kShift, typename S>
struct Encoded {
  using Stored = S;
  static float Value(S x, bool ftz) {
    const auto encoded = static_cast<uint16_t>(x >> kShift);
    return Format::ToFloat(ftz ? FlushEncoded<Format>(encoded) : encoded);
  }
};
template <typename Format>
using Scalar16 = Encoded<Format, 0, uint16_t>;
template <typename Format>
using Low16 = Encoded<Format, 0, uint32_t>;
template <typename Format>
using High16 = Encoded<Format, 16, uint32_t>;

// Any comparison, chosen at run time.
template <typename Element>
LaneMask CompareRows(const Warp& warp, RowRef a_row, RowRef b_row, const CompareModes& modes) {
  const auto* a = Source<typename Element::Stored>(warp, a_row);
  const auto* b = Source<typename Element::Stored>(warp, b_row);
  return WithOp(modes.op, [&](auto op) {
    LaneMask result = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const auto x = Element::Value(a[lane], modes.ftz);
      const auto y = Element::Value(b[lane], modes.ftz);
      result |= LaneMask{kCompare<decltype(op)::value>(x, y)} << lane;
    }
    return result;
  });
}

template <typename Element>
void SetpAny(Warp& warp, const Insn& insn, LaneMask mask) {
  const CompareModes modes = CompareModes::Decode(insn.extra);
  const LaneMask result = CompareRows<Element>(warp, insn.row[2], insn.row[3], modes);
  const LaneMask c = modes.bool_op == BoolOp::kNone ? 0 : PredicateSource(warp, insn, 4);
  WritePredicate(warp, insn.row[0], Combine(modes.bool_op, result, c), mask);
  WritePredicate(warp, insn.row[1], Combine(modes.bool_op, ~result, c), mask);
}

// Pairs: p gets the comparison of the low halves, q that of the high halves.
template <typename Format>
void SetpPair(Warp& warp, const Insn& insn, LaneMask mask) {
  const CompareModes modes = CompareModes::Decode(insn.extra);
  const LaneMask low = CompareRows<Low16<Format>>(warp, insn.row[2], insn.row[3], modes);
  const LaneMask high = CompareRows<High16<Format>>(warp, insn.row[2], insn.row[3], modes);
  const LaneMask c = modes.bool_op == BoolOp::kNone ? 0 : PredicateSource(warp, insn, 4);
  WritePredicate(warp, insn.row[0], Combine(modes.bool_op, low, c), mask);
  WritePredicate(warp, insn.row[1], Combine(modes.bool_op, high, c), mask);
}

// Rows of set: d, a, b, c. kTrue (all ones, or 1.0 for a float type) if the comparison holds, otherwise 0.
template <typename Element, typename D, D kTrue>
void Set(Warp& warp, const Insn& insn, LaneMask mask) {
  const CompareModes modes = CompareModes::Decode(insn.extra);
  LaneMask result = CompareRows<Element>(warp, insn.row[1], insn.row[2], modes);
  if (modes.bool_op != BoolOp::kNone) result = Combine(modes.bool_op, result, PredicateSource(warp, insn, 3));
  ForLanesInPlace<D>(Destination<D>(warp, insn.row[0]), mask,
                     [=](int lane) { return static_cast<D>((result >> lane) & 1 ? kTrue : D{0}); });
}

template <typename Format, uint16_t kTrue>
void SetPair(Warp& warp, const Insn& insn, LaneMask mask) {
  const CompareModes modes = CompareModes::Decode(insn.extra);
  LaneMask low = CompareRows<Low16<Format>>(warp, insn.row[1], insn.row[2], modes);
  LaneMask high = CompareRows<High16<Format>>(warp, insn.row[1], insn.row[2], modes);
  if (modes.bool_op != BoolOp::kNone) {
    const LaneMask c = PredicateSource(warp, insn, 3);
    low = Combine(modes.bool_op, low, c);
    high = Combine(modes.bool_op, high, c);
  }
  ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, [=](int lane) {
    return ((low >> lane) & 1 ? uint32_t{kTrue} : 0u) | ((high >> lane) & 1 ? uint32_t{kTrue} << 16 : 0u);
  });
}

enum class Comparands : uint8_t { kNone, kBits, kSigned, kUnsigned, kFloat };

Comparands ComparandsOf(Type type) {
  switch (type) {
    case Type::kB16:
    case Type::kB32:
    case Type::kB64:
      return Comparands::kBits;
    case Type::kS16:
    case Type::kS32:
    case Type::kS64:
      return Comparands::kSigned;
    case Type::kU16:
    case Type::kU32:
    case Type::kU64:
      return Comparands::kUnsigned;
    case Type::kF32:
    case Type::kF64:
    case Type::kF16:
    case Type::kF16x2:
    case Type::kBF16:
    case Type::kBF16x2:
      return Comparands::kFloat;
    default:
      return Comparands::kNone;
  }
}

// The comparison that the modifiers name, if the type has it.
bool TakeCompareOp(Modifiers& modifiers, Comparands comparands, CompareOp* op) {
  struct Word {
    std::string_view name;
    CompareOp op;
  };
  const auto take = [&](std::initializer_list<Word> words) {
    for (const Word& word : words) {
      if (modifiers.Take(word.name)) {
        *op = word.op;
        return true;
      }
    }
    return false;
  };
  if (comparands == Comparands::kNone) return false;
  if (take({{"eq", CompareOp::kEq}, {"ne", CompareOp::kNe}})) return true;
  if (comparands == Comparands::kBits) return false;
  if (take({{"lt", CompareOp::kLt}, {"le", CompareOp::kLe}, {"gt", CompareOp::kGt}, {"ge", CompareOp::kGe}})) {
    return true;
  }
  if (comparands == Comparands::kUnsigned) {
    return take({{"lo", CompareOp::kLt}, {"ls", CompareOp::kLe}, {"hi", CompareOp::kGt}, {"hs", CompareOp::kGe}});
  }
  return comparands == Comparands::kFloat && take({{"equ", CompareOp::kEqu},
                                                   {"neu", CompareOp::kNeu},
                                                   {"ltu", CompareOp::kLtu},
                                                   {"leu", CompareOp::kLeu},
                                                   {"gtu", CompareOp::kGtu},
                                                   {"geu", CompareOp::kGeu},
                                                   {"num", CompareOp::kNum},
                                                   {"nan", CompareOp::kNan}});
}

// Everything that setp and set have in common.
bool TakeModes(Modifiers& modifiers, Type type, CompareModes* modes) {
  const Comparands comparands = ComparandsOf(type);
  if (!TakeCompareOp(modifiers, comparands, &modes->op)) return false;
  const std::string bool_op = modifiers.TakeAny({"and", "or", "xor"});
  if (bool_op == "and") modes->bool_op = BoolOp::kAnd;
  if (bool_op == "or") modes->bool_op = BoolOp::kOr;
  if (bool_op == "xor") modes->bool_op = BoolOp::kXor;
  if (comparands == Comparands::kFloat && type != Type::kF64) modes->ftz = modifiers.Take("ftz");
  return true;
}

template <typename T>
Handler PickSetp(const CompareModes& modes) {
  return WithOp(modes.op, [&](auto op) -> Handler {
    constexpr CompareOp kOp = decltype(op)::value;
    if constexpr (std::is_integral_v<T> && kOp > CompareOp::kGe) {
      return nullptr;
    } else {
      if constexpr (std::is_same_v<T, float>) {
        if (modes.ftz) return modes.bool_op == BoolOp::kNone ? Setp<kOp, true, T> : SetpCombined<kOp, true, T>;
      }
      return modes.bool_op == BoolOp::kNone ? Setp<kOp, false, T> : SetpCombined<kOp, false, T>;
    }
  });
}

Handler PickSetp(Type type, const CompareModes& modes) {
  switch (type) {
    case Type::kF32:
      return PickSetp<float>(modes);
    case Type::kF64:
      return PickSetp<double>(modes);
    case Type::kF16:
      return SetpAny<Scalar16<Half>>;
    case Type::kBF16:
      return SetpAny<Scalar16<Bfloat>>;
    case Type::kF16x2:
      return SetpPair<Half>;
    case Type::kBF16x2:
      return SetpPair<Bfloat>;
    case Type::kB16:
      return PickSetp<uint16_t>(modes);
    case Type::kB32:
      return PickSetp<uint32_t>(modes);
    case Type::kB64:
      return PickSetp<uint64_t>(modes);
    default:
      return ForIntegerType(type, [&](auto x) { return PickSetp<decltype(x)>(modes); });
  }
}

Selection SelectSetp(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  CompareModes modes;
  if (modifiers.type_count() != 1 || !TakeModes(modifiers, type, &modes)) return {};
  Selection selection;
  selection.handler = PickSetp(type, modes);
  selection.form = modes.bool_op == BoolOp::kNone ? "dpred|dpred s0 s0" : "dpred|dpred s0 s0 spred";
  selection.extra = modes.Encode();
  return selection;
}

template <typename Element>
Handler PickSet(Type type) {
  switch (type) {
    case Type::kU32:
    case Type::kS32:
      return Set<Element, uint32_t, 0xffffffffu>;
    case Type::kF32:
      return Set<Element, uint32_t, 0x3f800000u>;
    default:
      return nullptr;
  }
}

// The 16-bit floats may also give 16-bit results.
template <typename Format>
Handler PickSet16(Type type, Type own_type) {
  if (type == Type::kU16 || type == Type::kS16) return Set<Scalar16<Format>, uint16_t, 0xffff>;
  if (type != own_type) return PickSet<Scalar16<Format>>(type);
  return Set < Scalar16<Format>, uint16_t, std::is_same_v<Format, Half> ? 0x3c00 : 0x3f80 > ;
}

bool IsWord(Type type) { return type == Type::kU32 || type == Type::kS32; }

Handler PickSet(Type destination, Type source) {
  switch (source) {
    case Type::kF32:
      return PickSet<Plain<float>>(destination);
    case Type::kF64:
      return PickSet<Plain<double>>(destination);
    case Type::kF16:
      return PickSet16<Half>(destination, source);
    case Type::kBF16:
      return PickSet16<Bfloat>(destination, source);
    case Type::kF16x2:
      return destination == source ? SetPair<Half, 0x3c00> : IsWord(destination) ? SetPair<Half, 0xffff> : nullptr;
    case Type::kBF16x2:
      return destination == source ? SetPair<Bfloat, 0x3f80> : IsWord(destination) ? SetPair<Bfloat, 0xffff> : nullptr;
    case Type::kB16:
      return PickSet<Plain<uint16_t>>(destination);
    case Type::kB32:
      return PickSet<Plain<uint32_t>>(destination);
    case Type::kB64:
      return PickSet<Plain<uint64_t>>(destination);
    default:
      return ForIntegerType(source, [=](auto x) { return PickSet<Plain<decltype(x)>>(destination); });
  }
}

Selection SelectSet(Modifiers& modifiers) {
  CompareModes modes;
  if (modifiers.type_count() != 2 || !TakeModes(modifiers, modifiers.type(1), &modes)) return {};
  Selection selection;
  selection.form = modes.bool_op == BoolOp::kNone ? "d0 s1 s1" : "d0 s1 s1 spred";
  selection.handler = PickSet(modifiers.type(0), modifiers.type(1));
  selection.extra = modes.Encode();
  return selection;
}

// Rows: d, a, b, c.
template <typename T>
void Selp(Warp& warp, const Insn& insn, LaneMask mask) {
  const T* a = Source<T>(warp, insn.row[1]);
  const T* b = Source<T>(warp, insn.row[2]);
  const LaneMask c = PredicateSource(warp, insn, 3);
  ForLanesInPlace<T>(Destination<T>(warp, insn.row[0]), mask,
                     [=](int lane) { return (c >> lane) & 1 ? a[lane] : b[lane]; });
}

Handler PickSelp(Type type) {
  switch (DomainOf(type)) {
    case Domain::kInteger:
    case Domain::kFloat:
      break;
    case Domain::kHalf:
    case Domain::kPredicate:
    case Domain::kNone:
      return nullptr;
  }
  if (type == Type::kU16x2 || type == Type::kS16x2 || type == Type::kF32x2) return nullptr;
  return ptx::SizeOf(type) == 2 ? Selp<uint16_t> : ptx::SizeOf(type) == 4 ? Selp<uint32_t> : Selp<uint64_t>;
}

Selection SelectSelp(Modifiers& modifiers) {
  return modifiers.type_count() == 1 ? Selection{PickSelp(modifiers.type(0))} : Selection{};
}

constexpr auto kBySign = [](auto a, auto b, int32_t c) { return c >= 0 ? a : b; };
constexpr auto kByFloat = [](auto a, auto b, float c) { return c >= 0 ? a : b; };
constexpr auto kByFlushed = [](auto a, auto b, float c) { return Flush(c) >= 0 ? a : b; };

template <auto kOp, typename C>
Handler PickSlct(Type type) {
  if (PickSelp(type) == nullptr) return nullptr;
  return ptx::SizeOf(type) == 2   ? Elementwise<kOp, uint16_t, uint16_t, uint16_t, C>
         : ptx::SizeOf(type) == 4 ? Elementwise<kOp, uint32_t, uint32_t, uint32_t, C>
                                  : Elementwise<kOp, uint64_t, uint64_t, uint64_t, C>;
}

Selection SelectSlct(Modifiers& modifiers) {
  const Type type = modifiers.type(0);
  if (modifiers.type_count() != 2) return {};
  if (modifiers.type(1) == Type::kS32) return {PickSlct<kBySign, int32_t>(type)};
  if (modifiers.type(1) != Type::kF32) return {};
  return {modifiers.Take("ftz") ? PickSlct<kByFlushed, float>(type) : PickSlct<kByFloat, float>(type)};
}

LOCKSTEP_OPCODES(compare,
                 {
                     {"setp", "dpred|dpred s0 s0 spred?", SelectSetp, InsnClass::kPredicate, {}, Meaning::kCompare},
                     {"set", "d0 s1 s1 spred?", SelectSet, InsnClass::kInteger, {}, Meaning::kCompareValue},
                     {"selp", "d0 s0 s0 spred", SelectSelp, InsnClass::kMove, {}, Meaning::kSelect},
                     {"slct", "d0 s0 s0 s1", SelectSlct, InsnClass::kMove, {}, Meaning::kSelectBySign},
                 });

}  // namespace
}  // namespace lockstep::vgpu
