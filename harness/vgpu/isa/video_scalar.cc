// Scalar video instructions: an operation on 32-bit registers or on a byte or half of them, then clamping, then a
// second operation with c, or the result put in place of a byte or half of c.
//
// Each operand is a register, or a part of it (%r1.b2, %r1.h0), extended by the sign of its type. Results are exact up
// to the clamping. Source: PTX ISA 9.0, 9.7.16. Compilers emulate these instructions for today's devices, and some
// forms give other results there than the PTX ISA says; these forms are refused (DiffersFromHardware).
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>

#include "vgpu/isa/arithmetic.h"
#include "vgpu/isa/video.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;

enum class ScalarOp : uint8_t { kAdd, kSubtract, kDifference, kMinimum, kMaximum, kCompare, kShiftLeft, kShiftRight };
enum class SecondOp : uint8_t { kNone, kAdd };

// A register's part: 32 bits at 0, or 8 or 16 bits.
struct Piece {
  uint8_t at = 0, bits = 32;

  bool whole() const { return bits == 32; }
  uint32_t Mask() const { return whole() ? ~0u : ((1u << bits) - 1) << at; }
  int64_t Of(uint32_t word, bool is_signed) const {
    const uint32_t top = word << (32 - at - bits);
    return is_signed ? static_cast<int32_t>(top) >> (32 - bits) : static_cast<int64_t>(top >> (32 - bits));
  }
  // 0-3: byte, 4-5: half, 6: whole
  uint64_t Pack() const { return whole() ? 6 : bits == 8 ? at / 8u : 4u + at / 16u; }
  static Piece Unpack(uint64_t k) {
    if (k >= 6) return {};
    if (k >= 4) return {static_cast<uint8_t>(16 * (k - 4)), 16};
    return {static_cast<uint8_t>(8 * k), 8};
  }
};

std::optional<Piece> PieceOf(const std::string& part) {
  if (part.empty()) return Piece{};
  if (part.size() != 2) return std::nullopt;
  const int index = part[1] - '0';
  if (part[0] == 'b' && index >= 0 && index < 4) return Piece{static_cast<uint8_t>(8 * index), 8};
  if (part[0] == 'h' && index >= 0 && index < 2) return Piece{static_cast<uint8_t>(16 * index), 16};
  return std::nullopt;
}

// Insn::extra.
struct ScalarForm {
  ScalarOp op = ScalarOp::kAdd;
  SecondOp second = SecondOp::kNone;
  VideoComparison comparison = {};
  bool a_signed = false, b_signed = false, d_signed = false;
  bool saturates = false, wraps = false;
  Piece a, b, d;

  uint64_t Pack() const {
    return static_cast<uint64_t>(op) | static_cast<uint64_t>(second) << 4 | static_cast<uint64_t>(comparison) << 8 |
           uint64_t{a_signed} << 12 | uint64_t{b_signed} << 13 | uint64_t{d_signed} << 14 | uint64_t{saturates} << 15 |
           uint64_t{wraps} << 16 | a.Pack() << 20 | b.Pack() << 24 | d.Pack() << 28;
  }
  static ScalarForm Unpack(uint64_t extra) {
    const auto flag = [extra](int k) { return (extra >> k & 1) != 0; };
    const auto field = [extra](int k) { return extra >> k & 0xf; };
    ScalarForm form;
    form.op = static_cast<ScalarOp>(field(0));
    form.second = static_cast<SecondOp>(field(4));
    form.comparison = static_cast<VideoComparison>(field(8));
    form.a_signed = flag(12);
    form.b_signed = flag(13);
    form.d_signed = flag(14);
    form.saturates = flag(15);
    form.wraps = flag(16);
    form.a = Piece::Unpack(field(20));
    form.b = Piece::Unpack(field(24));
    form.d = Piece::Unpack(field(28));
    return form;
  }
};

int64_t Combine(const ScalarForm& form, int64_t a, int64_t b) {
  constexpr int64_t kMostShift = 32;
  const int64_t shift = form.wraps ? b & 31 : std::min(b, kMostShift);
  switch (form.op) {
    case ScalarOp::kAdd:
      return a + b;
    case ScalarOp::kSubtract:
      return a - b;
    case ScalarOp::kDifference:
      return std::abs(a - b);
    case ScalarOp::kMinimum:
      return std::min(a, b);
    case ScalarOp::kMaximum:
      return std::max(a, b);
    case ScalarOp::kCompare:
      return Holds(form.comparison, a, b) ? 1 : 0;
    case ScalarOp::kShiftLeft:
      return static_cast<int64_t>(static_cast<uint64_t>(a) << shift);
    case ScalarOp::kShiftRight:
      return a >> shift;
  }
  return 0;
}

uint32_t Compute(const ScalarForm& form, uint32_t a, uint32_t b, uint32_t c) {
  int64_t value = Combine(form, form.a.Of(a, form.a_signed), form.b.Of(b, form.b_signed));
  if (form.saturates) {
    const int64_t span = int64_t{1} << (form.d_signed ? form.d.bits - 1 : form.d.bits);
    value = std::clamp(value, form.d_signed ? -span : 0, span - 1);
  }
  if (form.second == SecondOp::kAdd) return static_cast<uint32_t>(value) + c;
  const uint32_t mask = form.d.Mask();
  return (static_cast<uint32_t>(value) << form.d.at & mask) | (c & ~mask);
}

void Scalar(Warp& warp, const Insn& insn, LaneMask mask) {
  const ScalarForm form = ScalarForm::Unpack(insn.extra);
  const uint32_t *a = Source<uint32_t>(warp, insn.row[1]), *b = Source<uint32_t>(warp, insn.row[2]);
  const uint32_t* c = insn.row[3] == kNoRow ? a : Source<uint32_t>(warp, insn.row[3]);
  ForLanes<uint32_t>(warp, insn.row[0], mask, [&](int lane) { return Compute(form, a[lane], b[lane], c[lane]); });
}

// Whether an H100 gives other results for some operands (isa_video_test), as it also does for .min and .max with c.
bool DiffersFromHardware(const ScalarForm& form) {
  if (form.d.bits == 16 && form.d.at == 16) return true;
  if (!form.saturates) return false;
  const bool sums = form.op == ScalarOp::kAdd || form.op == ScalarOp::kSubtract || form.op == ScalarOp::kDifference;
  return !form.d.whole() || form.op == ScalarOp::kShiftLeft ||
         (sums && !form.d_signed && form.a_signed != form.b_signed);
}

template <ScalarOp kOp>
Selection SelectScalar(Modifiers& modifiers) {
  constexpr bool kCompares = kOp == ScalarOp::kCompare;
  constexpr bool kShifts = kOp == ScalarOp::kShiftLeft || kOp == ScalarOp::kShiftRight;
  ScalarForm form;
  form.op = kOp;
  if (!TakeSigns(modifiers, kCompares, &form)) return {};
  if (kShifts && form.b_signed) return {};
  if (kCompares && !TakeComparison(modifiers, &form.comparison)) return {};
  if (kShifts) {
    form.wraps = modifiers.Take("wrap");
    if (!form.wraps && !modifiers.Take("clamp")) return {};
  }
  form.saturates = !kCompares && modifiers.Take("sat");
  form.second = modifiers.Take("add") ? SecondOp::kAdd : SecondOp::kNone;
  const auto d = PieceOf(modifiers.TakePart(0)), a = PieceOf(modifiers.TakePart(1)), b = PieceOf(modifiers.TakePart(2));
  if (!d || !a || !b) return {};
  form.d = *d;
  form.a = *a;
  form.b = *b;
  const bool merges = !form.d.whole();
  if ((merges && form.second != SecondOp::kNone) || DiffersFromHardware(form)) return {};
  const bool takes_c = merges || form.second != SecondOp::kNone;
  // The decoder checks operand counts too; a row without a required operand is refused there.
  if (modifiers.operand_count() != (takes_c ? 4 : 3)) return {};
  Selection selection{Scalar};
  if (kCompares) {
    selection.form = takes_c ? "du32 s0 s1 su32" : "du32 s0 s1 su32?";
  } else {
    selection.form = takes_c ? "d0 s1 s2 su32" : "d0 s1 s2 su32?";
  }
  selection.extra = form.Pack();
  return selection;
}

// vmad: the product, negated or not, plus c or minus c, shifted right and clamped. 64 bits and a sign are too few for
// the largest operands.
struct ProductForm {
  bool a_signed = false, b_signed = false, is_signed = false;
  bool saturates = false, plus_one = false, negates_product = false, negates_c = false;
  uint8_t shift = 0;
  Piece a, b;

  uint64_t Pack() const {
    return uint64_t{a_signed} | uint64_t{b_signed} << 1 | uint64_t{is_signed} << 2 | uint64_t{saturates} << 3 |
           uint64_t{plus_one} << 4 | uint64_t{negates_product} << 5 | uint64_t{negates_c} << 6 | uint64_t{shift} << 8 |
           a.Pack() << 16 | b.Pack() << 20;
  }
  static ProductForm Unpack(uint64_t extra) {
    const auto flag = [extra](int k) { return (extra >> k & 1) != 0; };
    return {flag(0),
            flag(1),
            flag(2),
            flag(3),
            flag(4),
            flag(5),
            flag(6),
            static_cast<uint8_t>(extra >> 8),
            Piece::Unpack(extra >> 16 & 0xf),
            Piece::Unpack(extra >> 20 & 0xf)};
  }
};

uint32_t Compute(const ProductForm& form, uint32_t a, uint32_t b, uint32_t c) {
  using Wide = __int128;
  Wide value = static_cast<Wide>(form.a.Of(a, form.a_signed)) * form.b.Of(b, form.b_signed);
  if (form.negates_product) value = -value;
  const Wide other = form.is_signed ? static_cast<int32_t>(c) : static_cast<int64_t>(c);
  value += form.negates_c ? -other : other;
  if (form.plus_one) value += 1;
  value >>= form.shift;
  if (form.saturates) {
    const Wide span = static_cast<Wide>(1) << (form.is_signed ? 31 : 32);
    value = std::clamp<Wide>(value, form.is_signed ? -span : 0, span - 1);
  }
  return static_cast<uint32_t>(value);
}

void Product(Warp& warp, const Insn& insn, LaneMask mask) {
  const ProductForm form = ProductForm::Unpack(insn.extra);
  const uint32_t *a = Source<uint32_t>(warp, insn.row[1]), *b = Source<uint32_t>(warp, insn.row[2]),
                 *c = Source<uint32_t>(warp, insn.row[3]);
  ForLanes<uint32_t>(warp, insn.row[0], mask, [&](int lane) { return Compute(form, a[lane], b[lane], c[lane]); });
}

bool TakeMinus(std::string* part) {
  const bool minus = part->starts_with('-');
  if (minus) part->erase(0, 1);
  return minus;
}

Selection SelectProduct(Modifiers& modifiers) {
  if (modifiers.type_count() != 3) return {};
  for (int k = 0; k < 3; ++k) {
    if (modifiers.type(k) != Type::kU32 && modifiers.type(k) != Type::kS32) return {};
  }
  ProductForm form;
  form.a_signed = modifiers.type(1) == Type::kS32;
  form.b_signed = modifiers.type(2) == Type::kS32;
  form.plus_one = modifiers.Take("po");
  form.saturates = modifiers.Take("sat");
  form.shift = modifiers.Take("shr7") ? 7 : modifiers.Take("shr15") ? 15 : 0;
  std::string a = modifiers.TakePart(1), b = modifiers.TakePart(2), c = modifiers.TakePart(3);
  const bool a_minus = TakeMinus(&a), b_minus = TakeMinus(&b);
  form.negates_product = a_minus != b_minus;
  form.negates_c = TakeMinus(&c);
  form.is_signed = form.a_signed || form.b_signed || form.negates_product || form.negates_c;
  const auto a_piece = PieceOf(a), b_piece = PieceOf(b);
  if (!a_piece || !b_piece || !c.empty()) return {};
  if (form.negates_c && (a_minus || b_minus)) return {};
  if (form.plus_one && (a_minus || b_minus || form.negates_c)) return {};
  // An H100 keeps too few bits of a product of unsigned numbers for these (isa_video_test).
  if ((form.saturates || form.shift != 0) && !(form.a_signed && form.b_signed)) return {};
  form.a = *a_piece;
  form.b = *b_piece;
  Selection selection{Product};
  selection.extra = form.Pack();
  return selection;
}

constexpr std::string_view kForm = "d0 s1 s2 su32?";

LOCKSTEP_OPCODES(video_scalar, {
                                   {"vadd", kForm, SelectScalar<ScalarOp::kAdd>, InsnClass::kInteger},
                                   {"vsub", kForm, SelectScalar<ScalarOp::kSubtract>, InsnClass::kInteger},
                                   {"vabsdiff", kForm, SelectScalar<ScalarOp::kDifference>, InsnClass::kInteger},
                                   {"vmin", kForm, SelectScalar<ScalarOp::kMinimum>, InsnClass::kInteger},
                                   {"vmax", kForm, SelectScalar<ScalarOp::kMaximum>, InsnClass::kInteger},
                                   {"vset", "du32 s0 s1 su32?", SelectScalar<ScalarOp::kCompare>, InsnClass::kInteger},
                                   {"vshl", kForm, SelectScalar<ScalarOp::kShiftLeft>, InsnClass::kInteger},
                                   {"vshr", kForm, SelectScalar<ScalarOp::kShiftRight>, InsnClass::kInteger},
                                   {"vmad", "d0 s1 s2 su32", SelectProduct, InsnClass::kIntegerMultiply},
                               });

}  // namespace
}  // namespace lockstep::vgpu
