// cvt: conversions between all types. Source: PTX ISA 9.0, 9.7.9.21 and 9.7.9.22 (cvt.pack).
//
// ConvertElement can do every conversion; common ones have faster handlers in isa/convert_fast.cc.
#include "vgpu/isa/convert.h"

#include <algorithm>
#include <cstring>

#include "vgpu/isa/float_arithmetic.h"

namespace lockstep::vgpu {
namespace {

using ptx::Type;
using Wide = __int128;

const FloatFormat& FormatOf(Number number) {
  switch (number) {
    case Number::kF16:
      return kHalfFormat;
    case Number::kBF16:
      return kBfloatFormat;
    case Number::kTF32:
      return kTf32Format;
    case Number::kF64:
      return kDoubleFormat;
    case Number::kE4M3:
      return kE4m3Format;
    case Number::kE5M2:
      return kE5m2Format;
    default:
      return kSingleFormat;
  }
}

Wide Lowest(Number number) { return IsSigned(number) ? -(Wide{1} << (8 * BytesOf(number) - 1)) : 0; }
Wide Highest(Number number) { return (Wide{1} << (8 * BytesOf(number) - (IsSigned(number) ? 1 : 0))) - 1; }

Wide ReadInteger(Number number, uint64_t bits) {
  const int unused = 64 - 8 * BytesOf(number);
  if (IsSigned(number)) return static_cast<int64_t>(bits << unused) >> unused;
  return static_cast<Wide>(bits << unused >> unused);
}

// The low bits, extended as the type requires.
uint64_t WriteInteger(Number number, Wide value) {
  return static_cast<uint64_t>(ReadInteger(number, static_cast<uint64_t>(value)));
}

// Rounds to an integer; magnitudes of 2^66 and more become 2^66, which is beyond every integer type.
Wide RoundToInteger(const Exact& value, Rounding rounding) {
  constexpr Wide kBeyond = Wide{1} << 66;
  if (value.significand == 0) return 0;
  Wide magnitude;
  if (value.exponent >= 0) {
    magnitude = value.exponent > 66 || (value.significand >> (66 - value.exponent)) != 0
                    ? kBeyond
                    : static_cast<Wide>(value.significand << value.exponent);
  } else {
    const int drop = -value.exponent;
    const unsigned __int128 whole = drop >= 128 ? 0 : value.significand >> drop;
    const unsigned __int128 rest = value.significand - (drop >= 128 ? 0 : whole << drop);
    // Compare with one half; if everything is shifted out, it is less.
    const unsigned __int128 half = drop > 128 ? 0 : static_cast<unsigned __int128>(1) << (drop - 1);
    const bool above_half = half != 0 && rest > half;
    const bool at_half = half != 0 && rest == half;
    bool up = false;
    switch (rounding) {
      case Rounding::kNearestEven:
        up = above_half || (at_half && (whole & 1) != 0);
        break;
      case Rounding::kNearestAway:
        up = above_half || at_half;
        break;
      case Rounding::kTowardZero:
        break;
      case Rounding::kDown:
        up = value.negative && rest != 0;
        break;
      case Rounding::kUp:
        up = !value.negative && rest != 0;
        break;
    }
    magnitude = static_cast<Wide>(std::min(whole, static_cast<unsigned __int128>(kBeyond - 1))) + (up ? 1 : 0);
  }
  return value.negative ? -magnitude : magnitude;
}

// The result for a NaN depends on the pair of types (measured on an H200): between f64 and other formats sign and
// payload are kept, bf16 is extended to f32 and f32 truncated to tf32 bit by bit, and all others give the destination's
// canonical NaN.
uint64_t ConvertNan(const Conversion& c, uint64_t bits) {
  const FloatFormat& to = FormatOf(c.to);
  const FloatFormat& from = FormatOf(c.from);
  if (c.sat) return 0;
  if (c.to == Number::kTF32) {
    const uint64_t cut = bits >> to.padding_bits << to.padding_bits;
    if (c.rounding != Rounding::kNearestAway || c.relu) return to.nan >> to.padding_bits << to.padding_bits;
    return c.satfinite ? cut - (uint64_t{1} << to.padding_bits) : cut;
  }
  if (c.relu) return to.nan;
  if (c.from == Number::kBF16 && c.to == Number::kF32) return bits << 16;
  if (c.from != Number::kF64 && c.to != Number::kF64) return to.nan;
  if (c.ftz && c.from == Number::kF32) bits = from.nan;
  const uint64_t sign = (bits >> (from.bits - 1)) & 1;
  const uint64_t fraction = (bits & ((uint64_t{1} << from.fraction_bits) - 1)) << (52 - from.fraction_bits);
  const uint64_t quiet = (fraction | uint64_t{1} << 51) >> (52 - to.fraction_bits);
  const uint64_t exponent = ((uint64_t{1} << to.exponent_bits) - 1) << to.fraction_bits;
  return (sign << (to.bits - 1)) | ((exponent | quiet) << to.padding_bits);
}

uint64_t ConvertToFloat(const Conversion& c, Exact value) {
  const FloatFormat& format = FormatOf(c.to);
  if (value.negative && (c.sat || c.relu)) value = Exact{};
  uint64_t bits = Pack(value, format, c.rounding, c.satfinite);
  if (c.sat) {
    const uint64_t one = static_cast<uint64_t>(format.bias()) << (format.fraction_bits + format.padding_bits);
    bits = std::min(bits, one);
  }
  if (c.ftz && c.to == Number::kF32 && FlushesAfterRounding(value, format, c.rounding)) {
    return uint64_t{value.negative} << (format.bits - 1);
  }
  return bits;
}

}  // namespace

uint64_t Conversion::Encode() const {
  return static_cast<uint64_t>(to) | static_cast<uint64_t>(from) << 8 | static_cast<uint64_t>(rounding) << 16 |
         uint64_t{to_integral} << 24 | uint64_t{ftz} << 25 | uint64_t{sat} << 26 | uint64_t{relu} << 27 |
         uint64_t{satfinite} << 28 | uint64_t{to_bytes} << 32 | uint64_t{from_bytes} << 40;
}

Conversion Conversion::Decode(uint64_t extra) {
  const auto byte = [=](int at) { return static_cast<uint8_t>(extra >> at); };
  const auto flag = [=](int at) { return ((extra >> at) & 1) != 0; };
  return {static_cast<Number>(byte(0)),
          static_cast<Number>(byte(8)),
          static_cast<Rounding>(byte(16)),
          flag(24),
          flag(25),
          flag(26),
          flag(27),
          flag(28),
          byte(32),
          byte(40)};
}

uint64_t ConvertElement(const Conversion& c, uint64_t bits) {
  if (IsInteger(c.from)) {
    const Wide value = ReadInteger(c.from, bits);
    if (IsInteger(c.to)) return WriteInteger(c.to, c.sat ? std::clamp(value, Lowest(c.to), Highest(c.to)) : value);
    return ConvertToFloat(c, FromInteger(static_cast<uint64_t>(value < 0 ? -value : value), value < 0));
  }
  // .ftz does not affect conversions to f16 (on an H200 the least f32 rounds up or down to the least f16).
  if (c.ftz && c.from == Number::kF32 && c.to != Number::kF16) {
    bits = std::bit_cast<uint32_t>(Flush(std::bit_cast<float>(static_cast<uint32_t>(bits))));
  }
  bits &= c.from == Number::kF64 ? ~uint64_t{0} : (uint64_t{1} << (8 * BytesOf(c.from))) - 1;
  Exact value = Unpack(bits, FormatOf(c.from));
  if (IsInteger(c.to)) {
    if (value.kind == Exact::Kind::kNan) return WriteInteger(c.to, static_cast<Wide>(NanAsInteger(c.to, c.from)));
    if (value.kind == Exact::Kind::kInfinity) return WriteInteger(c.to, value.negative ? Lowest(c.to) : Highest(c.to));
    return WriteInteger(c.to, std::clamp(RoundToInteger(value, c.rounding), Lowest(c.to), Highest(c.to)));
  }
  if (value.kind == Exact::Kind::kNan) return ConvertNan(c, bits);
  // From 2^66 on, every number is an integer.
  if (c.to_integral && value.kind == Exact::Kind::kFinite && value.exponent < 0) {
    const Wide rounded = RoundToInteger(value, c.rounding);
    value.significand = static_cast<unsigned __int128>(rounded < 0 ? -rounded : rounded);
    value.exponent = 0;
  }
  return ConvertToFloat(c, value);
}

namespace {

uint64_t ReadRow(const Warp& warp, RowRef row, int lane, int bytes) {
  uint64_t value = 0;
  std::memcpy(&value, Source<uint8_t>(warp, row) + lane * bytes, static_cast<size_t>(bytes));
  return value;
}

void WriteRow(Warp& warp, RowRef row, int lane, int bytes, uint64_t value) {
  std::memcpy(Destination<uint8_t>(warp, row) + lane * bytes, &value, static_cast<size_t>(bytes));
}

// f(lane) gives the result's bits.
template <typename F>
void WriteLanes(Warp& warp, const Insn& insn, LaneMask mask, int bytes, F f) {
  uint64_t result[kWarpSize];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane) & 1) result[lane] = f(lane);
  }
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((mask >> lane) & 1) WriteRow(warp, insn.row[0], lane, bytes, result[lane]);
  }
}

void ConvertScalar(Warp& warp, const Insn& insn, LaneMask mask) {
  const Conversion c = Conversion::Decode(insn.extra);
  WriteLanes(warp, insn, mask, c.to_bytes,
             [&](int lane) { return ConvertElement(c, ReadRow(warp, insn.row[1], lane, c.from_bytes)); });
}

// Two scalars to a pair: the first one becomes the upper half.
void ConvertToPair(Warp& warp, const Insn& insn, LaneMask mask) {
  const Conversion c = Conversion::Decode(insn.extra);
  WriteLanes(warp, insn, mask, c.to_bytes, [&](int lane) {
    const uint64_t high = ConvertElement(c, ReadRow(warp, insn.row[1], lane, c.from_bytes));
    return high << (8 * BytesOf(c.to)) | ConvertElement(c, ReadRow(warp, insn.row[2], lane, c.from_bytes));
  });
}

void ConvertPair(Warp& warp, const Insn& insn, LaneMask mask) {
  const Conversion c = Conversion::Decode(insn.extra);
  const int from_bits = 8 * BytesOf(c.from);
  WriteLanes(warp, insn, mask, c.to_bytes, [&](int lane) {
    const uint64_t pair = ReadRow(warp, insn.row[1], lane, c.from_bytes);
    const uint64_t low = ConvertElement(c, pair & ((uint64_t{1} << from_bits) - 1));
    return ConvertElement(c, pair >> from_bits) << (8 * BytesOf(c.to)) | low;
  });
}

// Rows: d, a, b and, with kRest, c, whose low bits fill the rest of d.
template <bool kRest>
void ConvertPack(Warp& warp, const Insn& insn, LaneMask mask) {
  const Conversion c = Conversion::Decode(insn.extra);
  const int bits = 8 * BytesOf(c.to);
  const uint64_t element = (uint64_t{1} << bits) - 1;
  WriteLanes(warp, insn, mask, 4, [&](int lane) {
    const uint64_t high = ConvertElement(c, ReadRow(warp, insn.row[1], lane, 4)) & element;
    const uint64_t low = ConvertElement(c, ReadRow(warp, insn.row[2], lane, 4)) & element;
    const uint64_t rest = kRest ? ReadRow(warp, insn.row[3], lane, 4) << (2 * bits) : 0;
    return rest | high << bits | low;
  });
}

struct TypeShape {
  Number number = Number::kNone;
  bool pair = false;
};

TypeShape ShapeOf(Type type) {
  switch (type) {
    case Type::kU8:
      return {Number::kU8};
    case Type::kU16:
      return {Number::kU16};
    case Type::kU32:
      return {Number::kU32};
    case Type::kU64:
      return {Number::kU64};
    case Type::kS8:
      return {Number::kS8};
    case Type::kS16:
      return {Number::kS16};
    case Type::kS32:
      return {Number::kS32};
    case Type::kS64:
      return {Number::kS64};
    case Type::kF16:
      return {Number::kF16};
    case Type::kBF16:
      return {Number::kBF16};
    case Type::kTF32:
      return {Number::kTF32};
    case Type::kF32:
      return {Number::kF32};
    case Type::kF64:
      return {Number::kF64};
    case Type::kF16x2:
      return {Number::kF16, true};
    case Type::kBF16x2:
      return {Number::kBF16, true};
    case Type::kE4M3x2:
      return {Number::kE4M3, true};
    case Type::kE5M2x2:
      return {Number::kE5M2, true};
    default:
      return {};
  }
}

bool TakeIntegralRounding(Modifiers& modifiers, Rounding* rounding) {
  struct Word {
    std::string_view name;
    Rounding rounding;
  };
  for (const Word& word : {Word{"rni", Rounding::kNearestEven}, Word{"rzi", Rounding::kTowardZero},
                           Word{"rmi", Rounding::kDown}, Word{"rpi", Rounding::kUp}}) {
    if (modifiers.Take(word.name)) {
      *rounding = word.rounding;
      return true;
    }
  }
  return false;
}

// Whether every value of `from` is one of `to`.
bool IsWidening(Number to, Number from) {
  const FloatFormat& wide = FormatOf(to);
  const FloatFormat& narrow = FormatOf(from);
  return wide.exponent_bits >= narrow.exponent_bits && wide.fraction_bits >= narrow.fraction_bits;
}

bool Is8Bit(Number number) { return number == Number::kE4M3 || number == Number::kE5M2; }

// The rounding that the pair of types requires: false if it is missing.
bool TakeConversionRounding(Modifiers& modifiers, Conversion* c) {
  if (IsInteger(c->to)) return IsInteger(c->from) || TakeIntegralRounding(modifiers, &c->rounding);
  if (IsFloat(c->from) && c->to == c->from) {
    c->to_integral = TakeIntegralRounding(modifiers, &c->rounding);
    return true;
  }
  if (c->to == Number::kTF32 && modifiers.Take("rna")) {
    c->rounding = Rounding::kNearestAway;
    return true;
  }
  const RoundingModifier rounding = TakeRounding(modifiers);
  c->rounding = rounding.rounding;
  const bool exact = IsFloat(c->from) && IsWidening(c->to, c->from);
  // The 8-bit formats require .rn even if it has no effect.
  return rounding.found ? !exact || Is8Bit(c->from) : exact;
}

uint8_t RowBytes(const Modifiers& modifiers, int operand, Type type) {
  const int declared = modifiers.operand_bytes(operand);
  const int bytes = declared != 0 ? declared : ptx::SizeOf(type);
  return static_cast<uint8_t>(bytes == 1 ? 2 : bytes);
}

// cvt.pack.sat.u16.s32, cvt.pack.sat.u8.s32.b32 and their signed versions.
Selection SelectPack(Modifiers& modifiers) {
  Conversion c;
  c.to = ShapeOf(modifiers.type(0)).number;
  c.from = Number::kS32;
  c.sat = modifiers.Take("sat");
  if (!c.sat || modifiers.type(1) != Type::kS32) return {};
  for (int k = 0; k < modifiers.operand_count(); ++k) {
    if (modifiers.operand_bytes(k) > 4) return {};
  }
  Selection selection;
  selection.extra = c.Encode();
  if (modifiers.type_count() == 2 && (c.to == Number::kU16 || c.to == Number::kS16)) {
    selection.handler = ConvertPack<false>;
    selection.form = "db32 s1 s1";
  } else if (modifiers.type_count() == 3 && modifiers.type(2) == Type::kB32 &&
             (c.to == Number::kU8 || c.to == Number::kS8)) {
    selection.handler = ConvertPack<true>;
    selection.form = "db32 s1 s1 s2";
  }
  return selection;
}

Selection SelectCvt(Modifiers& modifiers) {
  if (modifiers.Take("pack")) return SelectPack(modifiers);
  if (modifiers.type_count() != 2) return {};
  const TypeShape to = ShapeOf(modifiers.type(0));
  const TypeShape from = ShapeOf(modifiers.type(1));
  if (to.number == Number::kNone || from.number == Number::kNone || from.number == Number::kTF32) return {};
  Conversion c;
  c.to = to.number;
  c.from = from.number;
  if (!TakeConversionRounding(modifiers, &c)) return {};
  if (c.from == Number::kF32 || c.to == Number::kF32) c.ftz = modifiers.Take("ftz");
  const bool narrow = c.to == Number::kF16 || c.to == Number::kBF16 || c.to == Number::kTF32 || Is8Bit(c.to);
  if (narrow && IsFloat(c.from)) {
    c.relu = modifiers.Take("relu");
    c.satfinite = modifiers.Take("satfinite");
    if (Is8Bit(c.to) && !c.satfinite) return {};
  }
  if (!to.pair && !c.relu) c.sat = modifiers.Take("sat");
  c.to_bytes = RowBytes(modifiers, 0, modifiers.type(0));
  c.from_bytes = RowBytes(modifiers, 1, modifiers.type(1));

  Selection selection;
  selection.extra = c.Encode();
  if (to.pair && from.pair) {
    selection.handler = ConvertPair;
    selection.form = "d0 s1";
  } else if (to.pair && c.from == Number::kF32 && c.from_bytes == RowBytes(modifiers, 2, modifiers.type(1))) {
    selection.handler = ConvertToPair;
    selection.form = "d0 s1 s1";
  } else if (!to.pair && !from.pair) {
    const Handler fast = FindFastConversion(c);
    selection.handler = fast != nullptr ? fast : ConvertScalar;
    selection.form = "d0 s1";
  }
  return selection;
}

LOCKSTEP_OPCODES(convert,
                 {
                     {"cvt", "d0 s1 s1? s2?", SelectCvt, InsnClass::kConvert, kWiderRegisters, Meaning::kConvert},
                 });

}  // namespace
}  // namespace lockstep::vgpu
