#include "vgpu/analysis/bit_uses.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <variant>

#include "vgpu/analysis/analysis_work.h"

namespace lockstep::vgpu::value_use {
namespace {

constexpr BitUses kAll = {~uint64_t{0}, 0};

uint64_t Low(int bits) { return bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << std::max(bits, 0)) - 1; }

std::optional<uint64_t> Immediate(const ptx::Operand& operand) {
  const auto* value = std::get_if<ptx::IntegerImmediate>(&operand.value);
  if (value == nullptr) return std::nullopt;
  return static_cast<uint64_t>(value->value);
}

// A shift count, or the position or length of a bit field.
std::optional<int> SmallImmediate(const ptx::Operand& operand) {
  const auto value = Immediate(operand);
  if (!value) return std::nullopt;
  return static_cast<int>(std::min<uint64_t>(*value, 64));
}

bool WholeBytes(uint64_t mask) {
  for (; mask != 0; mask >>= 8) {
    if ((mask & 0xff) != 0 && (mask & 0xff) != 0xff) return false;
  }
  return true;
}

// "u32" and its like.
bool IsPlainInteger(ptx::Type type) { return type >= ptx::Type::kU8 && type <= ptx::Type::kS64; }
bool IsSigned(ptx::Type type) { return type >= ptx::Type::kS8 && type <= ptx::Type::kS64; }

class Finder {
 public:
  Finder(const FunctionOpcodes& opcodes, const Uses& uses, const std::vector<bool>& copies)
      : opcodes_(opcodes), uses_(uses), copies_(copies), bits_(static_cast<size_t>(uses.registers())) {}

  std::vector<BitUses> Find() {
    masked_ = Masked();
    FindLengths();
    do {
      changed_ = false;
      AnalysisWork::Spend(kStepsAnInstruction * opcodes_.size());
      for (size_t k = opcodes_.size(); k-- > 0;) Visit(k);
    } while (changed_);
    return std::move(bits_);
  }

 private:
  using Operands = std::vector<ptx::Operand>;

  void Add(int reg, const BitUses& more) {
    if (reg < 0) return;
    BitUses& bits = bits_[static_cast<size_t>(reg)];
    const BitUses sum = {bits.used | more.used, bits.stored | more.stored};
    changed_ |= sum != bits;
    bits = sum;
  }
  void Add(const ptx::Operand& operand, const BitUses& more) {
    if (more.any() != 0) Add(uses_.Operand(operand), more);
  }
  BitUses Of(const ptx::Operand& operand) const {
    const int reg = uses_.Operand(operand);
    return reg < 0 ? BitUses{} : bits_[static_cast<size_t>(reg)];
  }
  // Applies f to the used and to the stored bits. If the instruction does not move bits, all of them count as used.
  template <typename F>
  static BitUses Mapped(const BitUses& to, bool moves, const F& f) {
    if (!moves) return {f(to.any()), 0};
    return {f(to.used), f(to.stored)};
  }
  void UseAll(size_t k) {
    uses_.ForReads(k, [&](int reg) { Add(reg, kAll); });
  }

  // Registers written only by shifts and masks of whole bytes: an `or` with one of them joins bytes.
  std::vector<bool> Masked() const {
    std::vector<bool> masked(bits_.size(), true), written(bits_.size());
    for (size_t k = 0; k < opcodes_.size(); ++k) {
      const ptx::Instruction& i = uses_.instruction(k);
      bool parts = false;
      if (i.operands.size() == 3) {
        const auto by = Immediate(i.operands[2]);
        parts = by && ((IsShift(opcodes_[k]) && *by % 8 == 0) ||
                       (opcodes_[k].Is(Meaning::kAnd) && WholeBytes(*by & Low(8 * ptx::SizeOf(TypeOf(i, true))))));
      }
      uses_.ForWrites(k, [&](int reg) {
        written[static_cast<size_t>(reg)] = true;
        masked[static_cast<size_t>(reg)] = masked[static_cast<size_t>(reg)] && parts;
      });
    }
    for (size_t reg = 0; reg < masked.size(); ++reg) masked[reg] = masked[reg] && written[reg];
    return masked;
  }
  // For each register, how many of its low bits may differ from zero or the sign, judging by its writers.
  void FindLengths() {
    length_.resize(bits_.size());
    for (size_t k = 0; k < opcodes_.size(); ++k) {
      const int length = LengthOf(k);
      uses_.ForWrites(
          k, [&](int reg) { length_[static_cast<size_t>(reg)] = std::max(length_[static_cast<size_t>(reg)], length); });
    }
  }
  int LengthOf(size_t k) const {
    const ptx::Instruction& i = uses_.instruction(k);
    const int width = 8 * ptx::SizeOf(TypeOf(i, true));
    const auto by = i.operands.size() == 3 ? Immediate(i.operands[2]) : std::nullopt;
    if (opcodes_[k].Is(Meaning::kAnd) && by) return static_cast<int>(std::bit_width(*by & Low(width)));
    if (opcodes_[k].Is(Meaning::kShiftRight) && by) return width - static_cast<int>(std::min<uint64_t>(*by, width));
    return uses_.MayBeUnused(k) || opcodes_[k].Is(Meaning::kConvert) ? width : 64;
  }
  // The value is stored wider than it was computed: a widened number.
  bool IsWidened(int reg, int bits) const { return length_[static_cast<size_t>(reg)] < bits; }

  bool IsMasked(const ptx::Operand& operand) const {
    const int reg = uses_.Operand(operand);
    return reg >= 0 && masked_[static_cast<size_t>(reg)];
  }

  void Visit(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    if (uses_.guard(k) >= 0) Add(uses_.guard(k), kAll);
    if (copies_[k]) {
      VisitStore(k);
      return;
    }
    if (!uses_.pure(k) || Has(i, "b128")) {
      UseAll(k);
      return;
    }
    if (VisitMove(opcodes_[k], i)) return;
    bool wanted = false;
    uses_.ForWrites(k, [&](int reg) { wanted |= bits_[static_cast<size_t>(reg)].any() != 0; });
    if (wanted) UseAll(k);
  }
  void VisitStore(size_t k) {
    const ptx::Instruction& i = uses_.instruction(k);
    const int width = 8 * ptx::SizeOf(TypeOf(i, true));
    const auto store = [&](const ptx::Operand& data) {
      const int reg = uses_.Operand(data);
      if (reg >= 0) Add(reg, IsWidened(reg, width) ? BitUses{Low(width), 0} : BitUses{0, Low(width)});
    };
    const auto* vector = std::get_if<ptx::VectorRef>(&i.operands[1].value);
    if (vector == nullptr) {
      store(i.operands[1]);
    } else {
      for (const ptx::Operand& element : vector->elements) store(element);
    }
    const auto* at = std::get_if<ptx::AddressRef>(&i.operands[0].value);
    if (at == nullptr) {
      UseAll(k);
    } else if (!at->base_register.empty()) {
      Add(uses_.Register(at->base_register), kAll);
    }
  }

  // False: the use of the operands' bits is unknown.
  bool VisitMove(const Opcode& opcode, const ptx::Instruction& i) {
    const Operands& o = i.operands;
    const int width = 8 * ptx::SizeOf(TypeOf(i, true));
    switch (opcode.meaning) {
      case Meaning::kMove:
        return o.size() == 2 && VisitMov(i, width);
      case Meaning::kConvert:
        return o.size() == 2 && VisitConversion(i);
      case Meaning::kSelect:
        if (o.size() != 4) return false;
        Add(o[1], Of(o[0])), Add(o[2], Of(o[0]));
        if (Of(o[0]).any() != 0) Add(o[3], kAll);
        return true;
      case Meaning::kAnd:
      case Meaning::kOr:
        return o.size() == 3 && !Has(i, "pred") && VisitBitwise(i, width, opcode.Is(Meaning::kAnd));
      case Meaning::kShiftLeft:
      case Meaning::kShiftRight:
        return o.size() == 3 && VisitShift(i, width, opcode.Is(Meaning::kShiftLeft));
      case Meaning::kPermute:
        return o.size() == 4 && i.modifiers.size() == 1 && VisitPermutation(i);
      case Meaning::kExtract:
        return o.size() == 4 && VisitExtraction(i, width);
      case Meaning::kInsert:
        return o.size() == 5 && VisitInsertion(i, width);
      case Meaning::kAdd:
      case Meaning::kSubtract:
        return i.modifiers.size() == 1 && VisitLowArithmetic(i);
      case Meaning::kMultiply:
      case Meaning::kMultiplyAdd:
        return i.modifiers.size() == 2 && i.modifiers[0] == "lo" && VisitLowArithmetic(i);
      default:
        return false;
    }
  }

  bool VisitMov(const ptx::Instruction& i, int width) {
    const auto* from = std::get_if<ptx::VectorRef>(&i.operands[1].value);
    const auto* to = std::get_if<ptx::VectorRef>(&i.operands[0].value);
    if (from == nullptr && to == nullptr) {
      Add(i.operands[1], Of(i.operands[0]));
    } else if (from != nullptr && to == nullptr) {
      const int each = width / static_cast<int>(from->elements.size());
      const BitUses all = Of(i.operands[0]);
      for (size_t e = 0; e < from->elements.size(); ++e) {
        Add(from->elements[e], Mapped(all, true, [&](uint64_t bits) { return bits >> (each * e) & Low(each); }));
      }
    } else if (from == nullptr) {
      const int each = width / static_cast<int>(to->elements.size());
      for (size_t e = 0; e < to->elements.size(); ++e) {
        const BitUses part = Of(to->elements[e]);
        Add(i.operands[1], Mapped(part, true, [&](uint64_t bits) { return (bits & Low(each)) << (each * e); }));
      }
    } else {
      return false;
    }
    return true;
  }

  // Bits above the narrower type are zeros or the sign.
  bool VisitConversion(const ptx::Instruction& i) {
    if (i.modifiers.size() != 2) return false;
    const auto to = ptx::TypeFromName(i.modifiers[0]), from = ptx::TypeFromName(i.modifiers[1]);
    if (!to || !from || !IsPlainInteger(*to) || !IsPlainInteger(*from)) return false;
    const int bits_left = 8 * std::min(ptx::SizeOf(*to), ptx::SizeOf(*from));
    const bool sign = IsSigned(*to) || IsSigned(*from);
    Add(i.operands[1], Mapped(Of(i.operands[0]), true, [&](uint64_t bits) {
          const bool above = (bits & ~Low(bits_left)) != 0;
          return (bits & Low(bits_left)) | (sign && above ? uint64_t{1} << (bits_left - 1) : 0);
        }));
    return true;
  }

  bool VisitBitwise(const ptx::Instruction& i, int width, bool conjunction) {
    const BitUses to = Of(i.operands[0]);
    for (const size_t k : {size_t{1}, size_t{2}}) {
      const auto other = Immediate(i.operands[3 - k]);
      if (other) {
        const uint64_t keeps = (conjunction ? *other : ~*other) & Low(width);
        const bool moves = conjunction && WholeBytes(keeps);
        Add(i.operands[k], Mapped(to, moves, [&](uint64_t bits) { return bits & keeps; }));
      } else {
        const bool joins = !conjunction && (IsMasked(i.operands[1]) || IsMasked(i.operands[2]));
        Add(i.operands[k], Mapped(to, joins, [](uint64_t bits) { return bits; }));
      }
    }
    return true;
  }

  bool VisitShift(const ptx::Instruction& i, int width, bool left) {
    const auto by = SmallImmediate(i.operands[2]);
    if (!by) return false;
    const bool sign = !left && IsSigned(TypeOf(i, true));
    Add(i.operands[1], Mapped(Of(i.operands[0]), *by % 8 == 0, [&](uint64_t bits) {
          bits &= Low(width);
          if (left) return *by >= 64 ? 0 : bits >> *by;
          const uint64_t moved = *by >= 64 ? 0 : (bits << *by) & Low(width);
          return moved | (sign && (bits & ~Low(width - *by)) != 0 ? uint64_t{1} << (width - 1) : 0);
        }));
    return true;
  }

  bool VisitPermutation(const ptx::Instruction& i) {
    const auto selector = Immediate(i.operands[3]);
    if (!selector) return false;
    const BitUses to = Of(i.operands[0]);
    for (int k = 0; k < 4; ++k) {
      const int from = static_cast<int>(*selector >> (4 * k) & 0xf);
      Add(i.operands[(from & 4) != 0 ? 2 : 1], Mapped(to, true, [&](uint64_t bits) {
            const uint64_t byte = bits >> (8 * k) & 0xff;
            const bool sign = (from & 8) != 0;  // the byte's sign, eight times
            return (sign ? (byte != 0 ? uint64_t{0x80} : 0) : byte) << (8 * (from & 3));
          }));
    }
    return true;
  }

  bool VisitExtraction(const ptx::Instruction& i, int width) {
    const auto at = SmallImmediate(i.operands[2]), length = SmallImmediate(i.operands[3]);
    if (!at || !length || IsSigned(TypeOf(i, true))) return false;
    Add(i.operands[1], Mapped(Of(i.operands[0]), *at % 8 == 0 && *length % 8 == 0, [&](uint64_t bits) {
          return *at >= width ? 0 : (bits & Low(*length)) << *at & Low(width);
        }));
    return true;
  }

  bool VisitInsertion(const ptx::Instruction& i, int width) {
    const auto at = SmallImmediate(i.operands[3]), length = SmallImmediate(i.operands[4]);
    if (!at || !length || *at >= width) return false;
    const bool moves = *at % 8 == 0 && *length % 8 == 0;
    const BitUses to = Of(i.operands[0]);
    const uint64_t field = Low(*length) << *at & Low(width);
    Add(i.operands[1], Mapped(to, moves, [&](uint64_t bits) { return (bits & field) >> *at; }));
    Add(i.operands[2], Mapped(to, moves, [&](uint64_t bits) { return bits & Low(width) & ~field; }));
    return true;
  }

  // In a sum, difference or product, a bit depends only on the bits at and below it.
  bool VisitLowArithmetic(const ptx::Instruction& i) {
    const auto type = ptx::TypeFromName(i.modifiers.back());
    if (!type || !IsPlainInteger(*type)) return false;
    const uint64_t bits = Of(i.operands[0]).any() & Low(8 * ptx::SizeOf(*type));
    const uint64_t below = Low(static_cast<int>(std::bit_width(bits)));
    for (size_t k = 1; k < i.operands.size(); ++k) Add(i.operands[k], {below, 0});
    return true;
  }

  const FunctionOpcodes& opcodes_;
  const Uses& uses_;
  const std::vector<bool>& copies_;
  std::vector<BitUses> bits_;
  std::vector<bool> masked_;
  std::vector<int> length_;
  bool changed_ = false;
};

}  // namespace

std::vector<BitUses> FindBitUses(const FunctionOpcodes& opcodes, const Uses& uses, const std::vector<bool>& copies) {
  return Finder(opcodes, uses, copies).Find();
}

}  // namespace lockstep::vgpu::value_use
