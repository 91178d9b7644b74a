// Logic and shifts: and, or, xor, not, cnot, lop3, shl, shr, shf, on integers and, where defined, on predicates.
// Source: PTX ISA 9.0, 9.7.8.
#include <cstdint>
#include <type_traits>

#include "vgpu/isa/arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

constexpr auto kAnd = [](auto a, auto b) { return a & b; };
constexpr auto kOr = [](auto a, auto b) { return a | b; };
constexpr auto kXor = [](auto a, auto b) { return a ^ b; };
constexpr auto kNot = [](auto a) { return ~a; };
constexpr auto kCnot = [](auto a) { return a == 0 ? 1 : 0; };

// Shift amounts beyond the width act as the width.
constexpr auto kShl = [](auto a, uint32_t n) {
  constexpr uint32_t kBits = 8 * sizeof a;
  return n >= kBits ? decltype(a){0} : static_cast<decltype(a)>(a << (n & (kBits - 1)));
};
constexpr auto kShr = [](auto a, uint32_t n) {
  constexpr uint32_t kBits = 8 * sizeof a;
  const uint32_t amount = n >= kBits ? kBits - 1 : n;
  const auto shifted = static_cast<decltype(a)>(a >> amount);
  return std::is_unsigned_v<decltype(a)> && n >= kBits ? decltype(a){0} : shifted;
};

// The funnel shifts take 32 bits of {b, a}.
constexpr auto kFunnelLeft = [](uint32_t a, uint32_t b, uint32_t n) {
  return static_cast<uint32_t>(((uint64_t{b} << 32 | a) << n) >> 32);
};
constexpr auto kFunnelRight = [](uint32_t a, uint32_t b, uint32_t n) {
  return static_cast<uint32_t>((uint64_t{b} << 32 | a) >> n);
};
constexpr auto kClamped = [](uint32_t n) { return n < 32 ? n : 32; };
constexpr auto kWrapped = [](uint32_t n) { return n & 31; };
template <auto kShift, auto kAmount>
constexpr auto kFunnel = [](uint32_t a, uint32_t b, uint32_t n) { return kShift(a, b, kAmount(n)); };

template <auto kOp>
Handler PickUnary(Type type) {
  return type == Type::kB16   ? kUnary<kOp, uint16_t>
         : type == Type::kB32 ? kUnary<kOp, uint32_t>
         : type == Type::kB64 ? kUnary<kOp, uint64_t>
                              : nullptr;
}
template <auto kOp>
Handler PickBinary(Type type) {
  return type == Type::kB16   ? kBinary<kOp, uint16_t>
         : type == Type::kB32 ? kBinary<kOp, uint32_t>
         : type == Type::kB64 ? kBinary<kOp, uint64_t>
                              : nullptr;
}

template <auto kOp>
void PredicateBinary(Warp& warp, const Insn& insn, LaneMask mask) {
  WritePredicate(warp, insn.row[0], kOp(PredicateSource(warp, insn, 1), PredicateSource(warp, insn, 2)), mask);
}

void PredicateNot(Warp& warp, const Insn& insn, LaneMask mask) {
  WritePredicate(warp, insn.row[0], ~PredicateSource(warp, insn, 1), mask);
}

template <auto kOp>
Selection SelectLogic(Modifiers& modifiers) {
  if (modifiers.type(0) == Type::kPred) return {PredicateBinary<kOp>, InsnClass::kPredicate};
  return {PickBinary<kOp>(modifiers.type(0))};
}

Selection SelectNot(Modifiers& modifiers) {
  if (modifiers.type(0) == Type::kPred) return {PredicateNot, InsnClass::kPredicate};
  return {PickUnary<kNot>(modifiers.type(0))};
}

Selection SelectCnot(Modifiers& modifiers) { return {PickUnary<kCnot>(modifiers.type(0))}; }

template <typename T>
constexpr Handler kShiftLeft = Elementwise<kShl, T, T, uint32_t>;
template <typename T>
constexpr Handler kShiftRight = Elementwise<kShr, T, T, uint32_t>;

Selection SelectShl(Modifiers& modifiers) {
  switch (modifiers.type(0)) {
    case Type::kB16:
      return {kShiftLeft<uint16_t>};
    case Type::kB32:
      return {kShiftLeft<uint32_t>};
    case Type::kB64:
      return {kShiftLeft<uint64_t>};
    default:
      return {};
  }
}

Selection SelectShr(Modifiers& modifiers) {
  switch (modifiers.type(0)) {
    case Type::kB16:
    case Type::kU16:
      return {kShiftRight<uint16_t>};
    case Type::kS16:
      return {kShiftRight<int16_t>};
    case Type::kB32:
    case Type::kU32:
      return {kShiftRight<uint32_t>};
    case Type::kS32:
      return {kShiftRight<int32_t>};
    case Type::kB64:
    case Type::kU64:
      return {kShiftRight<uint64_t>};
    case Type::kS64:
      return {kShiftRight<int64_t>};
    default:
      return {};
  }
}

Selection SelectShf(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kB32) return {};
  const bool left = modifiers.Take("l");
  if (!left && !modifiers.Take("r")) return {};
  if (modifiers.Take("clamp")) {
    return {left ? kTernary<kFunnel<kFunnelLeft, kClamped>, uint32_t>
                 : kTernary<kFunnel<kFunnelRight, kClamped>, uint32_t>};
  }
  if (modifiers.Take("wrap")) {
    return {left ? kTernary<kFunnel<kFunnelLeft, kWrapped>, uint32_t>
                 : kTernary<kFunnel<kFunnelRight, kWrapped>, uint32_t>};
  }
  return {};
}

// Bit (4a + 2b + c) of the table is the result for bits a, b, c. The three levels below choose by c, then b, then a.
struct TruthTable {
  explicit TruthTable(uint32_t table) {
    for (int k = 0; k < 8; ++k) minterm[k] = (table >> k) & 1 ? ~0u : 0u;
  }
  uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    const auto choose = [](uint32_t bit, uint32_t zero, uint32_t one) { return zero ^ ((zero ^ one) & bit); };
    return choose(a, choose(b, choose(c, minterm[0], minterm[1]), choose(c, minterm[2], minterm[3])),
                  choose(b, choose(c, minterm[4], minterm[5]), choose(c, minterm[6], minterm[7])));
  }
  uint32_t minterm[8];
};

enum class BoolOp : uint8_t { kNone, kAnd, kOr };

// Rows: d, p, a, b, c, table, q. The table is an immediate, the same for all lanes.
template <BoolOp kBoolOp>
void Lop3(Warp& warp, const Insn& insn, LaneMask mask) {
  const auto* a = Source<uint32_t>(warp, insn.row[2]);
  const auto* b = Source<uint32_t>(warp, insn.row[3]);
  const auto* c = Source<uint32_t>(warp, insn.row[4]);
  const TruthTable table(Source<uint32_t>(warp, insn.row[5])[0]);
  const auto evaluate = [=](int lane) { return table(a[lane], b[lane], c[lane]); };
  if constexpr (kBoolOp != BoolOp::kNone) {
    LaneMask set = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) set |= LaneMask{evaluate(lane) != 0} << lane;
    const LaneMask q = PredicateSource(warp, insn, 6);
    ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, evaluate);
    WritePredicate(warp, insn.row[1], kBoolOp == BoolOp::kAnd ? set & q : set | q, mask);
  } else {
    ForLanesInPlace<uint32_t>(Destination<uint32_t>(warp, insn.row[0]), mask, evaluate);
  }
}

Selection SelectLop3(Modifiers& modifiers) {
  if (modifiers.type(0) != Type::kB32) return {};
  const std::string op = modifiers.TakeAny({"and", "or"});
  Selection selection;
  selection.handler = op.empty() ? Lop3<BoolOp::kNone> : op == "and" ? Lop3<BoolOp::kAnd> : Lop3<BoolOp::kOr>;
  selection.form = op.empty() ? "d0|dpred s0 s0 s0 su32" : "d0|dpred s0 s0 s0 su32 spred";
  return selection;
}

LOCKSTEP_OPCODES(bits, {
                           {"and", "d0 s0 s0", SelectLogic<kAnd>, InsnClass::kInteger, {}, Meaning::kAnd},
                           {"or", "d0 s0 s0", SelectLogic<kOr>, InsnClass::kInteger, {}, Meaning::kOr},
                           {"xor", "d0 s0 s0", SelectLogic<kXor>, InsnClass::kInteger, {}, Meaning::kXor},
                           {"not", "d0 s0", SelectNot, InsnClass::kInteger, {}, Meaning::kNot},
                           {"cnot", "d0 s0", SelectCnot, InsnClass::kInteger},
                           {"shl", "d0 s0 su32", SelectShl, InsnClass::kInteger, {}, Meaning::kShiftLeft},
                           {"shr", "d0 s0 su32", SelectShr, InsnClass::kInteger, {}, Meaning::kShiftRight},
                           {"shf", "d0 s0 s0 su32", SelectShf, InsnClass::kInteger},
                           {"lop3", "d0|dpred s0 s0 s0 su32 spred?", SelectLop3, InsnClass::kInteger},
                       });

}  // namespace
}  // namespace lockstep::vgpu
